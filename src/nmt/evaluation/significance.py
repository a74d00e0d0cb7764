"""Is one system really better than another: sacreBLEU's paired bootstrap (Koehn 2004)."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sacrebleu.significance import PairedTest, Result

from nmt.evaluation.metrics import bleu_metric, rounded
from nmt.evaluation.settings import EvaluationSettings


@dataclass(frozen=True)
class Interval:
    """The middle 95 % of the resampled scores: mean plus or minus half the width."""

    mean: float
    half_width: float


@dataclass(frozen=True)
class Comparison:
    """One system against the baseline on one test set.

    Args:
        system: its name.
        baseline_score: BLEU of the baseline.
        score: BLEU of the system.
        baseline_interval: of the baseline's score over resamples.
        interval: of the system's.
        p_value: probability of a difference at least as large, were there none.
        signature: sacreBLEU's, with number of resamples and seed.
    """

    system: str
    baseline_score: float
    score: float
    baseline_interval: Interval
    interval: Interval
    p_value: float
    signature: str

    @property
    def delta(self) -> float:
        """Score of the system less that of the baseline."""
        return rounded(self.score - self.baseline_score)


@dataclass(frozen=True)
class Bootstrap:
    """How often the test set is drawn anew, and from which seed (at least 1)."""

    samples: int
    seed: int


def paired_bootstrap(
    baseline: Sequence[str],
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str],
    settings: EvaluationSettings,
    lowercase: bool,
    bootstrap: Bootstrap,
) -> list[Comparison]:
    """Compare systems with a baseline on one test set, by BLEU of detokenised text.

    Args:
        baseline: text of the baseline, one a sentence.
        systems: name and text of each other system, in the same order of sentences.
        references: raw references.
        settings: those that the scores were made with.
        lowercase: whether BLEU lower-cases both sides.
        bootstrap: number of resamples and their seed.
    """
    metric = bleu_metric(settings, lowercase)
    named = [("baseline", list(baseline)), *((n, list(s)) for n, s in systems.items())]
    with _sacrebleu_seed(bootstrap.seed):
        test = PairedTest(
            named, {"BLEU": metric}, [list(references)], "bs", n_samples=bootstrap.samples
        )
        signatures, scores = test()
    first, *others = scores["BLEU"]
    signature = str(signatures["BLEU"])
    return [
        _compare(system, first, result, signature)
        for system, result in zip(systems, others, strict=True)
    ]


def _compare(system: str, baseline: Result, result: Result, signature: str) -> Comparison:
    # sacreBLEU counts resamples that differ by *more*; two equal outputs give none, and so the
    # smallest p-value there is. Without a difference there is nothing to test.
    p_value = 1.0 if result.score == baseline.score else result.p_value
    return Comparison(
        system,
        rounded(baseline.score),
        rounded(result.score),
        _interval(baseline),
        _interval(result),
        rounded(p_value),
        signature,
    )


def _interval(result: Result) -> Interval:
    return Interval(rounded(float(result.mean)), rounded(float(result.ci)))


@contextmanager
def _sacrebleu_seed(seed: int) -> Iterator[None]:
    """Set the seed in the one way that sacreBLEU offers, its environment variable."""
    name = "SACREBLEU_SEED"
    before = os.environ.get(name)
    os.environ[name] = str(seed)
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
