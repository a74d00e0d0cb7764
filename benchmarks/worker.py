"""A process of its own for contenders: with its own heap, and stopped while others run.

Two contenders in one process share what the C library keeps of freed memory, and threads that
wait for work may spin for a while. A stopped process can do neither to another. What is made in
it must not stand in a program's own module, so that it imports no more than it needs: its memory
is measured too.
"""

import ctypes
import importlib
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from nmt.errors import NmtError

ROOT = Path(__file__).resolve().parents[1]

Tasks = Mapping[str, Callable[[], Any]]
"""What a process can do, by name; results must be picklable."""


class WorkerError(NmtError):
    """A process of the benchmark ended before it answered."""


class Worker:
    """Runs tasks in a fresh process.

    Args:
        make: makes the tasks, in the new process; picklable.
        environment: variables of the new process alone, such as OMP_WAIT_POLICY; None for one
            that is unset.
        stage: whether its threads wait as those of a stage do, or as torch has it.

    Raises:
        WorkerError: the process ended; its traceback stands in the standard error.
    """

    def __init__(
        self,
        make: Callable[[], Tasks],
        environment: Mapping[str, str | None] | None = None,
        *,
        stage: bool = True,
    ) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", *(["stage"] if stage else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(environment or {}),
        )
        self._send(make)
        self.finish()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.send_signal(signal.SIGCONT)
        self._process.communicate()  # closes its input, at whose end it ends

    def run(self, name: str) -> Any:
        """Do a task and return its result.

        Raises:
            WorkerError: the process ended; its traceback stands in the standard error.
        """
        self.start(name)
        return self.finish()

    def start(self, name: str) -> None:
        """Let a task begin."""
        self._process.send_signal(signal.SIGCONT)
        self._send(name)

    def finish(self) -> Any:
        """Return the result of the task that began.

        Raises:
            WorkerError: the process ended; its traceback stands in the standard error.
        """
        result = self._receive()
        self._stop()
        return result

    def task(self, name: str) -> Callable[[], Any]:
        """Return a task as a function of this process."""
        return lambda: self.run(name)

    def _stop(self) -> None:
        """Stop the process, and wait until it has stopped (or ended)."""
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def _send(self, message: Any) -> None:
        assert self._process.stdin is not None
        try:
            pickle.dump(message, self._process.stdin)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None

    def _receive(self) -> Any:
        assert self._process.stdout is not None
        try:
            return pickle.load(self._process.stdout)
        except EOFError:
            raise self._ended() from None

    def _ended(self) -> WorkerError:
        return WorkerError(
            f"a process of the benchmark ended with code {self._process.wait()}; "
            "its own message stands above"
        )


def together(workers: Sequence[Worker], name: str) -> Any:
    """Let processes do a task that they share, such as a training; return the first one's result.

    Raises:
        WorkerError: one of the processes ended; its traceback stands in the standard error.
    """
    for worker in workers:
        worker.start(name)
    return [worker.finish() for worker in workers][0]


def _environment(changes: Mapping[str, str | None]) -> dict[str, str]:
    """Return the variables of a new process, which finds the modules of this project first."""
    found: dict[str, str | None] = {**os.environ, **changes}
    found["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    return {name: value for name, value in found.items() if value is not None}


def _serve() -> None:
    """Make the tasks that come first, then do each that is named, until the input ends."""
    _die_with_parent()
    if "stage" in sys.argv:
        importlib.import_module("pipeline")  # before torch is imported, with the first message
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed must not come between the answers
    tasks: Tasks = {}
    while True:
        try:
            message = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        if isinstance(message, str):
            result = tasks[message]()
        else:
            tasks, result = message(), None
        pickle.dump(result, answers)
        answers.flush()


def _die_with_parent() -> None:
    """Ask Linux to kill this process with its parent: a stopped one would stay for ever."""
    if sys.platform == "linux":
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


if __name__ == "__main__":
    _serve()
