"""Runs of stages that DVC runs: hashes as in dvc.lock, and no run when nothing is done."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.unit.fake_project import ROOT, Project, clean, work
from tests.unit.tracked_runs import only, runs

TRAIN = {
    "matrix": {"model": ["a"], "seed": [1]},
    "cmd": f"{sys.executable} -m pipeline.run train --model ${{item.model}} --seed ${{item.seed}}",
    "deps": ["pipeline/train.py", "src/nmt/run", "data"],
    "params": ["training", "models.${item.model}"],
    "outs": ["models/${item.model}/${item.seed}"],
}


@pytest.fixture
def reproduced(tracked: Project) -> Project:
    """A project whose training DVC has run."""
    root = tracked.root
    shutil.copy(ROOT / "src/nmt/dag.py", root / "src/nmt")
    shutil.copy(ROOT / ".dvcignore", root)
    (root / "dvc.yaml").write_text(json.dumps({"stages": {"train": TRAIN}}))
    (root / "data").mkdir()
    (root / "data" / "text ü").write_text("ein Hund\n")
    tracked.act(work())
    dvc(root, "init", "-q", "--no-scm")
    dvc(root, "repro", "-q")
    return tracked


def dvc(root: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "dvc", *arguments]
    subprocess.run(command, cwd=root, env=clean({"DVC_NO_ANALYTICS": "1"}), check=True)


def test_a_run_points_to_what_dvc_locked(reproduced: Project) -> None:
    run = only(reproduced.root)
    lock: dict[str, Any] = YAML(typ="safe").load(reproduced.root / "dvc.lock")
    stage = lock["stages"]["train@a-1"]
    found = {key: value for key, value in run.data.tags.items() if key[:4] in ("dep.", "out.")}
    deps = {f"dep.{each['path']}": each["md5"] for each in stage["deps"]}
    outs = {f"out.{each['path']}": each["md5"] for each in stage["outs"]}
    assert found == deps | outs
    assert len(deps) == 3 and len(outs) == 1
    assert run.data.tags["stage.declared"] == "true"
    assert run.data.params == {
        "model": "a",
        "seed": "1",
        "training.rate": "0.5",
        "training.layers": "[1, 2]",
        "models.a.width": "4",
    }


def test_what_is_restored_or_up_to_date_makes_no_run(reproduced: Project) -> None:
    dvc(reproduced.root, "repro", "-q")
    shutil.rmtree(reproduced.root / "models")
    dvc(reproduced.root, "repro", "-q")
    assert (reproduced.root / "models/a/1/config.json").exists()
    assert len(runs(reproduced.root)) == 1
