"""What no code for these models can do without, at the loop's sizes: the least time of a step.

Of each decoder, alone: the matrix products of a training step, at the rate that products of these
very shapes reach here, recurrent ones in as many steps as they need; the sigmoids and tanhs of
gates and of additive attention with their gradients; and the loss over the vocabulary with the
optimizer's step, which both sides have in common. Sums, softmax of attention, embeddings, the
making of batches and clipping are left out, so no training gets there. The ratio to the loop is
thus a ceiling of what `benchmarks.training` can show.

Example:
    python -m benchmarks.floor
"""

from contextlib import ExitStack
from functools import partial
from statistics import median

from benchmarks.command import program
from benchmarks.figures import Figure, Lap, figure, ratio
from benchmarks.processes.training import DECODERS, LOOPS, WARM_UP, floor_process, usual_process
from benchmarks.rounds import interleave
from benchmarks.setting import Setting
from benchmarks.worker import Worker
from nmt import script

Laps = dict[str, list[Lap]]

PARTS = {
    "products": "products",
    "gates": "sigmoids and tanhs",
    "loss": "loss and optimizer",
}
"""What is timed alone, and what it is called."""


def floor(setting: Setting) -> list[Figure]:
    """Time the loops, this project's decoders, and what is in any of them, in turn."""
    bare = [f"{name}_{part}" for name in DECODERS for part in PARTS]
    with ExitStack() as stack:
        usual = stack.enter_context(Worker(partial(usual_process, setting), stage=False))
        own = stack.enter_context(Worker(partial(floor_process, setting)))
        contenders = {loop: usual.task(loop) for loop in LOOPS}
        contenders |= {name: own.task(name) for name in [*DECODERS, *bare]}
        laps = interleave(contenders, setting.sizes.rounds, "floor", warm_up=WARM_UP)
    return [found for name in DECODERS for found in _figures(name, laps)]


def _figures(name: str, laps: Laps) -> list[Figure]:
    _, loop = DECODERS[name]
    times = {key: [lap.seconds / lap.work for lap in found] for key, found in laps.items()}
    alone = {part: times[f"{name}_{part}"] for part in PARTS}
    least = [sum(each) for each in zip(*alone.values(), strict=True)]
    said = f"decoder {name}, the loop's sizes"
    ceiling = f"{said}: time of the {LOOPS[loop]}, to that of these parts alone"
    return [
        ratio(f"{name}_ceiling", ceiling, times[loop], least),
        *(
            figure(f"{name}_{part}", f"{said}: time of {meaning} alone", "of a step",
                   [median(alone[part]) / median(times[name])])
            for part, meaning in PARTS.items()
        ),
    ]  # fmt: skip


app = program("floor", floor)

if __name__ == "__main__":
    script.run(app)
