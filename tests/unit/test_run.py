"""The wrapper around a stage: checks, lock, signals, inputs that must not change."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from nmt.run.inputs import flatten, text
from nmt.run.locks import LockedError, locked
from nmt.run.signals import Interrupted, interruptible
from nmt.run.stage import Stage
from tests.unit.fake_project import PARAMS, WAIT, Project, clean, wait_for


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.make(tmp_path / "project")


def test_does_the_work_of_the_stage(project: Project) -> None:
    project.act("Path('out').write_text(str(value))")
    assert project.run("tokenize")[0] == 0
    assert (project.root / "out").read_text() == "0.5"


def test_paths_are_relative_to_the_project_wherever_it_is_started(project: Project) -> None:
    project.act("Path('out').touch()")
    below = project.root / "src"
    command = [sys.executable, "-m", "pipeline.run", "tokenize"]
    subprocess.run(command, cwd=below, env=clean({"PYTHONPATH": ".."}), check=True)
    assert (project.root / "out").exists()


def test_the_script_works_without_it(project: Project) -> None:
    project.act("Path('out').touch()")
    command = [sys.executable, "-m", "pipeline.tokenize"]
    subprocess.run(command, cwd=project.root, env=clean({}), check=True)
    assert (project.root / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([], 1, "usage: python -m pipeline.run STAGE [--help]; stages: evaluate, "),
        (["--help"], 1, "usage: python -m pipeline.run STAGE [--help]; stages: evaluate, "),
        (["nix"], 1, "error: no stage nix; stages: evaluate, evaluate_ensemble, plot, "),
        (["train", "--model", "a"], 2, "Missing option '--seed'"),
        (["train", "--modle", "a"], 2, "No such option: --modle"),
        (["train", "--help"], 0, "Do what the file"),
        (["tokenize", "--params", "none.yaml"], 1, "none.yaml: no such file"),
    ],
)
def test_tells_what_is_wrong_with_a_call(
    project: Project, arguments: list[str], code: int, message: str
) -> None:
    ended, output = project.run(*arguments)
    assert (ended, message in output) == (code, True), output
    assert "Traceback" not in output


def test_a_script_without_a_command_is_told(project: Project) -> None:
    (project.root / "pipeline/tokenize.py").write_text("")
    message = "error: pipeline/tokenize.py has no `app`; make it with nmt.script.command\n"
    assert project.run("tokenize") == (1, message)


def test_checks_the_whole_params_file_before_the_work(project: Project) -> None:
    project.act("Path('out').touch()")
    (project.root / "params.yaml").write_text(PARAMS + "typo: 1\n")
    code, output = project.run("tokenize")
    assert code == 1
    assert output == "error: params.yaml: typo: unknown key; remove it or correct its name\n"
    assert not (project.root / "out").exists()


def test_an_error_of_ours_is_one_plain_message(project: Project) -> None:
    project.act("raise TrainingError('the loss is nan')")
    assert project.run("tokenize") == (1, "error: the loss is nan\n")


def test_an_unforeseen_error_shows_where(project: Project) -> None:
    project.act("1 / 0")
    code, output = project.run("tokenize")
    assert code == 1
    assert "Traceback" in output and "ZeroDivisionError" in output


@pytest.mark.parametrize(
    ("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_ends_on_a_signal_with_its_code(
    project: Project, signum: signal.Signals, code: int
) -> None:
    project.act(WAIT)
    ended, output = project.stop(signum, "tokenize")
    assert ended == code
    assert f"stopped by {signum.name}" in output and "Traceback" not in output


def test_no_except_exception_swallows_a_signal() -> None:
    with pytest.raises(Interrupted), interruptible():
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except Exception:
            pytest.fail("swallowed")


def test_a_second_signal_does_not_disturb_the_ending() -> None:
    with interruptible():
        with pytest.raises(Interrupted):
            os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)


def test_signals_are_as_before_afterwards() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with interruptible():
        pass
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_second_one_at_once_is_refused(project: Project) -> None:
    project.act(WAIT)
    first = project.start("tokenize")
    project.wait_for_start()
    code, output = project.run("tokenize")
    assert code == 1
    assert output == (
        f"error: tokenize is already being run by process {first.pid}; wait until it has ended, "
        "or end it first (kill PID)\n"
    )
    (project.root / "go").touch()
    assert first.wait(30) == 0


def test_a_lock_that_was_left_does_not_block(project: Project) -> None:
    project.act(WAIT)
    assert project.stop(signal.SIGKILL, "tokenize")[0] == -signal.SIGKILL
    project.act("")
    assert project.run("tokenize")[0] == 0


def test_a_lock_is_given_back_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError), locked(tmp_path, "x"):
        raise ValueError
    with locked(tmp_path, "x"), pytest.raises(LockedError), locked(tmp_path, "x"):
        pass


def test_models_have_locks_of_their_own() -> None:
    def lock(stage: str, params: str = "params.yaml", **options: object) -> str:
        return Stage(stage, {**options, "params": Path(params)}).lock

    assert lock("train", model="a", seed=1) == "train@a-1"
    assert lock("train", model="a", seed=2) == "train@a-2"
    assert lock("evaluate_ensemble", model="a") == "evaluate_ensemble@a"
    assert lock("plot") == "plot"
    assert lock("plot", "params/best/params.yaml") == "plot-params-best-params.yaml"


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (None, "train@a-1"),
        ("train@a-1", "train@a-1"),
        ("params/best/dvc.yaml:train@a-1", "params/best/dvc.yaml:train@a-1"),
        ("some_test", "train@a-1"),  # of a stage around this one
    ],
)
def test_a_stage_is_called_as_dvc_calls_it(
    monkeypatch: pytest.MonkeyPatch, given: str | None, address: str
) -> None:
    monkeypatch.delenv("DVC_STAGE", raising=False)
    if given:
        monkeypatch.setenv("DVC_STAGE", given)
    assert Stage("train", {"model": "a", "seed": 1}).address == address


@pytest.mark.parametrize("path", ["pipeline/tokenize.py", "src/nmt/helper.py"])
def test_code_edited_meanwhile_makes_it_fail(project: Project, path: str) -> None:
    project.act(f"with open({path!r}, 'a') as f: f.write('# edited')")
    assert project.run("tokenize") == (
        1,
        f"error: tokenize: changed while the stage ran: {path}; the result belongs to neither "
        "version and is not accepted: run the stage again\n",
    )


def test_code_of_no_concern_may_be_edited(project: Project) -> None:
    project.act("Path('pipeline/plot.py').write_text('#'); Path('src/nmt/new.py').touch()")
    assert project.run("tokenize")[0] == 0


def edit(old: str, new: str) -> str:
    """Return an act that edits params.yaml."""
    return f"p = Path('params.yaml'); p.write_text(p.read_text().replace({old!r}, {new!r}))"


DVC = {
    "stages": {
        "tokenize": {
            "cmd": f"{sys.executable} -m pipeline.run tokenize",
            "params": ["training"],
            "deps": ["pipeline/tokenize.py", "data"],
            "outs": ["out"],
        }
    }
}


@pytest.fixture
def declared(project: Project) -> Project:
    (project.root / ".dvc").mkdir()
    (project.root / "dvc.yaml").write_text(json.dumps(DVC))
    (project.root / "data").mkdir()
    (project.root / "data" / "text").write_text("ein Hund\n")
    return project


@pytest.mark.parametrize(
    ("act", "named"),
    [
        (edit("0.5", "0.6"), "params.yaml: training.rate"),
        (edit("rate: 0.5", "rat: 0.5"), "params.yaml: training.rat, params.yaml: training.rate"),
        (edit("training:", "training: ["), "params.yaml: not readable as YAML"),
        ("Path('data/text').write_text('eine Katze')", "data/text"),
        ("Path('data/more').touch()", "data/more"),
        ("Path('data/text').unlink()", "data/text"),
    ],
)
def test_an_input_changed_meanwhile_makes_it_fail(declared: Project, act: str, named: str) -> None:
    declared.act(act)
    code, output = declared.run("tokenize")
    assert code == 1
    assert f"changed while the stage ran: {named}" in output


def test_a_param_of_no_concern_may_be_edited(declared: Project) -> None:
    declared.act(edit("dpi: 90", "dpi: 91"))
    assert declared.run("tokenize")[0] == 0


@pytest.mark.parametrize(
    ("then", "above"),
    [
        ("", []),
        (" && true", []),  # a shell stays in between
        ("", [sys.executable, "snakemake"]),  # what started DVC is killed
    ],
)
def test_ends_when_what_drives_it_is_killed(declared: Project, then: str, above: list[str]) -> None:
    dvc = [sys.executable, "-m", "dvc"]
    graph = (declared.root / "dvc.yaml").read_text()
    graph = graph.replace('run tokenize"', f'run tokenize{then}"')
    (declared.root / "dvc.yaml").write_text(graph)
    (declared.root / "snakemake").write_text("import subprocess, sys; subprocess.run(sys.argv[1:])")
    (declared.root / ".dvc").rmdir()
    subprocess.run([*dvc, "init", "-q", "--no-scm"], cwd=declared.root, env=clean({}), check=True)
    declared.act("Path('pid').write_text(str(__import__('os').getpid()))" + WAIT)
    driver = subprocess.Popen([*above, *dvc, "repro", "-q"], cwd=declared.root, env=clean({}))
    wait_for(lambda: (declared.root / "pid").exists() and (declared.root / "pid").read_text())
    stage = psutil.Process(int((declared.root / "pid").read_text()))
    driver.kill()
    driver.wait()
    wait_for(lambda: not stage.is_running() or stage.status() == psutil.STATUS_ZOMBIE, 10)


def test_flattens_to_leaves() -> None:
    nested = {"a": {"b": 1, "c": [1, {"d": 2}]}, "e": {}, "f": None}
    assert flatten("x", nested) == {"x.a.b": 1, "x.a.c": [1, {"d": 2}], "x.e": {}, "x.f": None}
    assert flatten("x", 3) == {"x": 3}
    assert flatten("", {"a": {"b": 1}}) == {"a.b": 1}


@pytest.mark.parametrize(
    ("value", "expected"),
    [("gru", "gru"), (True, "true"), (None, "null"), (0.5, "0.5"), ([1, "ü"], '[1, "ü"]')],
)
def test_values_as_text(value: object, expected: str) -> None:
    assert text(value) == expected
