"""What is to be recorded of a stage's call, whatever it is recorded with."""

from dataclasses import dataclass
from pathlib import Path

from nmt.run.declared import Declared
from nmt.run.inputs import Inputs
from nmt.run.stage import Stage


@dataclass(frozen=True)
class Record:
    """A call of a stage and what it started from."""

    root: Path
    stage: Stage
    declared: Declared
    start: Inputs
