"""One process a stage: a second one would write into the same folder."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from nmt.errors import NmtError

FOLDER = Path(".nmt/locks")


class LockedError(NmtError):
    """Another process runs the same stage."""


@contextmanager
def locked(root: Path, name: str) -> Iterator[None]:
    """Hold the lock of that name in the project while the block runs.

    The system gives the lock back when its holder ends, however it ends; a left-over file
    never blocks.

    Raises:
        LockedError: it is held; the message names the process that holds it.
    """
    lock = _file_lock(root, name, timeout=0)
    note = root / FOLDER / f"{name}.json"
    try:
        lock.acquire()
    except Timeout:
        raise LockedError(
            f"{name} is already being run by {_holder(note)}; wait until it has ended, or end it "
            "first (kill PID)"
        ) from None
    try:
        note.write_text(json.dumps({"pid": os.getpid()}), encoding="utf-8")
        yield
    finally:
        lock.release()


@contextmanager
def waiting(root: Path, name: str) -> Iterator[None]:
    """Hold the lock of that name, after waiting for whoever holds it."""
    with _file_lock(root, name, timeout=-1):
        yield


def _file_lock(root: Path, name: str, timeout: float) -> FileLock:
    (root / FOLDER).mkdir(parents=True, exist_ok=True)
    return FileLock(root / FOLDER / f"{name}.lock", timeout=timeout)


def _holder(note: Path) -> str:
    try:
        return f"process {json.loads(note.read_text(encoding='utf-8'))['pid']}"
    except (OSError, ValueError, KeyError):
        return "another process"  # it has the lock, but has not written its note yet
