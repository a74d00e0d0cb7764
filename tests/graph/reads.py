"""What a stage really reads, against what dvc.yaml says that it reads."""

import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.dag import Stage
from nmt.params import Params
from nmt.run.inputs import flatten
from tests.world.project import ROOT, World

RECORDER = ROOT / "tests/graph/recorder.py"


@dataclass(frozen=True)
class Reads:
    """What a stage read: leaves of params.yaml, files, and its own loaded modules."""

    keys: set[str]
    files: set[str]
    modules: set[str]


def reads(world: World, stage: Stage) -> Reads:
    """Run a stage's script, as dvc.yaml calls it, and return what it read."""
    options = shlex.split(stage.command.partition("pipeline.run ")[2])
    record = world.base / f"{stage.address}.json"
    world.run(sys.executable, str(RECORDER), str(record), *options)
    found: dict[str, Any] = json.loads(record.read_text())
    return Reads(leaves(world, found["keys"]), set(found["files"]), set(found["modules"]))


def leaves(world: World, keys: list[str] | tuple[str, ...]) -> set[str]:
    """Return the dotted keys of all single values that stand at or below some keys."""
    params = Params.read(world.root / "params.yaml")
    return {leaf for key in keys for leaf in flatten(key, params.value(key))}


def undeclared_files(stage: Stage, found: Reads) -> list[str]:
    """Return the files that were read but stand in or below no dep."""
    return sorted(
        file
        for file in found.files
        if not any(Path(file).is_relative_to(dep) for dep in stage.deps)
    )


def unread_deps(stage: Stage, found: Reads) -> list[str]:
    """Return the deps on data of which no file was read."""
    return [
        dep
        for dep in stage.deps
        if not dep.startswith(("src/", "pipeline/"))
        and not any(Path(file).is_relative_to(dep) for file in found.files)
    ]
