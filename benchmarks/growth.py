"""How memory and time grow with the corpus, the width and the length of sentences.

Each cost is that of some steps of the default model in a process of its own, from reading the
token files on: with the corpus repeated, with wider models, and with sentences of one length,
made of real ones joined and cut. Decoding is measured at these lengths with random weights that
never end a sentence, so that all translations are as long as their sources.

Example:
    python -m benchmarks.growth
"""

from collections.abc import Callable, Iterator
from functools import partial

from benchmarks.command import program
from benchmarks.corpora import of_one_length, repeated
from benchmarks.figures import Figure, figure, ratio
from benchmarks.processes.costs import Cost, decoding_cost, training_cost
from benchmarks.rounds import interleave
from benchmarks.setting import Setting
from benchmarks.worker import Worker
from nmt import script

BASE = "base"


Costs = dict[str, list[Cost]]
Tasks = dict[str, Callable[[], Cost]]


def growth(setting: Setting) -> list[Figure]:
    """Measure all costs in turn."""
    tasks, sizes = _tasks(setting), setting.sizes
    if sizes.alone:
        fresh = {name: partial(_in_fresh_process, task) for name, task in tasks.items()}
        costs = interleave(fresh, sizes.probes, "growth", warm_up=0)
    else:
        with Worker(partial(dict, tasks)) as worker:
            shared = {name: worker.task(name) for name in tasks}
            costs = interleave(shared, sizes.probes, "growth", warm_up=0)
    return [*_by_corpus(setting, costs), *_by_width(setting, costs), *_by_length(setting, costs),
            *_base(setting, costs)]  # fmt: skip


def _tasks(setting: Setting) -> Tasks:
    """Make the corpora, and return what is measured, by name."""
    sizes = setting.sizes
    tasks: Tasks = {BASE: partial(training_cost, setting, 1)}
    for times in sizes.copies:
        tasks[f"corpus_{times}x"] = partial(training_cost, repeated(setting, times), 1)
    for times in sizes.widths:
        tasks[f"width_{times}x"] = partial(training_cost, setting, times)
    for length in sizes.lengths:
        made = of_one_length(setting, length)
        tasks[f"length_{length}"] = partial(training_cost, made, 1)
        tasks[f"decoding_{length}"] = partial(decoding_cost, made)
    return tasks


def _in_fresh_process(task: Callable[[], Cost]) -> Cost:
    with Worker(partial(dict, {"cost": task})) as worker:
        cost: Cost = worker.run("cost")
        return cost


def _by_corpus(setting: Setting, costs: Costs) -> Iterator[Figure]:
    for times in setting.sizes.copies:
        name, said = f"corpus_{times}x", f"training on {times} times the corpus, to once: "
        for what, meaning in (
            ("peak", "peak resident memory"),
            ("anonymous", "anonymous memory"),
            ("time", "time of a target token"),
            ("reading", "time to read and plan a token of it"),
        ):
            yield _to(f"{name}_{what}", said + meaning, costs[name], costs[BASE], what)


def _by_width(setting: Setting, costs: Costs) -> Iterator[Figure]:
    for times in setting.sizes.widths:
        name, said = f"width_{times}x", f"training at {times} times the width, to once: "
        for what, meaning in (
            ("peak", "peak resident memory"),
            ("time", "time of a target token"),
            ("work", "multiply-adds of a target token"),
        ):
            yield _to(f"{name}_{what}", said + meaning, costs[name], costs[BASE], what)


def _by_length(setting: Setting, costs: Costs) -> Iterator[Figure]:
    shortest, *longer = setting.sizes.lengths
    for kind, said in (("length", "training"), ("decoding", "decoding")):
        for length in longer:
            name = f"{kind}_{length}"
            start = f"{said}, sentences of {length} tokens, to {shortest}: "
            for what, meaning in (
                ("peak", "peak resident memory"), ("time", "time of a target token"),
            ):  # fmt: skip
                bottom = costs[f"{kind}_{shortest}"]
                yield _to(f"{name}_{what}", start + meaning, costs[name], bottom, what)


def _base(setting: Setting, costs: Costs) -> Iterator[Figure]:
    shortest = setting.sizes.lengths[0]
    for key, name, said in (
        ("", BASE, "training, default model"),
        ("decoding_", f"decoding_{shortest}", f"decoding, sentences of {shortest} tokens"),
    ):
        peaks = [cost.peak for cost in costs[name]]
        yield figure(f"{key}peak", f"{said}: peak resident memory", "MiB", peaks)
        anonymous = [cost.anonymous for cost in costs[name]]
        yield figure(f"{key}anonymous", f"{said}: anonymous memory", "MiB", anonymous)


def _to(key: str, meaning: str, top: list[Cost], bottom: list[Cost], what: str) -> Figure:
    """Return the ratio of one field of two costs."""
    return ratio(key, meaning, *([getattr(cost, what) for cost in side] for side in (top, bottom)))


app = program("growth", growth)

if __name__ == "__main__":
    script.run(app)
