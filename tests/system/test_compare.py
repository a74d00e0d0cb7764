"""`nmt compare` and `nmt runs` on commits of the small world, whose params differ."""

import json

import pytest

from tests.world.project import World


def nmt(world: World, *arguments: str) -> str:
    """Run the `nmt` command of the world's own library."""
    code = "import sys; from nmt.cli import main; main()"
    return world.run("python", "-c", code, *arguments, PYTHONPATH=str(world.root / "src"))


def test_two_commits_and_an_experiment(world: World) -> None:
    """Beam and attention's width are changed; nothing else differs, and the tests are made."""
    world.set("decoding.beam", 1)
    world.set("models.additive.hidden", 20)
    world.dvc("repro")
    world.commit("Widen")
    before = world.files("data", "models", "translations", "reports")
    out = world.base / "found.json"
    nmt(world, "compare", "HEAD~1", "HEAD", "--format", "json", "--out", str(out))
    found = json.loads(out.read_text(encoding="utf-8"))

    assert [(d["name"], d["a"], d["b"]) for d in found["differences"]["params"]] == [
        ("models.additive.hidden", "16", "20"),
        ("decoding.beam", "2", "1"),
    ]
    assert found["differences"]["code"]["files"] == [] and found["differences"]["data"] == []
    assert found["differences"]["environment"] == []
    assert found["complete"] and {cell["test"] for cell in found["scores"]} == {
        "test_one", "test_two",
    }  # fmt: skip
    seeds = {"baseline": [1, 2], "additive": [1, 2], "additive (ensemble of 2)": [[1, 2]]}
    assert {cell["model"] for cell in found["scores"]} == set(seeds)
    for cell in found["scores"]:
        assert [pair[0][1] for pair in cell["items"]] == seeds[cell["model"]]
        assert cell["tested"]["delta"] == pytest.approx(cell["metrics"][0]["delta"], abs=1e-3)

    nmt(world, "compare", "HEAD~1", "HEAD", "--format", "html", "--out", str(out))
    assert '<svg class="heat"' in out.read_text(encoding="utf-8")

    nmt(world, "runs", "--format", "json", "--out", str(out))
    rows = json.loads(out.read_text(encoding="utf-8"))["rows"]
    additive = [row for row in rows if row["stage"] == "train@additive-1"]
    assert [row["params"]["models.additive.hidden"] for row in additive] == ["16", "20"]
    assert all("test_one.bleu" in row["metrics"] and row["revisions"] for row in additive)
    one, other = (row["run"] for row in additive)
    assert "params: 2 differ" in nmt(world, "compare", one, other)
    ensemble = [row for row in rows if row["stage"] == "evaluate_ensemble@additive"]
    assert [(row["seed"], row["params"]["grid.seeds"]) for row in ensemble] == [
        ("ensemble", "[1, 2]"),
    ] * 2
    assert all("test_one.bleu" in row["metrics"] and row["revisions"] for row in ensemble)
    text = nmt(world, "compare", *(row["run"] for row in ensemble))
    assert "additive (ensemble of 2) on test_one" in text and "can't tell: " not in text
    baseline = [row for row in rows if row["stage"] == "train@baseline-1"]
    assert len({row["run"] for row in baseline}) == 1, "trained once, translated twice"
    assert [row["params"]["decoding.beam"] for row in baseline] == ["1", "2"]
    assert world.files("data", "models", "translations", "reports") == before
