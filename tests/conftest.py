"""Fixtures of all tests: the small world, made once and copied."""

import os
import shutil
from pathlib import Path

import pytest
from filelock import FileLock

from tests.world.project import World

# One thread a test process, said before torch is imported: two spinning for each of several
# processes would make the tests many times slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def _finish(world: World) -> None:
    world.dvc("repro")
    world.commit("Run")


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> World:
    """Return the small world after `dvc repro`, committed. Not to be changed: copy it.

    All workers share one, for it takes a minute.
    """
    own = tmp_path_factory.getbasetemp()
    base = (own if worker_id == "master" else own.parent) / "finished"
    done, failed = base / "done", base / "failed"
    with FileLock(f"{base}.lock"):
        if failed.exists():
            pytest.fail(f"the small world was not made; the first test that asked says why: {base}")
        if not done.exists():
            shutil.rmtree(base, ignore_errors=True)  # of a worker that was killed
            try:
                _finish(World.make(base))
            except BaseException:
                failed.touch()
                raise
            done.touch()
    return World(base)


@pytest.fixture
def world(finished: World, tmp_path: Path) -> World:
    """Return a copy of the finished small world."""
    return finished.copy(tmp_path / "world")
