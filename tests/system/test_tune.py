"""`nmt tune` on the finished small world: ways to search, compared on the validation set."""

import json
from statistics import mean

import pytest

from tests.world.project import World

COMMAND = ("python", "-m", "nmt.cli", "tune")


def tune(world: World, *arguments: str) -> list[list[str]]:
    """Run it, which must end well and leave the project as it was; return the table's cells."""
    before = world.files("data", "models", "translations", "reports")
    world.run(*COMMAND, *arguments, "--out", "tuned.md", PYTHONPATH="src")
    table = (world.root / "tuned.md").read_text(encoding="utf-8")
    (world.root / "tuned.md").unlink()
    assert world.files("data", "models", "translations", "reports") == before
    return [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n")[2:-1]
    ]


def test_greedy_search_scores_what_training_saw_of_the_kept_epochs(world: World) -> None:
    seen = []
    for seed in (1, 2):
        folder = world.root / "models/additive" / str(seed)
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        history = (folder / "history.jsonl").read_text(encoding="utf-8").splitlines()
        seen.append(json.loads(history[config["best_epoch"] - 1])["validation_bleu"])
    [row] = tune(world, "additive", "--beam", "1")
    assert row[:3] == ["1", "1", "kept"] and row[-1] == "best"
    assert float(row[4].split(" ± ")[0]) == pytest.approx(mean(seen), abs=0.0051)


def test_every_way_is_a_row_and_the_best_is_marked(world: World) -> None:
    ways = ("--beam", "1", "--beam", "2", "--length-penalty", "0.5", "--length-penalty", "1")
    rows = tune(world, "additive", *ways, "--replace-unknown", "--ensemble")
    assert [row[:3] for row in rows] == [
        [beam, penalty, unknown]
        for beam in ("1", "2")
        for penalty in ("0.5", "1")
        for unknown in ("kept", "replaced")
    ]
    marked = [row for row in rows if row[-1] == "best"]
    assert len(marked) == 1 and marked[0][3] == max((row[3] for row in rows), key=float)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("no_such", "no_such is not in grid.models"),
        ("baseline", "run `dvc repro train@baseline-1`"),
    ],
)
def test_what_is_not_trained_is_refused(world: World, model: str, said: str) -> None:
    world.run("rm", "-r", "models/baseline/1")
    done = world.try_run(*COMMAND, model, PYTHONPATH="src")
    assert done.returncode == 1 and said in done.stdout and "Traceback" not in done.stdout


def test_a_way_that_is_none_is_told_before_the_work(world: World) -> None:
    ways = ("--length-penalty", "1", "--length-penalty", "inf")
    done = world.try_run(*COMMAND, "additive", *ways, PYTHONPATH="src")
    assert done.returncode == 1 and "decoding.length_penalty: got inf" in done.stdout
    assert "BLEU" not in done.stdout and "Traceback" not in done.stdout
