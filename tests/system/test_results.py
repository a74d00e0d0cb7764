"""`nmt results add` on the finished small world: what it takes in, and what it refuses."""

import csv
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.world.project import ROOT, World

RESULTS = ("docs/results.csv", "docs/results_significance.csv", "docs/results.md")
FILE = "params/best.yaml"


@pytest.fixture
def ready(world: World) -> World:
    """Return the finished world with a page of results, and its params as a second file too."""
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    (world.root / "docs").mkdir()
    (world.root / RESULTS[2]).write_text(page, encoding="utf-8")
    (world.root / "params").mkdir()
    shutil.copy(world.root / "params.yaml", world.root / FILE)
    world.commit("Begin a page of results")
    return world


def add(world: World, *arguments: str) -> str:
    """Run `nmt results add`, which must end well."""
    return world.run("python", "-m", "nmt.cli", "results", "add", *arguments, PYTHONPATH="src")


def refused(world: World, file: str = "params.yaml") -> str:
    """Run it where it must refuse and write nothing; return what it says."""
    words = ("python", "-m", "nmt.cli", "results", "add", "--params-file", file)
    done = world.try_run(*words, PYTHONPATH="src")
    assert done.returncode == 1 and "Traceback" not in done.stdout, done.stdout
    assert not (world.root / RESULTS[0]).exists() and not (world.root / RESULTS[1]).exists()
    return done.stdout


def rows(world: World) -> list[dict[str, str]]:
    text = (world.root / RESULTS[0]).read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def test_a_finished_run_is_added_and_added_again(ready: World) -> None:
    said = add(ready, "--params-file", FILE, "--note", "as  it was")
    assert "40 scores of params/best.yaml are in docs/results.csv" in said
    found = rows(ready)
    scores = list(csv.DictReader(io.StringIO((ready.root / "reports/bleu.csv").read_text())))
    columns = list(scores[0])
    assert list(found[0])[: len(columns)] == columns
    assert sorted(tuple(row[c] for c in columns) for row in found) == sorted(
        tuple(row.values()) for row in scores
    )
    commit = ready.run("git", "rev-parse", "HEAD").strip()
    config = json.loads((ready.root / "models/additive/1/config.json").read_text())
    history = (ready.root / "models/additive/1/history.jsonl").read_text().splitlines()
    kept = json.loads(history[config["best_epoch"] - 1])
    one = next(row for row in found if (row["model"], row["seed"]) == ("additive", "1"))
    assert (one["params_file"], one["commit"], one["note"]) == (FILE, commit, "as it was")
    assert int(one["parameters"]) == config["parameters"] and one["epochs"] == "4"
    assert float(one["validation_bleu"]) == pytest.approx(kept["validation_bleu"], abs=1e-4)
    assert float(one["minutes"]) >= 0 and one["device"].startswith("cpu: ")
    page = (ready.root / RESULTS[2]).read_text(encoding="utf-8")
    section = page[page.index(f"### {FILE}") :]
    assert f"Repeat: `make repro PARAMS={FILE}`" in section and "- notes: as it was" in section
    assert "| additive | 2 |" in section and "| additive | baseline |" in section

    before = ready.files("docs")
    add(ready, "--params-file", FILE, "--note", "as it was")
    assert ready.files("docs") == before
    add(ready, "--params-file", "params.yaml")
    assert len(rows(ready)) == 80 and rows(ready)[40:] == found


def test_no_record_leaves_the_minutes_empty_and_a_change_is_marked(ready: World) -> None:
    (ready.root / "mlflow.db").unlink()
    path = ready.root / FILE
    path.write_text(path.read_text(encoding="utf-8") + "# A remark.\n", encoding="utf-8")
    add(ready, "--params-file", FILE)
    assert {(row["minutes"], row["device"]) for row in rows(ready)} == {("", "")}
    assert all(row["commit"].endswith("-dirty") for row in rows(ready))


def append(world: World, file: str, text: str) -> None:
    path = world.root / file
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


HARMS: dict[str, tuple[Callable[[World], None], str]] = {
    "a changed param": (
        lambda world: world.set("decoding.beam", 1),
        "translate@baseline-1: params.yaml: decoding.beam is 1; it was run with 2",
    ),
    "changed code": (
        lambda world: append(world, "src/nmt/model/attention.py", "# A remark.\n"),
        "train@baseline-1: src/nmt/model: changed since it was run",
    ),
    "a changed table": (
        lambda world: append(world, "reports/bleu.csv", "x,1,test_one,bleu,99,y,1\n"),
        "report: reports/bleu.csv: not what dvc.lock names",
    ),
    "a seed more": (
        lambda world: world.set("grid.seeds", [1, 2, 3]),
        "train@baseline-3: dvc.lock has no entry of it: it was never run",
    ),
    "a model that is not here": (
        lambda world: shutil.rmtree(world.root / "models/additive/2"),
        "train@additive-2: models/additive/2: not checked out; `dvc checkout",
    ),
}


@pytest.mark.parametrize("name", HARMS)
def test_a_run_that_is_stale_or_not_whole_is_refused(ready: World, name: str) -> None:
    harm, message = HARMS[name]
    harm(ready)
    said = refused(ready)
    assert "error: the run here is not whole or not up to date: " in said
    assert message in said and said.endswith("run `make repro` first\n"), said


def test_a_run_of_other_params_is_refused(ready: World, tmp_path: Path) -> None:
    path = ready.root / FILE
    path.write_text(path.read_text(encoding="utf-8").replace("beam: 2", "beam: 3"))
    assert (
        f"error: {FILE}: decoding.beam is 3, and 2 in params.yaml, which the run here is of; "
        f"run `make repro PARAMS={FILE}` first"
    ) in refused(ready, FILE)
    shutil.copy(path, tmp_path / "other.yaml")
    assert "lies outside the project" in refused(ready, str(tmp_path / "other.yaml"))
