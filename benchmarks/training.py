"""Speed of training: the tutorial's step-by-step loop, this project's decoders, and the bound.

All contenders train on the same batches of the real corpus, a whole step each (batch made,
forward, backward, clipping, optimizer), in turn. The loop runs in a process with torch's own
settings, as a user of the tutorial has it; and once more with this project's, whose allocator
keeps freed memory.

Example:
    python -m benchmarks.training
"""

import sys
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks.command import program
from benchmarks.figures import Figure, Lap, figure, rate, ratio, speed_ratio
from benchmarks.processes.training import (
    BFLOAT16,
    DECODERS,
    LOOPS,
    SAME,
    SHARED,
    WARM_UP,
    bfloat16_process,
    decoders_process,
    models_process,
    same_process,
    shared_process,
    usual_process,
)
from benchmarks.project import transformers, wanted_device
from benchmarks.rounds import interleave
from benchmarks.setting import Setting
from benchmarks.worker import Worker, together
from nmt import script

TOKENS = "target tokens/s"

WAYS = {
    "": ("", ""),
    SAME: ("", ", both with this project's settings"),
    BFLOAT16: (" in bfloat16", " in float32"),
    SHARED: (" in bfloat16, two processes of one thread", " in float32"),
}
"""Comparisons with the loops, by the ending of their names: what is said of ours, and of theirs."""


def training(setting: Setting) -> list[Figure]:
    """Time all contenders in turn."""
    models = ["default", "square", "own_shapes"]
    models += ["transformer"] if transformers(setting) else []
    with ExitStack() as stack:
        usual = stack.enter_context(Worker(partial(usual_process, setting), stage=False))
        same = stack.enter_context(Worker(partial(same_process, setting)))
        decoders = stack.enter_context(Worker(partial(decoders_process, setting)))
        bfloat16 = stack.enter_context(Worker(partial(bfloat16_process, setting)))
        own = stack.enter_context(Worker(partial(models_process, setting)))
        shared = _shared(setting, stack)
        contenders = {loop: usual.task(loop) for loop in LOOPS}
        contenders |= {loop + SAME: same.task(loop + SAME) for loop in LOOPS}
        contenders |= {name: decoders.task(name) for name in DECODERS}
        contenders |= {name: bfloat16.task(name) for name in _named(BFLOAT16)}
        contenders |= {name: partial(together, shared, name) for name in _named(SHARED) if shared}
        contenders |= {name: own.task(name) for name in models}
        laps = interleave(contenders, setting.sizes.rounds, "training", warm_up=WARM_UP)
        a_token: float = own.run("multiply_adds")
    return [*_to_loops(laps), *_to_bound(laps, a_token), *_speeds(laps)]


def _shared(setting: Setting, stack: ExitStack) -> list[Worker]:
    """Start the two processes that train together; none where they would need two GPUs."""
    if wanted_device(setting).type != "cpu":
        return []
    meeting = Path(tempfile.mkdtemp(dir=setting.work)) / "meeting"
    # They meet on this machine: nothing listens on the network.
    local = {"GLOO_SOCKET_IFNAME": "lo"} if sys.platform == "linux" else {}
    make = [partial(shared_process, setting, meeting, rank) for rank in range(2)]
    return [stack.enter_context(Worker(it, local)) for it in make]


def _named(ending: str) -> list[str]:
    return [name + ending for name in DECODERS]


def _to_loops(laps: dict[str, list[Lap]]) -> list[Figure]:
    """Return the ratios to the loops; of `SAME` the loop's own name ends so, else the decoder's."""
    found = []
    for ending, said in WAYS.items():
        for name, (_, loop) in DECODERS.items():
            ours, theirs = (name, loop + SAME) if ending == SAME else (name + ending, loop)
            if ours in laps:
                meaning = f"training, decoder {name}{said[0]}: to the {LOOPS[loop]}{said[1]}"
                found.append(speed_ratio(name + ending, meaning, laps[ours], laps[theirs]))
    return found


def _to_bound(laps: dict[str, list[Lap]], a_token: float) -> list[Figure]:
    speeds = [lap.rate for lap in laps["default"]]
    bound = [lap.rate / a_token for lap in laps["square"]]
    shapes = [lap.rate / a_token for lap in laps["own_shapes"]]
    gflops = {name: [2e-9 * lap.rate for lap in laps[name]] for name in ("square", "own_shapes")}
    of_bound = "training, default model: share of the bound"
    return [
        ratio("default_of_bound", f"{of_bound}, its products at the rate of square ones",
              speeds, bound),
        ratio("default_of_own_shapes", f"{of_bound}, its products at the rate of their own shapes",
              speeds, shapes),
        figure("bound", "the bound, at the rate of square products", TOKENS, bound),
        figure("multiply_adds", "of the default model's products", "millions a target token",
               [a_token / 1e6]),
        figure("square", "rate of large square float32 products", "GFLOP/s", gflops["square"]),
        figure("own_shapes", "rate of the default model's products", "GFLOP/s",
               gflops["own_shapes"]),
    ]  # fmt: skip


def _speeds(laps: dict[str, list[Lap]]) -> list[Figure]:
    said = {loop + SAME: f"{meaning}, this project's settings" for loop, meaning in LOOPS.items()}
    said |= LOOPS | {
        name + ending: f"decoder {name}{WAYS[ending][0]}, the loop's sizes"
        for ending in ("", BFLOAT16, SHARED)
        for name in DECODERS
    }
    said |= {"default": "default model and batches", "transformer": "transformer"}
    return [
        rate(name if name == "transformer" else f"{name}_speed", f"training, {said[name]}",
             TOKENS, of_it)
        for name, of_it in laps.items() if name in said
    ]  # fmt: skip


app = program("training", training)

if __name__ == "__main__":
    script.run(app)
