"""Runs in MLflow: how they end, and what they hold."""

import hashlib
import math
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from nmt import tracking
from nmt.errors import TrainingError
from nmt.files import write_json
from nmt.provenance import environment
from nmt.run.signals import Interrupted
from nmt.tracking.store import open_store
from tests.unit.fake_project import ROOT, WAIT, Project, work
from tests.unit.tracked_runs import artifact, emit, history, only, record, runs

TRAIN = ("train", "--model", "a", "--seed", "1")

# How runs end


@pytest.mark.parametrize(
    ("error", "status", "tags"),
    [
        (None, "FINISHED", {}),
        (TrainingError("the loss is nan"), "FAILED", {"error": "the loss is nan"}),
        (KeyError("x"), "FAILED", {"error": "'x'"}),
        (AssertionError(), "FAILED", {"error": "AssertionError"}),
        (Interrupted(signal.SIGTERM), "KILLED", {"ended_by": "SIGTERM"}),
        (Interrupted(signal.SIGINT), "KILLED", {"ended_by": "SIGINT"}),
    ],
)
def test_a_run_ends_as_the_work_did(
    tracked: Project, error: BaseException | None, status: str, tags: dict[str, str]
) -> None:
    def attempt() -> None:
        with tracking.recorded(record(tracked.root, "plot")):
            if error:
                raise error

    if error:
        with pytest.raises(type(error)):
            attempt()
    else:
        attempt()
    run = only(tracked.root)
    assert run.info.status == status
    assert run.info.end_time >= run.info.start_time
    assert tags.items() <= run.data.tags.items()
    assert run.data.metrics["minutes"] >= 0


def test_a_training_from_its_command(tracked: Project) -> None:
    tracked.act(work())
    code, output = tracked.run(*TRAIN)
    assert code == 0
    assert f"train@a-1 in sqlite:///{tracked.root}/mlflow.db" in output
    run = only(tracked.root)
    assert run.info.status == "FINISHED"
    assert run.data.params["training.rate"] == "0.5"
    assert run.data.metrics["best.loss"] == 1.0


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_makes_it_killed(tracked: Project, signum: signal.Signals, code: int) -> None:
    tracked.act(WAIT)
    assert tracked.stop(signum, *TRAIN)[0] == code
    run = only(tracked.root)
    assert (run.info.status, run.data.tags["ended_by"]) == ("KILLED", signum.name)


def test_the_next_run_sweeps_one_that_died(tracked: Project) -> None:
    tracked.act(work(WAIT))
    tracked.stop(signal.SIGKILL, *TRAIN)
    assert only(tracked.root).info.status == "RUNNING"
    assert tracking.abandoned(only(tracked.root))
    (tracked.root / "go").touch()
    tracked.act(work())
    code, output = tracked.run("train", "--model", "b", "--seed", "1")
    assert code == 0
    assert "train@a-1 (run " in output and "had died: closed as KILLED" in output
    newest, swept = runs(tracked.root)
    assert (newest.info.status, swept.info.status) == ("FINISHED", "KILLED")
    assert swept.data.tags["ended_by"] == "sweep"


def test_code_edited_meanwhile_makes_it_failed(tracked: Project) -> None:
    tracked.act(work("with open('pipeline/train.py', 'a') as f: f.write('# edited')"))
    assert tracked.run(*TRAIN)[0] == 1
    run = only(tracked.root)
    assert run.info.status == "FAILED"
    assert "changed while the stage ran: pipeline/train.py" in run.data.tags["error"]


@pytest.mark.parametrize(
    ("tags", "closed"),
    [
        ({}, False),  # not ours: nothing is known of it
        ({"host": "elsewhere", "pid": "1", "started": "1"}, False),
        ({"host": socket.gethostname(), "pid": "x", "started": "1"}, False),
        ({"host": socket.gethostname(), "pid": "999999999", "started": "1"}, True),
        ({"host": socket.gethostname(), "pid": str(os.getpid()), "started": "1"}, True),
        (environment.process(), False),
    ],
)
def test_only_runs_of_dead_processes_of_this_host_are_swept(
    tracked: Project, tags: dict[str, str], closed: bool
) -> None:
    store = open_store(tracked.root)
    prefixed = {f"process.{key}": value for key, value in tags.items()}
    made = store.client.create_run(store.experiment, tags=prefixed, run_name="train@a-1")
    assert tracking.sweep(store) == (["train@a-1"] if closed else [])
    status = store.client.get_run(made.info.run_id).info.status
    assert status == ("KILLED" if closed else "RUNNING")


# What they hold


def test_tags_tell_where_it_comes_from(tracked: Project) -> None:
    shutil.copy(ROOT / "params.yaml", tracked.root / "requirements.lock")
    (tracked.root / "out.txt").write_text("a\n")
    with tracking.recorded(record(tracked.root, "plot", outs=["out.txt", "lost.txt"])):
        pass
    tags = only(tracked.root).data.tags
    assert tags["project"] == "toy"
    assert tags["stage"] == tags["mlflow.runName"] == "plot"
    assert tags["git.commit"] == "no git: not in a repository"
    assert tags["git.dirty"] == "unknown"
    assert tags["out.out.txt"] == hashlib.md5(b"a\n").hexdigest()
    assert tags["out.lost.txt"] == "missing"
    assert tags["version.python"] == environment.versions()["python"]
    assert {f"version.{name}" for name in environment.PACKAGES} <= tags.keys()
    lock = (ROOT / "params.yaml").read_bytes()
    assert tags["requirements.sha256"] == hashlib.sha256(lock).hexdigest()
    assert {"machine.cpu", "machine.cores", "process.pid", "process.host"} <= tags.keys()


@pytest.mark.parametrize(("reads", "told"), [("compute.device", True), ("plots.dpi", False)])
def test_the_device_and_threads_of_a_stage_that_computes(
    tracked: Project, reads: str, told: bool
) -> None:
    torch = pytest.importorskip("torch")
    with tracking.recorded(record(tracked.root, "plot", params={reads: "cpu"})):
        torch.set_num_threads(1)
    tags = only(tracked.root).data.tags
    assert (tags.get("device"), tags.get("threads")) == (("cpu", "1") if told else (None, None))


def test_the_dvc_experiment_is_named(tracked: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DVC_EXP_NAME", "brisk-wage")
    with tracking.recorded(record(tracked.root, "plot")):
        pass
    assert only(tracked.root).data.tags["dvc.experiment"] == "brisk-wage"


def test_uncommitted_changes_are_kept(tracked: Project) -> None:
    git(tracked.root, "init", "-q")
    git(tracked.root, "add", ".")
    git(tracked.root, "commit", "-qm", "x")
    (tracked.root / "src/nmt/helper.py").write_bytes(b"# Gr\xfc\xdfe\n")
    with tracking.recorded(record(tracked.root, "plot")):
        pass
    run = only(tracked.root)
    assert run.data.tags["git.commit"] == git(tracked.root, "rev-parse", "HEAD").strip()
    assert run.data.tags["git.dirty"] == "true"
    patch = artifact(tracked.root, run, "git/diff.patch").read_bytes()
    assert hashlib.sha256(patch).hexdigest() == run.data.tags["git.diff_sha256"]
    assert b"+# Gr\xfc\xdfe" in patch


def test_keeps_params_environment_and_code_as_files(tracked: Project) -> None:
    with tracking.recorded(record(tracked.root, "plot")):
        pass
    run = only(tracked.root)
    files = ["params/params.yaml", "environment/freeze.txt", "code/sha256.txt"]
    texts = [artifact(tracked.root, run, name).read_text() for name in files]
    assert texts[0] == (tracked.root / "params.yaml").read_text()
    assert "mlflow==" in texts[1]
    assert texts[2] == "c0de  pipeline/train.py\n"


def test_a_param_that_is_too_long_is_kept_as_a_file(tracked: Project) -> None:
    long = "ä" * 7000
    params = {"training.note": long, "training.rate": 0.5, "training.layers": [1, 2]}
    with tracking.recorded(record(tracked.root, "plot", params=params)):
        pass
    run = only(tracked.root)
    assert run.data.params["training.rate"] == "0.5"
    assert run.data.params["training.layers"] == "[1, 2]"
    digest = hashlib.sha256(long.encode()).hexdigest()[:16]
    short = f"sha256 {digest}, 7000 characters, in params/training.note.txt"
    assert run.data.params["training.note"] == short
    assert artifact(tracked.root, run, "params/training.note.txt").read_text() == long


def test_many_params_and_one_that_is_refused(
    tracked: Project, caplog: pytest.LogCaptureFixture
) -> None:
    params = {f"k.{i}": i for i in range(150)} | {"k.#": 1}
    with tracking.recorded(record(tracked.root, "plot", params=params)):
        pass
    found = only(tracked.root).data.params
    assert len(found) == 150
    assert "not recorded in MLflow: k.#" in caplog.text


def test_a_training_has_its_epochs_and_the_best_of_them(tracked: Project) -> None:
    tracked.act(work())
    folder = tracked.root / "models/a/1"
    with tracking.recorded(record(tracked.root)):
        emit(1, loss=2.0)
        emit(2, loss=1.0)
        write_json(folder / "config.json", {"best_epoch": 2, "epochs": 2, "parameters": 9})
        rows = '{"epoch": 1, "loss": 2.0}\n{"epoch": 2, "loss": 1.0, "bleu": 3.5}\n'
        (folder / "history.jsonl").write_text(rows)
    run = only(tracked.root)
    assert history(tracked.root, run, "loss") == [(1, 2.0), (2, 1.0)]
    expected = {"best.loss": 1.0, "best.bleu": 3.5, "parameters": 9, "best_epoch": 2}
    assert expected.items() <= run.data.metrics.items()
    assert (run.data.params["model"], run.data.params["seed"]) == ("a", "1")


SCORES = {
    "model": "a",
    "seed": 1,
    "parameters": 9,
    "best_epoch": 2,
    "tests": {"test_2016_flickr": {"bleu": 40.5, "chrf": None, "sentences": 1000}},
    "signatures": [["bleu", "nrefs:1|case:lc"]],
    "settings": [["decoding.beam", 5], ["tokenizer.spacy", "3.8"], ["training.rate", 0.5]],
}


def test_an_evaluation_has_its_scores(tracked: Project) -> None:
    with tracking.recorded(record(tracked.root, "evaluate")):
        write_json(tracked.root / "reports/scores/a-1.json", SCORES)
    run = only(tracked.root)
    assert run.data.metrics.keys() - {"minutes"} == {
        "parameters",
        "best_epoch",
        "test_2016_flickr.bleu",
        "test_2016_flickr.sentences",
    }
    assert run.data.metrics["test_2016_flickr.bleu"] == 40.5
    assert run.data.tags["signature.bleu"] == "nrefs:1|case:lc"
    assert run.data.params == {
        "model": "a",
        "seed": "1",
        "training.rate": "0.5",
        "decoding.beam": "5",
        "tokenizer.spacy": "3.8",
    }


def test_an_evaluation_of_an_ensemble_has_its_scores(tracked: Project) -> None:
    together = SCORES | {"seed": [1, 2], "best_epoch": [2, 3], "parameters": 18}
    params = {"grid.seeds": [1, 2]}
    with tracking.recorded(record(tracked.root, "evaluate_ensemble", params=params)):
        write_json(tracked.root / "reports/scores/a-ensemble.json", together)
    run = only(tracked.root)
    assert run.data.tags["stage"] == "evaluate_ensemble@a"
    assert run.data.metrics["test_2016_flickr.bleu"] == 40.5
    assert run.data.metrics["parameters"] == 18 and "best_epoch" not in run.data.metrics
    own = {key: run.data.params[key] for key in ("model", "seed", "grid.seeds")}
    assert own == {"model": "a", "seed": "ensemble", "grid.seeds": "[1, 2]"}


def test_a_figure_that_is_none_does_not_end_the_work(tracked: Project) -> None:
    with tracking.recorded(record(tracked.root)):
        emit(1, loss="none")  # type: ignore[arg-type]
        emit(2, loss=1.0)
    assert history(tracked.root, only(tracked.root), "loss") == [(2, 1.0)]


def test_the_plots_are_kept(tracked: Project) -> None:
    with tracking.recorded(record(tracked.root, "plot")):
        for name in ("attention/a.png", "training/curves.csv"):
            (tracked.root / "reports" / name).parent.mkdir(parents=True)
            (tracked.root / "reports" / name).write_bytes(b"x")
    run = only(tracked.root)
    for name in ("figures/attention/a.png", "figures/training/curves.csv"):
        assert artifact(tracked.root, run, name).read_bytes() == b"x"


def test_a_training_taken_up_again_names_the_run_before(tracked: Project) -> None:
    with pytest.raises(Interrupted), tracking.recorded(record(tracked.root)):
        emit(1, loss=2.0)
        raise Interrupted(signal.SIGTERM)
    with tracking.recorded(record(tracked.root)):
        emit(2, loss=1.0)
    second, first = runs(tracked.root)
    assert second.data.tags["continues"] == first.info.run_id
    assert "continues" not in first.data.tags
    assert history(tracked.root, first, "loss") == [(1, 2.0)]
    assert history(tracked.root, second, "loss") == [(2, 1.0)]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_tagged_and_not_logged(tracked: Project, bad: float) -> None:
    with pytest.raises(TrainingError), tracking.recorded(record(tracked.root)):
        emit(1, loss=bad, rate=0.1)
        raise TrainingError("the loss is nan")
    run = only(tracked.root)
    assert run.info.status == "FAILED"
    assert run.data.tags["diverged"] == "true"
    assert run.data.metrics.keys() == {"rate", "minutes"}


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=root, check=True, capture_output=True, text=True
    )
    return done.stdout
