"""The stages: one thin script each, run as `python -m pipeline.STAGE` in the project's folder."""

import sys
from pathlib import Path

# The library of this very checkout wins over an installed one: a copy of the project (a replay,
# `dvc exp run --temp`) must run its own code, though an editable install names the first folder.
_SOURCE = str(Path(__file__).resolve().parent.parent / "src")
if sys.path[:1] != [_SOURCE]:
    sys.path.insert(0, _SOURCE)
