"""The `nmt` command."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import Field
from typer.testing import CliRunner

from nmt import cli
from nmt.describe import Key, keys
from nmt.errors import NmtError, ParamsError
from nmt.params import Params, Settings
from nmt.run.inputs import flatten
from nmt.tracking.store import open_store
from tests.unit.fake_project import ROOT, Project, clean
from tests.unit.tracked_runs import only


class Training(Settings):
    rate: float = Field(gt=0, description="learning rate")


class Plots(Settings):
    dpi: int = Field(ge=1, description="pixels an inch")


@pytest.fixture
def sections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sections instead of the project's own."""

    def check(params: Params) -> None:
        params.section("plots", Plots)

    found: dict[str, type[Settings]] = {"training": Training, "plots": Plots}

    def every_key() -> Iterator[Key]:
        for section, kind in found.items():
            yield from keys(section, kind)

    stub = ModuleType("nmt.settings")
    stub.__dict__.update(SECTIONS=found, check=check, every_key=every_key)
    monkeypatch.setitem(sys.modules, "nmt.settings", stub)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli.app, list(arguments))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            [],
            "training.rate: number, more than 0\n    learning rate\n"
            "plots.dpi: whole number, at least 1\n    pixels an inch\n",
        ),
        (["plots"], "plots.dpi: whole number, at least 1\n    pixels an inch\n"),
        (["plots.dpi"], "plots.dpi: whole number, at least 1\n    pixels an inch\n"),
    ],
)
@pytest.mark.usefixtures("sections")
def test_params(arguments: list[str], expected: str) -> None:
    assert run("params", *arguments) == expected


@pytest.mark.usefixtures("sections")
def test_params_of_no_section() -> None:
    with pytest.raises(ParamsError, match="no key begins with plot; sections: training, plots"):
        run("params", "plot")


@pytest.mark.usefixtures("sections")
def test_check_params_from_a_folder_below(
    tracked: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tracked.root / "src")
    assert run("check-params") == "params.yaml: ok\n"
    (tracked.root / "params.yaml").write_text("plots: {dpi: 0}\n")
    with pytest.raises(ParamsError, match="plots.dpi: got 0; Input should be greater than"):
        run("check-params")


def test_params_tells_of_every_key_of_the_project_s_file() -> None:
    told = {line.partition(":")[0] for line in run("params").split("\n") if line[:1].strip()}
    params = Params.read(ROOT / "params.yaml")
    present = {leaf for name in params.names() for leaf in flatten(name, params.value(name))}
    patterns = [key.replace(".", r"\.").replace("NAME", r"[\w.]+") for key in told]
    assert [key for key in present if not re.fullmatch("|".join(patterns), key)] == []


def test_the_project_s_params_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert run("check-params") == "params.yaml: ok\n"


def test_a_copy_of_the_project_runs_its_own_library(tmp_path: Path) -> None:
    project = Project.make(tmp_path / "copy")
    (project.root / "src/nmt/cli.py").write_text("print('the copy')\n")
    command = [sys.executable, "-c", "from nmt.cli import main; main()", "sweep"]
    environment = clean({"PYTHONPATH": str(ROOT / "src")})
    done = subprocess.run(
        command, cwd=project.root, env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout == "the copy\n"


def test_outside_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NmtError, match="lies in no project: no pipeline/run.py here or above"):
        run("sweep")


def test_sweep(tracked: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tracked.root)
    where = f"sqlite:///{tracked.root}/mlflow.db"
    assert run("sweep") == f"0 closed in {where}\n"
    store = open_store(tracked.root)
    host = os.uname().nodename
    dead = {"process.host": host, "process.pid": "999999999", "process.started": "1"}
    store.client.create_run(store.experiment, tags=dead, run_name="train@a-1")
    assert run("sweep") == f"train@a-1: KILLED\n1 closed in {where}\n"
    assert only(tracked.root).info.status == "KILLED"


def test_ui_starts_on_the_project_s_store(
    tracked: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(os, "execv", lambda _, command: started.append(command))
    monkeypatch.chdir(tracked.root)
    where = f"sqlite:///{tracked.root}/mlflow.db"
    assert run("ui", "--port", "5001") == (
        f"runs of {where}: http://127.0.0.1:5001 (end with Ctrl-C)\n"
    )
    assert started[0][1:4] == ["-m", "mlflow", "ui"]
    assert started[0][-6:] == [
        "--backend-store-uri", where, "--host", "127.0.0.1", "--port", "5001",
    ]  # fmt: skip


def test_ui_of_a_server_names_it(
    tracked: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tracked.root}/mlflow.db")
    monkeypatch.chdir(tracked.root)
    assert run("ui").startswith(f"the runs are kept at sqlite:///{tracked.root}/mlflow.db")


def test_a_folder_is_no_file_to_write(tracked: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tracked.root)
    assert "'src' is a directory" in run("runs", "--out", "src")
    assert (tracked.root / "src/nmt").is_dir()
