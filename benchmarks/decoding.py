"""Speed of decoding: one sentence at a time, batches searched greedily, and beam 5.

The first sentences of the first test set are translated by the default model, in turn. It is the
one in models/ if that belongs to this corpus; else one that learns from some batches first, so
that its translations have about the usual length.

Example:
    python -m benchmarks.decoding
"""

from functools import partial

from benchmarks.command import program
from benchmarks.figures import Figure, figure, rate, speed_ratio
from benchmarks.processes.decoding import WAYS, About, own_process
from benchmarks.rounds import interleave
from benchmarks.setting import Setting
from benchmarks.worker import Worker
from nmt import script


def decoding(setting: Setting) -> list[Figure]:
    """Time all ways in turn."""
    with Worker(partial(own_process, setting)) as worker:
        contenders = {name: worker.task(name) for name in WAYS}
        laps = interleave(contenders, setting.sizes.rounds, "decoding")
        about: About = worker.run("about")
    slowest = laps["one_at_a_time"]
    ratios = [
        speed_ratio(name, f"decoding, {WAYS[name][0]}: to one sentence at a time",
                    laps[name], slowest)
        for name in ("batched_greedy", "beam5")
    ]  # fmt: skip
    speeds = [
        rate(f"{name}_speed", f"decoding, {said}; {about.model}", "sentences/s", laps[name])
        for name, (said, *_) in WAYS.items()
    ]
    length = figure("length", "mean length of these translations", "tokens", [about.length])
    return [*ratios, *speeds, length]


app = program("decoding", decoding)

if __name__ == "__main__":
    script.run(app)
