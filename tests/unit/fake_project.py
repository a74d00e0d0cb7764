"""A tiny project around the real wrapper: a stage that does what a file tells it to."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

LIBRARY = ("__init__.py", "ensembles.py", "errors.py", "files.py", "params.py", "script.py")
PACKAGES = ("run", "tracking", "provenance")

# Stands for the check of the real sections.
SETTINGS = """
from nmt.errors import ParamsError
from nmt.params import Params

def check(params: Params) -> None:
    if "typo" in params.names():
        raise ParamsError("params.yaml: typo: unknown key; remove it or correct its name")
"""

# Reads plain stages of dvc.yaml, without DVC.
DAG = """
from types import SimpleNamespace
from ruamel.yaml import YAML

def stages(root):
    found = YAML(typ="safe").load(root / "dvc.yaml")["stages"]
    return {name: SimpleNamespace(**stage) for name, stage in found.items()}
"""

# `act` is read from a file, so that no test has to write a script of its own.
SCRIPT = '''
"""Do what the file `act` says."""
import json, logging, sys, time
from pathlib import Path
from nmt import script
from nmt.errors import TrainingError
from nmt.files import write_json, write_jsonl
from nmt.params import Params
import nmt.helper

def stage({options}params: script.ParamsOption = Path("params.yaml")) -> None:
    """Do it."""
    act = Path("act").read_text()
    value = Params.read(params).value("training.rate")
    def log(step, **metrics):
        extra = dict(step=step, metrics=metrics)
        logging.getLogger("nmt.metrics").info("epoch %d", step, extra=extra)
    Path("started").touch()
    exec(act)

app = script.command(stage)
if __name__ == "__main__":
    script.run(app)
'''

MODEL_OPTIONS = "model: script.ModelOption, seed: script.SeedOption, "

ALL_SEEDS = "model: script.ModelOption, "

PARAMS = """
training:
  rate: 0.5
  # A list is one value.
  layers: [1, 2]
models:
  a: {width: 4}
  b: {width: 8}
tokenizers: {words: {kind: none}}
plots: {dpi: 90}
grid: {models: [a, b], seeds: [1, 2], ensembles: [b]}
"""


def work(then: str = "") -> str:
    """Return the act of a training of two epochs; `then` is run between them."""
    return f"""
log(1, loss=2.0)
{then}
log(2, loss=1.0)
folder = Path(f"models/{{model}}/{{seed}}")
folder.mkdir(parents=True, exist_ok=True)
write_json(folder / "config.json", dict(best_epoch=2, epochs=2, parameters=10, name=model))
write_jsonl(folder / "history.jsonl", [dict(epoch=1, loss=2.0), dict(epoch=2, loss=1.0)])
"""


WAIT = """
while not Path("go").exists():
    time.sleep(0.02)
"""


@dataclass
class Project:
    """The project's folder, and ways to run its stages."""

    root: Path

    @classmethod
    def make(cls, root: Path) -> "Project":
        """Write all its files."""
        library = root / "src" / "nmt"
        library.mkdir(parents=True)
        (root / "pipeline").mkdir()
        for name in LIBRARY:
            shutil.copy(ROOT / "src" / "nmt" / name, library / name)
        for name in PACKAGES:
            shutil.copytree(ROOT / "src" / "nmt" / name, library / name)
        for name in ("__init__.py", "run.py"):
            shutil.copy(ROOT / "pipeline" / name, root / "pipeline" / name)
        (library / "settings.py").write_text(SETTINGS)
        (library / "dag.py").write_text(DAG)
        (library / "helper.py").write_text("")
        for name in ("tokenize", "plot", "report"):
            (root / "pipeline" / f"{name}.py").write_text(SCRIPT.format(options=""))
        for name in ("train", "evaluate"):
            (root / "pipeline" / f"{name}.py").write_text(SCRIPT.format(options=MODEL_OPTIONS))
        for name in ("translate_ensemble", "evaluate_ensemble"):
            (root / "pipeline" / f"{name}.py").write_text(SCRIPT.format(options=ALL_SEEDS))
        (root / "params.yaml").write_text(PARAMS)
        (root / "pyproject.toml").write_text('[project]\nname = "toy"\n')
        return cls(root)

    def act(self, code: str) -> None:
        """Say what stages shall do."""
        (self.root / "act").write_text(code)
        (self.root / "started").unlink(missing_ok=True)

    def start(self, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
        """Start `python -m pipeline.run …`."""
        command = [sys.executable, "-m", "pipeline.run", *arguments]
        return subprocess.Popen(
            command, cwd=self.root, env=clean(environment), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=_hear_signals,
        )  # fmt: skip

    def run(self, *arguments: str, **environment: str) -> tuple[int, str]:
        """Run it to its end; return the exit code and what it wrote."""
        process = self.start(*arguments, **environment)
        output, _ = process.communicate(timeout=60)
        return process.returncode, output

    def wait_for_start(self) -> None:
        """Wait until a stage is at work."""
        wait_for(lambda: (self.root / "started").exists())

    def stop(self, signum: signal.Signals, *arguments: str) -> tuple[int, str]:
        """Run a stage, send it a signal when it is at work, return as `run` does."""
        process = self.start(*arguments)
        self.wait_for_start()
        process.send_signal(signum)
        output, _ = process.communicate(timeout=60)
        return process.returncode, output


def clean(extra: dict[str, str]) -> dict[str, str]:
    """Return this process's environment without what drivers and users set, and with `extra`."""
    dropped = ("DVC_", "MLFLOW_", "GIT_", "PYTHONPATH")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    return {**kept, "PYTHONWARNINGS": "ignore", **extra}


def wait_for(condition: object, seconds: float = 30) -> None:
    """Wait until a condition holds."""
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def _hear_signals() -> None:
    """Undo what a shell does to a command in the background: it lets it ignore SIGINT."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
