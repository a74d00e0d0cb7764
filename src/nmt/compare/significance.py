"""Paired tests between two systems, each trained with one seed or several.

With one seed the numbers are those of `sacrebleu --paired-bs` and `--paired-ar`: the same draws,
the same counts. With several, whole sentences are drawn (or swapped) for all seeds together, and
the statistic is the difference of the mean scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sacrebleu.metrics import BLEU

Counts = npt.NDArray[np.float64]
"""(N,10): sacreBLEU's counts of each sentence: lengths of output and reference, n-grams."""


@dataclass(frozen=True)
class Draws:
    """How often is drawn, and from which seed (at least 1); sacreBLEU's own defaults."""

    resamples: int = 1000
    trials: int = 10000
    seed: int = 12345


@dataclass(frozen=True)
class Evidence:
    """What the tests tell of B against A on one test set.

    Args:
        a: BLEU of each seed of A.
        b: BLEU of each seed of B, paired.
        delta: mean of B less mean of A.
        interval: middle 95 % of the difference over the resamples.
        bootstrap: p-value of the paired bootstrap (Koehn 2004).
        randomization: p-value of approximate randomization (Riezler and Maxwell 2005).
        same: whether the translations are the same, to the letter.
        signature: of the metric, and of both tests.
    """

    a: tuple[float, ...]
    b: tuple[float, ...]
    delta: float
    interval: tuple[float, float]
    bootstrap: float
    randomization: float
    same: bool
    signature: str

    @property
    def p(self) -> float:
        """The greater of the two p-values: the more careful one."""
        return max(self.bootstrap, self.randomization)


def paired_tests(
    a: Sequence[Sequence[str]],
    b: Sequence[Sequence[str]],
    references: Sequence[str],
    metric: BLEU,
    draws: Draws,
) -> Evidence:
    """Test B against A.

    Args:
        a: translations of A, one list for each seed.
        b: those of B; the n-th is paired with A's n-th.
        references: one a sentence.
        metric: that the scores were made with.
        draws: how often, and the seed.
    """
    same = list(map(list, a)) == list(map(list, b))
    counts_a = [_counts(metric, texts, references) for texts in a]
    counts_b = [_counts(metric, texts, references) for texts in b]
    scores_a = tuple(_score(metric, counts.sum(0)) for counts in counts_a)
    scores_b = tuple(_score(metric, counts.sum(0)) for counts in counts_b)
    delta = float(np.mean(scores_b) - np.mean(scores_a))
    differences = _resampled(metric, counts_b, draws) - _resampled(metric, counts_a, draws)
    shifted = np.abs(differences) - np.abs(differences).mean()
    swapped = _swapped(metric, counts_a, counts_b, draws)
    signature = f"{metric.get_signature()}|seed:{draws.seed}|bs:{draws.resamples}|ar:{draws.trials}"
    return Evidence(
        scores_a, scores_b, delta, _interval(differences),
        # Nothing differs by *more* than no difference: sacreBLEU then gives its least p-value.
        1.0 if same or delta == 0 else _p_value(shifted, abs(delta)),
        1.0 if same or delta == 0 else _p_value(np.abs(swapped), abs(delta)),
        same, signature,
    )  # fmt: skip


def _counts(metric: BLEU, texts: Sequence[str], references: Sequence[str]) -> Counts:
    return np.array(metric._extract_corpus_statistics(list(texts), [list(references)]), np.float64)


def _score(metric: BLEU, counts: npt.NDArray[Any]) -> float:
    return float(metric._compute_score_from_stats([int(count) for count in counts]).score)


def _resampled(metric: BLEU, systems: Sequence[Counts], draws: Draws) -> Counts:
    """Return the mean score over the seeds on each resample (R,)."""
    rng = np.random.default_rng(draws.seed)
    size = len(systems[0])
    chosen = rng.choice(size, size=(draws.resamples, size), replace=True)
    times = np.stack([np.bincount(row, minlength=size) for row in chosen]).astype(np.float64)
    means: Counts = np.mean([_scores(metric, times @ counts) for counts in systems], axis=0)
    return means


def _swapped(
    metric: BLEU, a: Sequence[Counts], b: Sequence[Counts], draws: Draws
) -> npt.NDArray[np.float64]:
    """Return the difference of the mean scores in each trial (R,)."""
    rng = np.random.default_rng(draws.seed)
    stay = rng.integers(2, size=(draws.trials, len(a[0])), dtype=bool).astype(np.float64)
    go = 1.0 - stay
    pairs = list(zip(a, b, strict=True))
    one = np.mean([_scores(metric, stay @ x + go @ y) for x, y in pairs], axis=0)
    other = np.mean([_scores(metric, go @ x + stay @ y) for x, y in pairs], axis=0)
    difference: npt.NDArray[np.float64] = one - other
    return difference


def _scores(metric: BLEU, sums: Counts) -> Counts:
    """Return the score of each row of summed counts (R,10)."""
    return np.array([_score(metric, row) for row in sums.round()])


def _p_value(statistics: Counts, difference: float) -> float:
    return (int((statistics > difference).sum()) + 1) / (len(statistics) + 1)


def _interval(differences: Counts) -> tuple[float, float]:
    ordered = np.sort(differences)
    edge = len(ordered) // 40
    return float(ordered[edge]), float(ordered[-1 - edge])
