"""The best setting by a validation metric, with the mean and spread of its seeds."""

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from nmt.history.rows import FINISHED, Row
from nmt.history.runs import HistoryError
from nmt.history.select import less_is_better

METRIC = "best.validation_bleu"


@dataclass(frozen=True)
class Spread:
    """Figures of several seeds."""

    mean: float
    deviation: float | None  # of the sample; None for one
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Return mean, sample standard deviation and range of some values."""
        deviation = statistics.stdev(values) if len(values) > 1 else None
        return cls(statistics.fmean(values), deviation, min(values), max(values))


@dataclass(frozen=True)
class Best:
    """The setting with the best mean over its seeds.

    Args:
        metric: that it was chosen by.
        model: its name.
        seeds: of its runs.
        runs: their ids.
        chosen: the metric over the seeds.
        tests: TEST.METRIC over the seeds that have it; no part of the choice.
        settings: how many settings it was chosen from.
        few: whether others have more seeds than it, so that luck may have chosen.
    """

    metric: str
    model: str
    seeds: tuple[str, ...]
    runs: tuple[str, ...]
    chosen: Spread
    tests: dict[str, Spread]
    settings: int
    few: bool


def best_of(rows: Sequence[Row], metric: str) -> Best | None:
    """Choose among settings (all that a training reads but its seed) by a validation metric.

    Only runs that finished enter, none that diverged; equal results count once. None if there
    is no run with that metric.

    Raises:
        HistoryError: the metric is of a test set, or of the training data.
    """
    if "validation" not in metric:
        raise HistoryError(
            f"--best {metric}: the best is chosen on validation data alone, for a test set that "
            f"something is chosen on tests no more; name one such as {METRIC}"
        )
    groups = _groups(rows, metric)
    if not groups:
        return None
    sign = 1 if less_is_better(metric) else -1
    ranked = sorted(groups, key=lambda g: (sign * _mean(g, metric), g[0].model, g[0].run))
    chosen = ranked[0]
    return Best(
        metric,
        chosen[0].model,
        tuple(row.seed for row in chosen),
        tuple(row.run for row in chosen),
        Spread.of([row.metrics[metric] for row in chosen]),
        _tests(chosen),
        len(groups),
        len(chosen) < max(len(group) for group in groups),
    )


def _groups(rows: Sequence[Row], metric: str) -> list[list[Row]]:
    groups: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in rows:
        if row.status == FINISHED and metric in row.metrics and "diverged" not in row.marks:
            groups[row.setting].setdefault(row.result or row.run, row)
    return [sorted(group.values(), key=lambda row: row.seed) for group in groups.values()]


def _mean(group: list[Row], metric: str) -> float:
    return statistics.fmean(row.metrics[metric] for row in group)


def _tests(group: list[Row]) -> dict[str, Spread]:
    keys = {key for row in group for key in row.metrics if key.endswith((".bleu", ".chrf"))}
    return {
        key: Spread.of([row.metrics[key] for row in group if key in row.metrics])
        for key in sorted(keys)
        if not key.startswith("best.")
    }
