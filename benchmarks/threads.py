"""Speed of training with one thread and with two, and with threads that wait in either way.

A thread without work spins for a while before it sleeps: always (OMP_WAIT_POLICY active), never
(passive), for as long as a stage has it (pipeline/__init__.py), or as torch's OpenMP has it by
itself. That is read when a process starts, so each way has its own, stopped while others run.

Example:
    python -m benchmarks.threads
"""

from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

from benchmarks.command import program
from benchmarks.figures import Figure, rate, speed_ratio
from benchmarks.processes.training import default_process
from benchmarks.rounds import interleave
from benchmarks.setting import Setting
from benchmarks.worker import Worker
from nmt import script

POLICY = "OMP_WAIT_POLICY"


class Way(NamedTuple):
    """How many threads, how they wait, whether as in a stage, and what that is called."""

    threads: int
    policy: str | None
    stage: bool
    said: str


WAYS = {
    "one": Way(1, None, True, "one thread"),
    "two": Way(2, None, True, "two threads, waiting as in a stage"),
    "two_passive": Way(2, "passive", True, f"two threads, {POLICY} passive"),
    "two_active": Way(2, "active", True, f"two threads, {POLICY} active"),
    "two_usual": Way(2, None, False, "two threads, waiting as torch has it"),
}


def threads(setting: Setting) -> list[Figure]:
    """Time the default training in all ways in turn."""
    most = setting.sizes.most_threads
    with ExitStack() as stack:
        contenders = {}
        for name, way in WAYS.items():
            make = partial(default_process, setting, min(way.threads, most))
            unset = {"OMP_NUM_THREADS": None, "GOMP_SPINCOUNT": None, POLICY: way.policy}
            worker = stack.enter_context(Worker(make, unset, stage=way.stage))
            contenders[name] = worker.task("default")
        laps = interleave(contenders, setting.sizes.rounds, "threads")
    start = "training, default model: "
    pairs = (("two", "one"), ("two_active", "two_passive"), ("two", "two_passive"),
             ("two", "two_active"), ("two", "two_usual"))  # fmt: skip
    ratios = [
        speed_ratio(f"{top}_to_{bottom}", f"{start}{WAYS[top].said}: to {WAYS[bottom].said}",
                    laps[top], laps[bottom])
        for top, bottom in pairs
    ]  # fmt: skip
    speeds = [
        rate(name, f"{start}{way.said}", "target tokens/s", laps[name])
        for name, way in WAYS.items()
    ]
    return [*ratios, *speeds]


app = program("threads", threads)

if __name__ == "__main__":
    script.run(app)
