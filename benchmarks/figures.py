"""What is measured: a lap of a contender, and figures of many laps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median


@dataclass(frozen=True)
class Lap:
    """One go of one contender.

    Args:
        seconds: how long it took.
        work: how much was done in it: real target tokens, sentences, multiply-adds.
    """

    seconds: float
    work: float

    @property
    def rate(self) -> float:
        """Work a second."""
        return self.work / self.seconds


Run = Callable[[], Lap]
"""A contender: does its work once and tells how long it took."""


@dataclass(frozen=True)
class Figure:
    """A figure with its spread.

    Args:
        key: name within its part, such as "no_attention".
        meaning: what it is, for a reader of the table.
        unit: such as "target tokens/s"; RATIO for a ratio.
        value: the median over the rounds, or a ratio of two medians.
        low: least value of a round.
        high: greatest value of a round.
    """

    key: str
    meaning: str
    unit: str
    value: float
    low: float
    high: float


RATIO = "×"


def figure(key: str, meaning: str, unit: str, values: Sequence[float]) -> Figure:
    """Return the median of the rounds' values."""
    return Figure(key, meaning, unit, median(values), min(values), max(values))


def rate(key: str, meaning: str, unit: str, laps: Sequence[Lap]) -> Figure:
    """Return the median rate of the laps."""
    return figure(key, meaning, unit, [lap.rate for lap in laps])


def ratio(key: str, meaning: str, top: Sequence[float], bottom: Sequence[float]) -> Figure:
    """Return the ratio of two medians; its spread is that of the ratios within a round."""
    each = [a / b for a, b in zip(top, bottom, strict=True)]
    return Figure(key, meaning, RATIO, median(top) / median(bottom), min(each), max(each))


def speed_ratio(key: str, meaning: str, top: Sequence[Lap], bottom: Sequence[Lap]) -> Figure:
    """Return how many times as fast the first contender is as the second."""
    return ratio(key, meaning, [lap.rate for lap in top], [lap.rate for lap in bottom])


def combined(runs: Sequence[Sequence[Figure]]) -> list[Figure]:
    """Return the median of each figure over whole runs of a part; the spread is that of all."""
    return [_over(same) for same in zip(*runs, strict=True)]


def _over(same: Sequence[Figure]) -> Figure:
    return replace(
        same[0],
        value=median(f.value for f in same),
        low=min(f.low for f in same),
        high=max(f.high for f in same),
    )
