"""The stages: one thin script each, run as `python -m pipeline.STAGE` in the project's folder."""

import os
import sys
from pathlib import Path

# The library of this very checkout wins over an installed one: a copy of the project (a replay,
# `dvc exp run --temp`) must run its own code, though an editable install names the first folder.
_SOURCE = str(Path(__file__).resolve().parent.parent / "src")
if sys.path[:1] != [_SOURCE]:
    sys.path.insert(0, _SOURCE)

# How long a thread spins before it sleeps while it waits for another. It must be said before
# torch is imported. OpenMP's own choice, milliseconds, makes two trainings on the same cores many
# times slower; no spinning at all makes one by itself slower (benchmarks/threads.py).
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")

# Only errors of torch's C++ part. It would warn of a choice that is meant (nmt.training.group).
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
