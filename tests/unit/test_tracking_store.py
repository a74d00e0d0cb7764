"""The store of runs: failing, moved, shared."""

import dataclasses
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt import tracking
from nmt.tracking import live
from nmt.tracking.store import open_store, store_folder, without_password
from tests.unit.fake_project import ROOT, Project, clean
from tests.unit.tracked_runs import artifact, broken, emit, history, only, record, runs

# A store that fails


def test_a_failing_store_never_stops_the_work(
    tracked: Project, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with tracking.recorded(record(tracked.root)):
        monkeypatch.setattr("mlflow.MlflowClient.log_batch", broken)
        monkeypatch.setattr("mlflow.MlflowClient.set_terminated", broken)
        emit(1, loss=1.0)
    assert "not recorded in MLflow: metrics: the disk is full" in caplog.text
    assert "not recorded in MLflow: FINISHED: the disk is full" in caplog.text


def test_figures_wait_for_a_store_that_comes_back(
    tracked: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "EVERY", 0)
    monkeypatch.setattr(live, "AFTER_FAILURE", 0)
    with pytest.raises(KeyError), tracking.recorded(record(tracked.root)):
        with monkeypatch.context() as patch:
            patch.setattr("mlflow.MlflowClient.log_batch", broken)
            emit(1, loss=2.0)
        emit(2, loss=1.0)
        raise KeyError
    assert history(tracked.root, only(tracked.root), "loss") == [(1, 2.0), (2, 1.0)]


def test_a_server_that_is_away_is_told_before_the_work(
    tracked: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:secret@127.0.0.1:9")
    with pytest.raises(tracking.TrackingError) as caught:
        open_store(tracked.root)
    message = str(caught.value)
    assert message.startswith("MLflow's store http://me:***@127.0.0.1:9 can't be used: ")
    assert "start the server, or unset MLFLOW_TRACKING_URI" in message
    assert "secret" not in message


def test_a_database_that_is_none_is_told_before_the_work(tracked: Project) -> None:
    (tracked.root / "mlflow.db").write_text("no database")
    with pytest.raises(tracking.TrackingError, match="move mlflow.db away to begin a new one"):
        open_store(tracked.root)


def test_a_store_that_takes_no_run_is_told_before_the_work(
    tracked: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mlflow.MlflowClient.create_run", broken)
    where = f"MLflow's store sqlite:///{tracked.root}/mlflow.db takes no run: the disk is full"
    with (
        pytest.raises(tracking.TrackingError, match=f"^{where}$"),
        tracking.recorded(record(tracked.root)),
    ):
        pytest.fail("the work was begun")


def test_a_store_that_cannot_be_searched_does_not_stop_the_work(
    tracked: Project, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("mlflow.MlflowClient.search_runs", broken)
        with tracking.recorded(record(tracked.root)):
            emit(2, loss=1.0)
    assert only(tracked.root).info.status == "FINISHED"
    assert "runs that died are not looked for in MLflow: the disk is full" in caplog.text
    assert "the run that this one continues is not recorded in MLflow: the disk" in caplog.text


def test_missing_results_do_not_fail_a_stage(
    tracked: Project, caplog: pytest.LogCaptureFixture
) -> None:
    with tracking.recorded(record(tracked.root, "evaluate")):
        pass
    assert only(tracked.root).info.status == "FINISHED"
    assert "results not recorded in MLflow" in caplog.text
    assert "reports/scores/a-1.json: no such file" in caplog.text


def test_a_server_has_no_folder_of_artifacts(tracked: Project) -> None:
    with tracking.recorded(record(tracked.root, "plot")):
        pass
    store = dataclasses.replace(open_store(tracked.root), folder=None, address="http://host")
    with pytest.raises(tracking.TrackingError, match="http://host is a server: its artifacts lie"):
        tracking.artifact_folder(store, only(tracked.root))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://me:secret@host/x", "http://me:***@host/x"),
        ("postgresql://u:p%40ss@h:5/db and http://h", "postgresql://u:***@h:5/db and http://h"),
        ("http://host:5000/a@b", "http://host:5000/a@b"),
        ("sqlite:////a/b@c.db", "sqlite:////a/b@c.db"),
    ],
)
def test_passwords_are_not_shown(text: str, shown: str) -> None:
    assert without_password(text) == shown


def test_a_deleted_experiment_is_told(tracked: Project) -> None:
    store = open_store(tracked.root)
    store.client.delete_experiment(store.experiment)
    with pytest.raises(tracking.TrackingError, match="'toy' was deleted; restore it with"):
        open_store(tracked.root)


# Where it lies


def test_the_store_lies_in_the_project_whatever_the_current_folder(
    tracked: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mlruns").mkdir()
    monkeypatch.chdir(tmp_path)
    with tracking.recorded(record(tracked.root, "plot")):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mlruns", "project"]
    assert list((tmp_path / "mlruns").iterdir()) == []
    assert (tracked.root / "mlartifacts").exists()


def test_the_variable_overrides(
    tracked: Project, tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(database, tmp_path / "other.db")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/other.db")
    store = open_store(tracked.root)
    assert store.folder is None
    assert store.address == f"sqlite:///{tmp_path}/other.db"


def test_a_temporary_copy_of_dvc_uses_the_project_s_store(tmp_path: Path) -> None:
    assert store_folder(tmp_path / ".dvc/tmp/exps/standalone/tmp1") == tmp_path
    assert store_folder(tmp_path) == tmp_path


@pytest.mark.parametrize("move", [Path.rename, shutil.copytree])
def test_a_moved_folder_keeps_its_runs_and_files(
    tracked: Project, tmp_path: Path, move: Callable[[Path, Path], object]
) -> None:
    with tracking.recorded(record(tracked.root, "plot")):
        pass
    moved = tmp_path / "ein Ordner, schön #1 100%"
    move(tracked.root, moved)
    if tracked.root.exists():
        shutil.rmtree(tracked.root)
    run = only(moved)
    store = open_store(moved)
    assert artifact(moved, run, "code/sha256.txt").read_text() == "c0de  pipeline/train.py\n"
    downloaded = store.client.download_artifacts(run.info.run_id, "code/sha256.txt")
    assert Path(downloaded).read_text() == "c0de  pipeline/train.py\n"
    with tracking.recorded(record(moved, "plot")):
        pass
    newest = runs(moved)[0]
    assert artifact(moved, newest, "code/sha256.txt").exists()
    assert not tracked.root.exists()


OPEN = """
import sys
from pathlib import Path
from nmt.tracking import open_store
from nmt.tracking.run import LiveRun
store = open_store(Path(sys.argv[1]))
run = LiveRun(store, store.client.create_run(store.experiment).info.run_id)
for step in range(20):
    assert run.write(run.finite({"loss": 1.0}, step))
run.end("FINISHED")
"""


@pytest.mark.parametrize("fresh", [True, False])
def test_two_that_start_at_once_both_are_whole(tmp_path: Path, database: Path, fresh: bool) -> None:
    if not fresh:
        shutil.copy(database, tmp_path)
        (tmp_path / "pyproject.toml").write_text('[project]\nname = "toy"\n')
    environ = clean({"PYTHONPATH": str(ROOT / "src")})
    command = [sys.executable, "-c", OPEN, str(tmp_path)]
    started = [
        subprocess.Popen(command, env=environ, text=True, stderr=subprocess.PIPE) for _ in range(2)
    ]
    assert [(p.communicate(timeout=120)[1], p.returncode) for p in started] == [("", 0)] * 2
    assert [run.info.status for run in runs(tmp_path)] == ["FINISHED"] * 2
    assert [len(history(tmp_path, run, "loss")) for run in runs(tmp_path)] == [20, 20]
