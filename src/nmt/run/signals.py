"""How a stage is told to stop: by a signal, or because what drives it has died."""

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import psutil

log = logging.getLogger(__name__)

GRACE = 20.0  # seconds that a stage has for ending after it was told to
LOOK_EVERY = 0.5  # seconds between two looks at the driver

_SHELLS = {"sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "busybox"}
_DRIVERS = {"dvc", "snakemake"}


class Interrupted(BaseException):
    """The stage was told to stop. No Exception, so that no `except Exception` swallows it.

    Args:
        signum: the signal that told it.
    """

    def __init__(self, signum: int) -> None:
        super().__init__(signal.Signals(signum).name)
        self.exit_code = 128 + signum


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise Interrupted in the main thread when SIGINT, SIGTERM or SIGHUP comes.

    Further signals within the grace period are passed over, for Ctrl-C often brings two; after
    it a signal ends the process at once. A signal that was ignored (nohup) stays ignored.
    Child processes made by forking die of a signal as usual.
    """
    first = 0.0

    def stop(signum: int, _: FrameType | None) -> None:
        nonlocal first
        if first == 0.0:
            first = time.monotonic()
            raise Interrupted(signum)
        if time.monotonic() - first > GRACE:
            os._exit(128 + signum)

    numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    numbers = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in numbers}
    os.register_at_fork(after_in_child=lambda: _reset(dict.fromkeys(numbers, signal.SIG_DFL)))
    try:
        yield
    finally:
        _reset(before)


def _reset(handlers: "dict[signal.Signals, signal._HANDLER]") -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)


def end_with_driver() -> None:
    """Watch DVC (and Snakemake above it) from a thread; stop this process if it dies.

    A killed DVC leaves the shell that it started alive, and so the stage. Only a stage that DVC
    started is watched over: one started by hand in the background may outlive its terminal.
    """
    drivers = _drivers() if "DVC_STAGE" in os.environ else []
    if drivers:
        threading.Thread(target=_watch, args=(drivers,), name="driver", daemon=True).start()


def _drivers() -> list[psutil.Process]:
    """Return the processes above this one that drive it: the nearest that is no shell, and on."""
    found: list[psutil.Process] = []
    for process in psutil.Process().parents():
        try:
            name, command = process.name(), process.cmdline()
        except psutil.Error:
            break
        if name in _SHELLS:
            continue
        if found and not _DRIVERS & {Path(word).name for word in command[:3]}:
            break
        found.append(process)
    return found


def _watch(drivers: list[psutil.Process]) -> None:
    while all(_alive(driver) for driver in drivers):
        time.sleep(LOOK_EVERY)
    log.warning("the process that started this stage has ended; ending too")
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(128 + signal.SIGTERM)


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
