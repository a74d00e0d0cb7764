"""What no code with these products can do without, at the loop's sizes: the least time of a step.

For each decoder the matrix products of a training step alone, at the rate that products of these
very shapes reach here, recurrent ones in as many steps as they need; and the loss over the
vocabulary with the optimizer's step alone, which both sides have in common. Gates, tanh, softmax of
attention, embeddings, gathering of batches and clipping are left out, so no training gets there.
The ratio to the loop is thus a ceiling of what `benchmarks.training` can show.

Example:
    python -m benchmarks.floor
"""

from contextlib import ExitStack
from functools import partial
from statistics import median

from benchmarks.command import program
from benchmarks.figures import Figure, Lap, figure, ratio
from benchmarks.processes.training import DECODERS, LOOPS, floor_process, usual_process
from benchmarks.rounds import interleave
from benchmarks.setting import Setting
from benchmarks.worker import Worker
from nmt import script

Laps = dict[str, list[Lap]]


def floor(setting: Setting) -> list[Figure]:
    """Time the loops, this project's decoders, and what is in any of them, in turn."""
    bare = [f"{name}_{part}" for name in DECODERS for part in ("products", "loss")]
    with ExitStack() as stack:
        usual = stack.enter_context(Worker(partial(usual_process, setting), stage=False))
        own = stack.enter_context(Worker(partial(floor_process, setting)))
        contenders = {loop: usual.task(loop) for loop in LOOPS}
        contenders |= {name: own.task(name) for name in [*DECODERS, *bare]}
        laps = interleave(contenders, setting.sizes.rounds, "floor")
    return [found for name in DECODERS for found in _figures(name, laps)]


def _figures(name: str, laps: Laps) -> list[Figure]:
    _, loop = DECODERS[name]
    whole, of_loop, products, loss = (
        [lap.seconds / lap.work for lap in laps[key]]
        for key in (name, loop, f"{name}_products", f"{name}_loss")
    )
    least = [a + b for a, b in zip(products, loss, strict=True)]
    said = f"decoder {name}, the loop's sizes: "
    return [
        ratio(f"{name}_ceiling", f"{said}{LOOPS[loop]}'s time, to that of products, loss and "
              "optimizer alone", of_loop, least),
        figure(f"{name}_products", f"{said}share of products alone in the time of a step", "share",
               [median(products) / median(whole)]),
        figure(f"{name}_loss", f"{said}share of loss and optimizer alone", "share",
               [median(loss) / median(whole)]),
    ]  # fmt: skip


app = program("floor", floor)

if __name__ == "__main__":
    script.run(app)
