"""The CSV files of the report, in long form: one number a row."""

import csv
import io
from collections.abc import Iterable, Sequence

from nmt.evaluation.metrics import METRICS
from nmt.evaluation.scores import ModelScores
from nmt.report.comparisons import Outcome

SCORE_COLUMNS = ("model", "seed", "test_set", "metric", "score", "signature", "sentences")
TEST_COLUMNS = (
    "model",
    "baseline",
    "seed",
    "test_set",
    "metric",
    "score",
    "baseline_score",
    "delta",
    "p_value",
    "mean",
    "half_interval_95",
    "baseline_mean",
    "baseline_half_interval_95",
    "signature",
)
"""The means and half 95 % intervals are of the scores over the resamples."""


def scores_csv(scores: Sequence[ModelScores], tests: Sequence[str]) -> str:
    """Return a row for each model, seed, test set and metric; a missing score is empty.

    An ensemble has "ensemble" as its seed.
    """
    return _csv(
        SCORE_COLUMNS,
        (
            (
                one.model,
                one.seed_name,
                test,
                metric,
                getattr(one.tests[test], metric),
                one.signature(metric),
                one.tests[test].sentences,
            )
            for one in scores
            for test in tests
            for metric in METRICS
        ),
    )


def significance_csv(comparisons: Sequence[Outcome]) -> str:
    """Return a row for each comparison with the baseline, whose seed it names."""
    return _csv(
        TEST_COLUMNS,
        (
            (
                c.system,
                tested.baseline,
                tested.seed,
                tested.test,
                "bleu",
                c.score,
                c.baseline_score,
                c.delta,
                c.p_value,
                c.interval.mean,
                c.interval.half_width,
                c.baseline_interval.mean,
                c.baseline_interval.half_width,
                c.signature,
            )
            for tested in comparisons
            for c in (tested.comparison,)
        ),
    )


def _csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
