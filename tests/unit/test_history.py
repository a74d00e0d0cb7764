"""`nmt runs`: a history of fifty runs, and stores and revisions that can't be read."""

import csv
import io
import json
import os
import shutil
import sqlite3
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nmt import cli
from nmt.compare import Wanted, compare
from nmt.compare.sides import CompareError
from nmt.compare.significance import Draws
from nmt.history import Choice, History, HistoryError, history
from nmt.history.locks import LockError, read_lock
from nmt.history.rows import Row
from nmt.history.runs import read_runs
from nmt.history.show import as_csv, as_json, as_text
from nmt.provenance import names
from tests.unit.made_history import TEST, Made
from tests.unit.made_runs import MadeRun, write_runs

VALIDATION = "best.validation_bleu"


def training(made: Made, model: str, seed: int, bleu: float, **more: str) -> MadeRun:
    """Return the run that made what lies in models/ now."""
    path = f"models/{model}/{seed}"
    params = {
        f"models.{model}.hidden": str(made.params["models"][model]["hidden"]),
        "training.epochs": "2",
    }
    outs = {path: made.entry(path)["md5"]}
    return MadeRun(f"train@{model}-{seed}", "FINISHED", params, {VALIDATION: bleu}, more, outs)


@pytest.fixture(scope="session")
def fifty(tmp_path_factory: pytest.TempPathFactory, database: Path) -> Made:
    """Return a project with nine commits, an experiment and fifty runs."""
    made = Made.make(tmp_path_factory.mktemp("fifty") / "project")
    shutil.copy(database, made.root)
    runs = []
    for number, hidden in enumerate(range(16, 160, 16)):  # nine times, five runs each
        made.params["models"]["wide"]["hidden"] = hidden
        made.noise["wide"] = 0.5 - number / 40
        made.results()
        made.commit(f"Width {hidden}")
        runs += [training(made, "wide", seed, 20.0 + number + seed / 10) for seed in (1, 2, 3)]
        if number == 0:
            runs += [training(made, "base", 1, 10.0), training(made, "base", 2, 11.0)]
        else:
            runs += [MadeRun(f"train@base-{seed}", "FAILED", outs={}) for seed in (1, 2)]
    made.git("update-ref", f"refs/exps/{'a' * 2}/{'b' * 38}/narrow", "main~8")
    again = training(made, "wide", 1, 28.1)
    runs.append(again)  # the same bytes as before
    runs.append(MadeRun("train@wide-9", "KILLED", tags={names.ENDED_BY: "SIGTERM"}))
    gone = {"models/wide/9": "9" * 32}
    lucky = {VALIDATION: 99.0}
    runs.append(MadeRun("train@wide-9", "FAILED", metrics=lucky, tags={names.DIVERGED: "true"}))
    runs.append(MadeRun("train@wide-9", metrics=lucky, tags={names.DIVERGED: "true"}, outs=gone))
    runs.append(MadeRun("plot", tags={names.DIRTY: "true"}, outs={"reports/attention": "8" * 32}))
    assert len(runs) == 50
    write_runs(made.root, runs)
    write_runs(made.root, [MadeRun(id="f" * 32)], experiment="another")
    return made


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


@pytest.fixture(scope="session")
def all_of_it(fifty: Made) -> History:
    return history(fifty.root, Choice())


def one(found: History, stage: str, **marks: str) -> Row:
    (row,) = (row for row in found.rows if row.stage == stage and marks["mark"] in row.marks)
    return row


def test_fifty_runs_take_less_than_five_seconds(fifty: Made) -> None:
    began = time.monotonic()
    found = history(fifty.root, Choice())
    assert time.monotonic() - began < 5
    assert len([row for row in found.rows if row.run]) == 50
    assert found.revisions == (8, 1)  # the ninth commit is shown by its name as an experiment


def test_runs_and_revisions_are_joined_on_hashes(all_of_it: History, fifty: Made) -> None:
    first = all_of_it.rows[0]
    assert first.stage == "train@wide-1" and first.params["models.wide.hidden"] == "16"
    assert first.revisions == ("narrow",)
    assert first.params["decoding.beam"] == "2", "translation's params come from dvc.lock"
    scores = json.loads(fifty.git("show", "main~8:reports/scores/wide-1.json"))
    assert first.metrics[f"{TEST}.bleu"] == scores["tests"][TEST]["bleu"]
    base = next(row for row in all_of_it.rows if row.stage == "train@base-1" and row.result)
    assert len(base.revisions) == 10, "in every revision, and in the workspace"


def test_results_without_a_run_are_shown(all_of_it: History) -> None:
    last = all_of_it.rows[-1]
    assert (last.stage, last.status, last.marks) == ("train@base-3", "no run", ("no run",))
    assert f"{TEST}.bleu" in last.metrics


@pytest.mark.parametrize(
    ("stage", "mark"),
    [
        ("train@wide-9", "interrupted (SIGTERM)"),
        ("train@wide-9", "failed"),
        ("train@wide-9", "in no revision"),
        ("plot", "dirty"),
    ],
)
def test_marks(all_of_it: History, stage: str, mark: str) -> None:
    assert one(all_of_it, stage, mark=mark)


def test_duplicates_name_the_first(all_of_it: History) -> None:
    rows = [row for row in all_of_it.rows if row.stage == "train@wide-1" and row.run]
    first = next(row for row in rows if row.params.get("models.wide.hidden") == "144")
    assert rows[-1].marks == (f"duplicate of {first.run[:8]}",)


def test_a_run_whose_process_is_gone(tmp_path: Path, database: Path) -> None:
    made = small(tmp_path, database)
    process = {"process.host": os.uname().nodename, "process.pid": "999999999"}
    write_runs(made.root, [MadeRun(status="RUNNING", tags={**process, "process.started": "1"})])
    assert one(history(made.root, Choice()), "train@wide-1", mark="died")


def test_the_best_is_of_finished_runs_alone(all_of_it: History) -> None:
    best = all_of_it.best
    assert best is not None
    assert (best.model, best.seeds, best.settings) == ("wide", ("1", "2", "3"), 10)
    assert best.chosen.mean == pytest.approx(28.2) and best.chosen.deviation == pytest.approx(0.1)
    assert (best.chosen.least, best.chosen.most) == (28.1, 28.3)
    assert set(best.tests) == {f"{TEST}.bleu", f"{TEST}.chrf"}
    assert "wide, seeds 1, 2, 3: 28.20 ± 0.10 (28.10 to 28.30) (runs" in as_text(all_of_it)


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        (["models.wide.hidden=144"], 4),  # three seeds, and the first once again
        (["models.wide.hidden=144", "status=FINISHED"], 4),
        (["stage=train@wide-2", "best.validation_bleu>=27"], 2),
        (["status!=FINISHED"], 19),
        (["marks=failed"], 17),
        (["marks~duplicate"], 1),
        (["revisions=narrow", "model=wide"], 3),
        (["seed > 8"], 3),
        (["model=none"], 0),
    ],
)
def test_conditions(fifty: Made, where: list[str], rows: int) -> None:
    assert len(history(fifty.root, Choice(where=where)).rows) == rows


def test_order_limit_and_columns(fifty: Made) -> None:
    columns = ("seed", VALIDATION, "models.wide.hidden")
    choice = Choice(["model=wide"], VALIDATION, limit=2, columns=columns)
    found = history(fifty.root, choice)
    values = [row.metrics[VALIDATION] for row in found.rows]
    assert values == [99.0, 99.0], "sorted as asked, whatever became of them"
    worst = history(fifty.root, Choice(["model=wide"], VALIDATION, True, 1, columns)).rows
    assert worst[0].metrics[VALIDATION] == 20.1
    table = list(csv.reader(io.StringIO(as_csv(found))))
    assert table[0] == list(columns) and len(table) == 3


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (Choice(where=["models.wide.hiden=3"]), "no run has models.wide.hiden; did you mean model"),
        (Choice(where=["wide"]), "--where 'wide': expected KEY, one of"),
        (Choice(where=["seed>one"]), "> compares numbers; got 'one'"),
        (Choice(sort="nothing.x"), "no run has nothing.x"),
        (Choice(best=f"{TEST}.bleu"), "the best is chosen on validation data alone"),
    ],
)
def test_wrong_choices(fifty: Made, choice: Choice, message: str) -> None:
    with pytest.raises(HistoryError, match=message):
        history(fifty.root, choice)


def test_forms(fifty: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(fifty.root / "src")
    out = tmp_path / "runs.json"
    result = CliRunner().invoke(cli.app, ["runs", "--format", "json", "--out", str(out)])
    assert result.exit_code == 0
    content = json.loads(out.read_text())
    assert content["best"]["model"] == "wide" and content["total"] == len(content["rows"])
    text = CliRunner().invoke(cli.app, ["runs", "--limit", "1"]).stdout
    assert text.startswith("run       stage") and "1 of " in text


# What can't be read


def small(tmp_path: Path, database: Path | None = None) -> Made:
    made = Made.make(tmp_path / "project")
    made.results()
    made.commit("First")
    if database:
        shutil.copy(database, made.root)
    return made


def test_no_store_is_no_error_and_none_is_made(tmp_path: Path) -> None:
    made = small(tmp_path)
    found = history(made.root, Choice())
    assert found.address == "no mlflow.db" and {row.status for row in found.rows} == {"no run"}
    assert not (made.root / "mlflow.db").exists()
    assert "best: no finished run among these" in as_text(found)
    assert json.loads(as_json(found))["best"] is None


def no_database(path: Path) -> None:
    path.write_bytes(b"this is no database" * 100)


def other_schema(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE experiments (experiment_id, name)")
    database.commit()
    database.close()


@pytest.mark.parametrize("harm", [no_database, other_schema])
def test_a_store_that_is_none(tmp_path: Path, harm: object) -> None:
    made = small(tmp_path)
    assert callable(harm)
    harm(made.root / "mlflow.db")
    with pytest.raises(HistoryError, match="MLflow's store sqlite:.* can't be read: .*; it is dam"):
        read_runs(made.root)
    found = compare(made.root, "HEAD", "workspace", Wanted(Draws(10, 10), 0))
    assert "what runs recorded of the environment is not known" in found.differences.notes[0]
    with pytest.raises(CompareError, match="whether it is a run can't be told: MLflow's store"):
        compare(made.root, "HEAD", "0123abcd", Wanted(Draws(10, 10), 0))


def test_a_server_that_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:secret@127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(HistoryError, match="MLflow's store http://.*can't be read") as caught:
        read_runs(small(tmp_path).root)
    assert "secret" not in str(caught.value) and "unset MLFLOW_TRACKING_URI" in str(caught.value)


def test_a_client_and_the_database_tell_the_same(
    tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = small(tmp_path, database)
    nan = float("nan")
    write_runs(made.root, [training(made, "wide", 1, 20.0), MadeRun(metrics={"loss": nan})])
    direct = read_runs(made.root)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{made.root}/mlflow.db")
    asked = read_runs(made.root)
    tags = [{k: v for k, v in run.tags.items() if "mlflow" not in k} for run in asked.runs]
    assert tags == [run.tags for run in direct.runs]
    assert [(r.id, r.status, r.started, r.params, r.metrics) for r in asked.runs] == [
        (r.id, r.status, r.started, r.params, r.metrics) for r in direct.runs
    ]


def test_a_revision_with_a_merge_conflict_is_named(tmp_path: Path) -> None:
    made = small(tmp_path)
    path = made.root / "dvc.lock"
    before = path.read_text()
    path.write_text("schema: '2.0'\nstages:\n<<<<<<< HEAD\n=======\n>>>>>>> b\n")
    made.commit("Merge badly")
    path.write_text(before)
    (problem,) = history(made.root, Choice()).problems
    assert problem.endswith("take one side (git checkout --ours dvc.lock) and run `dvc repro`")
    assert "line 3: a mark of a merge conflict (<<<<<<<)" in problem


@pytest.mark.parametrize(
    "text", ["", "a: 1\n", "schema: '1.0'\nstages: {}\n", "schema: '2.0'\nstages:\n  a:\n  - b\n"]
)
def test_a_lock_that_is_none(text: str) -> None:
    with pytest.raises(LockError, match="^here: not a dvc.lock as DVC writes it"):
        read_lock(text, "here")


def test_values_of_a_lock_are_those_of_yaml_1_2() -> None:
    text = "schema: '2.0'\nstages:\n  a:\n    cmd: b\n    params:\n      params.yaml:\n"
    text += (
        "        x: {a: no, b: 1e-05, c: true, d: null, e: 3, f: 0.5, g: [1, 'on']}\n        y:\n"
    )
    assert read_lock(text, "here").stages["a"].params == {
        "x.a": "no", "x.b": 1e-05, "x.c": True, "x.d": None, "x.e": 3, "x.f": 0.5,
        "x.g": [1, "on"], "y": None,
    }  # fmt: skip


def test_outside_git(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="git log in .* failed|not a git repository"):
        history(tmp_path, Choice())


# Runs as sides of a comparison

FAST = Wanted(Draws(50, 50), 0)


def run_of(found: History, stage: str, width: str) -> str:
    rows = (r for r in found.rows if r.stage == stage and r.run)
    return next(r.run for r in rows if r.params.get(f"models.{r.model}.hidden") == width)


def test_two_runs_of_one_model(fifty: Made, all_of_it: History) -> None:
    a, b = (run_of(all_of_it, "train@wide-2", width) for width in ("16", "144"))
    found = compare(fifty.root, a[:10], b, FAST)
    assert [(d.name, d.a, d.b) for d in found.differences.params] == [("model.hidden", "16", "144")]
    (cell,) = found.scores.cells
    assert cell.items == ((("wide", 2), ("wide", 2)),) and cell.tested
    assert found.a == f"run {a[:8]} (train@wide-2; experiment narrow)"


def test_runs_of_two_models(fifty: Made, all_of_it: History) -> None:
    a, b = run_of(all_of_it, "train@base-1", "16"), run_of(all_of_it, "train@wide-2", "144")
    found = compare(fifty.root, a, b, FAST)
    assert [(d.name, d.a, d.b) for d in found.differences.params] == [
        ("model.hidden", "16", "144"), ("model", "base", "wide"), ("seed", "1", "2"),
    ]  # fmt: skip
    assert [cell.place for cell in found.scores.cells] == ["base v wide on test_one"]


def test_a_run_against_a_commit_looks_at_its_model_alone(fifty: Made, all_of_it: History) -> None:
    run = run_of(all_of_it, "train@wide-2", "16")
    found = compare(fifty.root, run, "main", FAST)
    assert [cell.items for cell in found.scores.cells] == [((("wide", 2), ("wide", 2)),)]
    assert [d.name for d in found.differences.params] == ["model.hidden"]


def test_a_run_that_no_revision_has(tmp_path: Path, database: Path) -> None:
    made = small(tmp_path, database)
    figures = {f"{TEST}.bleu": 30.0, f"{TEST}.chrf": 50.0}
    settings = {"evaluation.bleu_tokenizer": "13a", "data.target_language": "en"}
    outs = {"reports/scores/wide-1.json": "0" * 32}
    lost = MadeRun("evaluate@wide-1", params=settings, metrics=figures, outs=outs)
    write_runs(made.root, [lost])
    found = compare(made.root, lost.id, "HEAD", FAST)
    assert not found.complete and "its result is in no dvc.lock" in found.a
    assert found.scores.cells[0].metrics[0].a == (30.0,)
    assert found.differences.code.unknown


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (MadeRun(status="FAILED"), r"is FAILED: it left nothing to compare"),
        (MadeRun("plot", outs={"reports": "0"}), "only runs of train and evaluate can be compared"),
    ],
)
def test_runs_that_left_nothing(tmp_path: Path, database: Path, run: MadeRun, message: str) -> None:
    made = small(tmp_path, database)
    write_runs(made.root, [run])
    with pytest.raises(CompareError, match=message):
        compare(made.root, run.id, "HEAD", FAST)


def ensembles(tmp_path: Path, database: Path) -> Made:
    """Return a project with an ensemble of `wide` in two commits, the first with its run."""
    made = small(tmp_path, database)
    made.params["grid"]["ensembles"] = ["wide"]
    made.results()
    made.commit("Ensemble")
    outs = {ENSEMBLE_SCORES: made.entry(ENSEMBLE_SCORES)["md5"]}
    params = {"grid.seeds": "[1, 2, 3]", "evaluation.bleu_tokenizer": "13a"}
    figures = {f"{TEST}.bleu": 1.0, "parameters": 30.0}
    write_runs(
        made.root, [MadeRun("evaluate_ensemble@wide", "FINISHED", params, figures, {}, outs)]
    )
    made.noise["wide"] = 0.2
    made.results()
    made.commit("Better")
    return made


ENSEMBLE_SCORES = "reports/scores/wide-ensemble.json"


def test_ensembles_have_rows_of_their_own(tmp_path: Path, database: Path) -> None:
    made = ensembles(tmp_path, database)
    found = history(made.root, Choice())
    rows = [row for row in found.rows if row.stage == "evaluate_ensemble@wide"]
    assert [(row.model, row.seed, row.status) for row in rows] == [
        ("wide", "ensemble", "FINISHED"),
        ("wide", "ensemble", "no run"),
    ]
    recorded, without = rows
    assert len(recorded.revisions) == 1 and "workspace" in without.revisions
    scores = json.loads((made.root / ENSEMBLE_SCORES).read_text())
    assert without.metrics[f"{TEST}.bleu"] == scores["tests"][TEST]["bleu"]
    assert without.params["decoding.beam"] == "2" and without.params["grid.seeds"] == "[1, 2, 3]"
    assert found.best is None, "an ensemble has no validation figures"


def test_two_runs_of_ensembles(tmp_path: Path, database: Path) -> None:
    made = ensembles(tmp_path, database)
    (run,) = (row.run for row in history(made.root, Choice()).rows if row.run)
    found = compare(made.root, run, "main", FAST)
    (cell,) = found.scores.cells
    assert cell.items == ((("wide", (1, 2, 3)), ("wide", (1, 2, 3))),) and cell.tested
    assert cell.place == "wide (ensemble of 3) on test_one"
    assert found.a.startswith(f"run {run[:8]} (evaluate_ensemble@wide; commit ")


def test_a_run_of_another_experiment(fifty: Made) -> None:
    with pytest.raises(CompareError, match="is a run of another experiment or a deleted one"):
        compare(fifty.root, "f" * 32, "HEAD", FAST)


def test_exit_codes(fifty: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(fifty.root)
    few = ["--resamples", "20", "--trials", "20"]
    assert CliRunner().invoke(cli.app, ["compare", "main~1", "main", *few]).exit_code == 0
    monkeypatch.setattr("nmt.compare.snapshot.Snapshot._from_tree", lambda *_: {})
    result = CliRunner().invoke(cli.app, ["compare", "main~1", "main", *few])
    assert result.exit_code == 2 and "verdict: can't tell" in result.stdout
