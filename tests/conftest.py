"""Fixtures of all tests: the small world, made once and copied."""

from pathlib import Path

import pytest
from filelock import FileLock

from tests.world.project import World


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> World:
    """Return the small world after `dvc repro`, committed. Not to be changed: copy it.

    All workers share one, for it takes a minute.
    """
    own = tmp_path_factory.getbasetemp()
    base = (own if worker_id == "master" else own.parent) / "finished"
    with FileLock(f"{base}.lock"):
        if not (base / "done").exists():
            world = World.make(base)
            world.dvc("repro")
            world.commit("Run")
            (base / "done").touch()
    return World(base)


@pytest.fixture
def world(finished: World, tmp_path: Path) -> World:
    """Return a copy of the finished small world."""
    return finished.copy(tmp_path / "world")
