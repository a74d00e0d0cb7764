"""The stages: one thin script each, run as `python -m pipeline.STAGE` in the project's folder."""

import os
import sys
from pathlib import Path

# The library of this very checkout wins over an installed one: a copy of the project (a replay,
# `dvc exp run --temp`) must run its own code, though an editable install names the first folder.
_SOURCE = str(Path(__file__).resolve().parent.parent / "src")
if sys.path[:1] != [_SOURCE]:
    sys.path.insert(0, _SOURCE)

# A thread that waits for another sleeps instead of spinning. It must be said before torch is
# imported. Two trainings at once on two cores are then fifteen times as fast.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
