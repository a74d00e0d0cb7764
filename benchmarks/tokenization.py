"""Speed of tokenization: the stage's tokenizers in one process and in two, and plain spaCy.

Each splits both sides of the training text, and opens its tokenizers first, since spaCy
remembers words that it has met. Two processes take a side each; their start is counted, for the
stage would have to start them too.

Example:
    python -m benchmarks.tokenization
"""

from functools import partial

from benchmarks.command import program
from benchmarks.figures import Figure, figure, rate, speed_ratio
from benchmarks.processes.tokenization import own_process
from benchmarks.rounds import interleave
from benchmarks.setting import Setting
from benchmarks.worker import Worker
from nmt import script

WAYS = {
    "one_process": "the stage's code in one process",
    "two_processes": "the stage's code in two processes",
    "plain": "nlp(text) in a loop",
}


def tokenization(setting: Setting) -> list[Figure]:
    """Time all ways in turn."""
    with Worker(partial(own_process, setting)) as worker:
        contenders = {name: worker.task(name) for name in WAYS}
        laps = interleave(contenders, setting.sizes.rounds, "tokenization")
    one, two, plain = (laps[name] for name in WAYS)
    speeds = [
        rate(name, f"tokenization, {said}", "sentences/s", laps[name])
        for name, said in WAYS.items()
    ]
    return [
        speed_ratio("to_plain", f"tokenization, one process: to {WAYS['plain']}", one, plain),
        speed_ratio("two_to_one", "tokenization: two processes to one", two, one),
        *speeds,
        figure("seconds", "tokenization of the training text, in one process", "s",
               [lap.seconds for lap in one]),
    ]  # fmt: skip


app = program("tokenization", tokenization)

if __name__ == "__main__":
    script.run(app)
