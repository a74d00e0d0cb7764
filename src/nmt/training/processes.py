"""Starting the processes that share one training, and ending all of them if one fails.

The process that was called leads, as number 0, so that logs, signals and locks are as they always
are; it starts the others on this machine. Or torchrun started all of them, and each takes its
place from the environment.
"""

import logging
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import distributed
from torch.distributed import FileStore  # type: ignore[attr-defined]
from tqdm import tqdm

from nmt.compute import ComputeSettings
from nmt.device import prepare
from nmt.errors import NmtError, ParamsError, TrainingError
from nmt.training.group import ALONE, Group

log = logging.getLogger(__name__)

Work = Callable[[Group, torch.device], None]
"""What each process does; it is pickled, so a function of a module."""

GRACE = 20.0  # seconds that the leader has for noticing by itself that another process failed
_SETTLE = 5.0  # seconds for an error here to show itself as the end of another process
_TIMEOUT = timedelta(days=1)  # the others wait while the leader encodes or validates
_READY = "ready"


def run_together(compute: ComputeSettings, work: Work) -> None:
    """Do work in `compute.processes` processes, this one among them.

    Raises:
        ParamsError: torchrun started another number of them.
        TrainingError: another process failed; all have ended.
        NmtError: the work itself raised it here.
    """
    started = int(os.environ.get("WORLD_SIZE", "1")) if "RANK" in os.environ else 1
    if started > 1:
        _take_place(started, compute, work)
    elif compute.processes > 1:
        _lead(compute, work)
    else:
        work(ALONE, prepare(compute))


def _take_place(started: int, compute: ComputeSettings, work: Work) -> None:
    """Be one of the processes that torchrun started."""
    if started != compute.processes:
        raise ParamsError(
            f"compute.processes: got {compute.processes}, but {started} processes were started; "
            "results depend on their number, so make the two equal"
        )
    group = Group(int(os.environ["RANK"]), started)
    if not group.leads:
        logging.getLogger("nmt").setLevel(logging.WARNING)
    device = _prepare(group, int(os.environ.get("LOCAL_RANK", group.rank)), compute)
    with _joined(group, device):
        work(group, device)


def _lead(compute: ComputeSettings, work: Work) -> None:
    """Start the other processes, and work with them."""
    if sys.platform == "linux":  # they meet on this machine: nothing listens on the network
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    group = Group(0, compute.processes)
    device = _prepare(group, 0, compute)
    with TemporaryDirectory(prefix="nmt-") as folder:
        meeting = Path(folder) / "meeting"
        with _Others(compute, work, meeting) as others:
            others.wait_until_ready()
            with _joined(group, device, meeting):
                work(group, device)


def _follow(
    group: Group, compute: ComputeSettings, work: Work, meeting: Path, leader: Connection
) -> None:
    """Be one of the processes that the leader started."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the leader ends the others
    threading.Thread(target=_end_with_leader, daemon=True).start()
    tqdm.set_lock(threading.RLock())  # its own is a semaphore, which a killed process leaves behind
    try:
        device = _prepare(group, group.rank, compute)
        leader.send(_READY)
        with _joined(group, device, meeting):
            work(group, device)
    except Exception as error:
        leader.send(_Failure.of(error))
        os._exit(1)  # at once: tidying up might wait for those that are still at work


def _end_with_leader() -> None:
    """End this process if the leader ends, even by a kill, whatever is being waited for."""
    leader = parent_process()
    assert leader is not None
    wait([leader.sentinel])
    os._exit(1)


def _prepare(group: Group, local: int, compute: ComputeSettings) -> torch.device:
    """Prepare the device; of several GPUs, the one with this process's number on its machine."""
    device = prepare(compute)
    if device.type == "cuda":
        if local >= torch.cuda.device_count():
            raise ParamsError(
                f"compute.processes: got {group.size}, but this machine has "
                f"{torch.cuda.device_count()} GPUs, and each process needs its own"
            )
        torch.cuda.set_device(local)
    return device


@contextmanager
def _joined(group: Group, device: torch.device, meeting: Path | None = None) -> Iterator[None]:
    """Join the processes for the block; they meet at a file, or where torchrun says.

    After an error they are not parted in order, which might wait for one that is gone.
    """
    distributed.init_process_group(
        "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo",
        store=FileStore(str(meeting), group.size) if meeting else None,
        rank=group.rank,
        world_size=group.size,
        timeout=_TIMEOUT,
    )
    yield
    distributed.destroy_process_group()


@dataclass(frozen=True)
class _Failure:
    """What a process said when it failed, and when: of several, the first is the cause."""

    time: float
    message: str
    trace: str = ""

    @classmethod
    def of(cls, error: Exception) -> "_Failure":
        if isinstance(error, NmtError):
            return cls(time.monotonic(), str(error))
        return cls(
            time.monotonic(), f"{type(error).__name__}: {error}", traceback.format_exc().rstrip()
        )


@dataclass(frozen=True)
class _Member:
    """A process that the leader started, the pipe through which it speaks, what came of it."""

    rank: int
    process: SpawnProcess
    pipe: Connection
    said: list[object] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return self.process.exitcode not in (None, 0)

    @property
    def ready(self) -> bool:
        return _READY in self._heard()

    def failure(self) -> _Failure:
        """Return why it ended; one that was killed said nothing, and is taken for the first."""
        for said in self._heard():
            if isinstance(said, _Failure):
                return said
        code = self.process.exitcode or 0
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return _Failure(0.0, f"it was ended by {name}")

    def _heard(self) -> list[object]:
        try:
            while self.pipe.poll():
                self.said.append(self.pipe.recv())
        except (EOFError, OSError):  # it has ended
            pass
        return self.said


class _Others:
    """The other processes. They end when the block ends, however it ends."""

    def __init__(self, compute: ComputeSettings, work: Work, meeting: Path) -> None:
        self._size = compute.processes
        self._over = threading.Event()
        self._members: list[_Member] = []
        context = get_context("spawn")
        for rank in range(1, self._size):
            here, there = context.Pipe(duplex=False)
            group = Group(rank, self._size)
            process = context.Process(
                target=_follow, args=(group, compute, work, meeting, there), daemon=True
            )
            process.start()
            there.close()
            self._members.append(_Member(rank, process, here))

    def __enter__(self) -> "_Others":
        threading.Thread(target=self._watch, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        self._over.set()
        # What goes wrong between processes may do so because one of them has gone.
        cause = self._failure(_SETTLE) if isinstance(error, RuntimeError) else None
        for member in self._members:
            member.process.join(0 if error else GRACE)
            member.process.kill()
            member.process.join()
        if cause:
            raise cause from error

    def wait_until_ready(self) -> None:
        """Wait until each has loaded its code and found its device.

        Raises:
            TrainingError: one failed instead.
        """
        for member in self._members:
            while not member.ready:
                failure = self._failure(0.0)
                if failure:
                    raise failure
                wait([member.pipe, member.process.sentinel])

    def _failure(self, seconds: float) -> TrainingError | None:
        """Return the failure that came first, if a process fails within some seconds."""
        end = time.monotonic() + seconds
        while not any(member.failed for member in self._members):
            if time.monotonic() >= end:
                return None
            time.sleep(0.1)
        time.sleep(0.2)  # for those that failed at the same time
        failed = [(member.failure(), member.rank) for member in self._members if member.failed]
        first, rank = min(failed, key=lambda item: item[0].time)
        if first.trace:
            log.error("process %d of %d:\n%s", rank, self._size, first.trace)
        return TrainingError(
            f"process {rank} of {self._size} (counted from 0) failed: {first.message}; "
            "all have been ended, and nothing was written"
        )

    def _watch(self) -> None:
        """End this process too if it waits in vain for one that failed: some waits have no end."""
        while not self._over.wait(1.0):
            if any(m.failed for m in self._members) and not self._over.wait(GRACE):
                log.error("%s", self._failure(0.0))
                os._exit(1)
