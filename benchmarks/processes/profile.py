"""Steps of a training under torch's profiler."""

from functools import partial
from typing import NamedTuple

from torch.profiler import ProfilerActivity, profile

from benchmarks.project import (
    any_model,
    compute_settings,
    new_trainer,
    read_corpus,
    spread_batches,
    timed_training,
    training_settings,
)
from benchmarks.setting import Setting


class Operation(NamedTuple):
    """What one operation takes: its share of the time (0 to 1), and its calls a step."""

    name: str
    share: float
    calls: int


def operations(setting: Setting, model: str) -> list[Operation]:
    """Train some batches and return the operations by falling share.

    Args:
        setting: what is trained on.
        model: an entry of the `models` section.
    """
    training = training_settings(setting, model)
    corpus = read_corpus(setting, training.max_length)
    compute = compute_settings(setting)
    trainer = new_trainer(any_model(setting, model), corpus, training, compute)
    plan = spread_batches(corpus.pairs, training, setting.sizes.batches)
    steps = partial(timed_training, trainer, corpus.pairs, plan)
    steps()  # to warm up
    cuda = trainer.device.type == "cuda"
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if cuda else [])]
    with profile(activities=activities) as profiler:
        steps()
    events = list(profiler.key_averages())
    kind = "self_device_time_total" if cuda else "self_cpu_time_total"
    times = [getattr(event, kind) for event in events]
    found = [
        Operation(event.key, time / sum(times), round(event.count / len(plan)))
        for event, time in zip(events, times, strict=True)
    ]
    return sorted(found, key=lambda operation: -operation.share)
