"""Quality tables: models down, test sets across, mean and spread over seeds; ensembles below."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nmt.ensembles import stage_address
from nmt.errors import DataError
from nmt.evaluation.metrics import METRICS
from nmt.evaluation.scores import ModelScores, read_scores, scores_path
from nmt.grid import GridSettings

SEEDS_FOR_BEST = 3
"""Fewer seeds tell no model the best: with two, chance alone parts two equal models one time in
three; with three, one time in ten."""

MISSING = "missing"
"""What stands for a value that is not there: never 0, and never the best."""

TITLES = {
    "bleu": "BLEU",
    "bleu_tokens": "BLEU on tokens",
    "chrf": "chrF",
    "token_accuracy": "Token accuracy, %",
}
_SCALE = {"token_accuracy": 100.0}


@dataclass(frozen=True)
class Cell:
    """One model on one test set.

    Args:
        values: one score a seed; None where there is none.
        best: whether every seed beats every seed of every other model.
    """

    values: tuple[float | None, ...]
    best: bool = False

    @property
    def known(self) -> tuple[float, ...] | None:
        """Return the scores if none is missing."""
        known = tuple(v for v in self.values if v is not None)
        return known if len(known) == len(self.values) else None

    def text(self, scale: float = 1.0) -> str:
        """Return the mean, and the sample standard deviation if there are several seeds."""
        if self.known is None:
            return MISSING
        mean = f"{statistics.fmean(self.known) * scale:.2f}"
        if len(self.known) < 2:
            return mean
        return f"{mean} ± {statistics.stdev(self.known) * scale:.2f}"


@dataclass(frozen=True)
class Row:
    """One model or ensemble.

    Args:
        model: its name; of an ensemble, with the number of members.
        parameters: numbers that it learned; of an ensemble, all members together.
        cells: one for each test set.
        ensemble: whether it is one.
    """

    model: str
    parameters: int
    cells: tuple[Cell, ...]
    ensemble: bool = False


@dataclass(frozen=True)
class Table:
    """All models, then all ensembles, on all test sets by one metric, computed in one way."""

    metric: str
    signature: str
    tests: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def title(self) -> str:
        """Name the metric as people do."""
        plus = self.metric == "chrf" and "nw:0" not in self.signature
        return TITLES[self.metric] + ("++" if plus else "")

    @property
    def scale(self) -> float:
        """What values are multiplied with when they are shown."""
        return _SCALE.get(self.metric, 1.0)


def read_grid(folder: Path, grid: GridSettings, tests: Sequence[str]) -> list[ModelScores]:
    """Read the scores of the grid, models, then ensembles, and check that one table may hold them.

    Raises:
        DataError: a file or a test set is missing (naming the stage to run), or two files were
            made with different settings, signatures or numbers of sentences.
    """
    scores = [read_scores(folder, model, seed) for model, seed in grid.results()]
    for one in scores:
        missing = [test for test in tests if test not in one.tests]
        if missing:
            raise DataError(
                f"{scores_path(folder, one.model, one.seed)}: no scores on {', '.join(missing)}; "
                f"run `dvc repro {stage_address('evaluate', one.model, one.seed)}`"
            )
    for other in scores[1:]:
        _check_alike(folder, scores[0], other, tests)
    return scores


def quality_tables(
    scores: Sequence[ModelScores], grid: GridSettings, tests: Sequence[str]
) -> list[Table]:
    """Return one table for each metric."""
    return [_table(metric, scores, grid, tests) for metric in METRICS]


def _table(
    metric: str, scores: Sequence[ModelScores], grid: GridSettings, tests: Sequence[str]
) -> Table:
    alone = [s for s in scores if not s.ensemble]
    seeds = {model: [s for s in alone if s.model == model] for model in grid.models}
    columns = [
        mark_best([Cell(tuple(_value(s, test, metric) for s in seeds[m])) for m in grid.models])
        for test in tests
    ]
    rows = [
        Row(model, seeds[model][0].parameters, tuple(column[i] for column in columns))
        for i, model in enumerate(grid.models)
    ]
    # One result each, without a spread: none is set beside the seeds of a model as the best.
    rows += [
        Row(s.label, s.parameters, tuple(Cell((_value(s, t, metric),)) for t in tests), True)
        for s in scores
        if s.ensemble
    ]
    return Table(metric, scores[0].signature(metric), tuple(tests), tuple(rows))


def _value(scores: ModelScores, test: str, metric: str) -> float | None:
    value: float | None = getattr(scores.tests[test], metric)
    return value


def mark_best(cells: Sequence[Cell]) -> list[Cell]:
    """Mark the cell whose worst seed beats the best seed of every other, if there is one.

    Nothing is marked with fewer than SEEDS_FOR_BEST seeds, with one model alone, or where a
    value is missing: what is not known might be the best.
    """
    known = [cell.known for cell in cells]
    if len(cells) < 2 or any(k is None or len(k) < SEEDS_FOR_BEST for k in known):
        return list(cells)
    ranges = [(min(k), max(k)) for k in known if k is not None]
    return [
        replace(cell, best=all(low > high for j, (_, high) in enumerate(ranges) if j != i))
        for i, (cell, (low, _)) in enumerate(zip(cells, ranges, strict=True))
    ]


def _check_alike(
    folder: Path, first: ModelScores, other: ModelScores, tests: Sequence[str]
) -> None:
    """Check that nothing but the models differs."""
    compared: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("signature of ", dict(first.signatures), dict(other.signatures)),
        ("", dict(first.settings), dict(other.settings)),
        (
            "sentences of ",
            {test: first.tests[test].sentences for test in tests},
            {test: other.tests[test].sentences for test in tests},
        ),
    ]
    for what, one, two in compared:
        for key in sorted(one.keys() | two.keys()):
            if one.get(key) != two.get(key):
                a, b = (scores_path(folder, s.model, s.seed).name for s in (first, other))
                raise DataError(
                    f"{folder}: {a} and {b} can't stand in one table: {what}{key} is "
                    f"{one.get(key)!r} and {two.get(key)!r}; run `dvc repro` to score both alike"
                )
