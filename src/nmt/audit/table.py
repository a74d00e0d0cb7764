"""The tables of the report made again from the score files and hypotheses."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nmt.audit.findings import Check, Link, Status
from nmt.audit.scores import RAW, SCORES, TOKENS, quiet, reference_tokens, relative
from nmt.audit.tree import Project
from nmt.corpus.settings import DataSettings
from nmt.errors import DataError
from nmt.evaluation.settings import EvaluationSettings
from nmt.grid import GridSettings
from nmt.params import Params
from nmt.report.comparisons import compare_all
from nmt.report.job import Folders, Report
from nmt.report.quality import read_grid
from nmt.report.settings import ReportSettings
from nmt.report.tables import SCORE_COLUMNS, scores_csv, significance_csv

BLEU, SIGNIFICANCE = Path("reports/bleu.csv"), Path("reports/significance.csv")


@dataclass(frozen=True)
class Row:
    """One row of reports/bleu.csv, as it stands there."""

    model: str
    seed: str
    test: str
    metric: str
    score: str
    signature: str


def read_rows(root: Path) -> list[Row]:
    """Return the figures of reports/bleu.csv.

    Raises:
        DataError: it is missing, or lacks a column.
    """
    try:
        text = (root / BLEU).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{BLEU}: can't be read: {error}; `git checkout -- {BLEU}`") from None
    rows = list(csv.DictReader(io.StringIO(text)))
    lacking = [name for name in SCORE_COLUMNS if any(row.get(name) is None for row in rows)]
    if lacking or not rows:
        what = f"a row lacks {', '.join(lacking)}" if lacking else "no row"
        raise DataError(f"{BLEU}: {what}; `git checkout -- {BLEU}`")
    return [
        Row(r["model"], r["seed"], r["test_set"], r["metric"], r["score"], r["signature"])
        for r in rows
    ]


def check_tables(link: Link, params: Params, project: Project) -> None:
    """Make both CSV files again and compare them cell by cell."""
    root = project.root
    try:
        report = _report(params, root)
        scores = read_grid(root / SCORES, report.grid, report.data.tests)
    except DataError as error:
        link.add(Check.TABLE, Status.BROKEN, f"can't be made again: {relative(str(error), root)}")
        return
    _compare(link, BLEU, scores_csv(scores, report.data.tests), root)
    needed = (RAW, reference_tokens(params))
    missing = [str(path) for path in needed if not project.md5s(str(path))]
    if missing:
        link.add(
            Check.TABLE,
            Status.UNKNOWN,
            f"{SIGNIFICANCE}: not tested again: {' '.join(missing)} not here; "
            f"`dvc pull {' '.join(missing)}` would settle it",
        )
        return
    try:
        with quiet("sacrebleu"):
            outcomes = compare_all(report, scores)
    except DataError as error:
        link.add(
            Check.TABLE,
            Status.BROKEN,
            f"{SIGNIFICANCE}: can't be tested again: {relative(str(error), root)}",
        )
        return
    _compare(link, SIGNIFICANCE, significance_csv(outcomes), root)


def _report(params: Params, root: Path) -> Report:
    grid = params.section("grid", GridSettings)
    return Report(
        settings=params.section("report", ReportSettings),
        grid=grid,
        data=params.section("data", DataSettings),
        evaluation=params.section("evaluation", EvaluationSettings),
        models={},
        sections={},
        folders=Folders(
            root / RAW, root / TOKENS, root / "data/vocab", root / "translations", root / "reports"
        ),
    )


def _compare(link: Link, path: Path, expected: str, root: Path) -> None:
    try:
        found = (root / path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        link.add(Check.TABLE, Status.BROKEN, f"{path}: can't be read: {relative(str(error), root)}")
        return
    cells = list(_cells(found, expected))
    for text in cells[:5]:
        link.add(Check.TABLE, Status.BROKEN, f"{path}, {text}")
    if len(cells) > 5:
        link.add(Check.TABLE, Status.BROKEN, f"{path}: {len(cells) - 5} cells more differ")
    if not cells and found == expected:
        link.add(Check.TABLE, Status.OK, f"{path}: made again, every cell equal")
    elif not cells:
        link.add(Check.TABLE, Status.BROKEN, f"{path}: the cells are right, other bytes are not")


def _cells(found: str, expected: str) -> Iterator[str]:
    """Yield where two tables differ, one sentence a cell."""
    here, right = (list(csv.reader(io.StringIO(text))) for text in (found, expected))
    if len(here) != len(right):
        yield f"{len(here) - 1} rows, made again {len(right) - 1}"
        return
    for number, (row, wanted) in enumerate(zip(here, right, strict=True), 1):
        if len(row) != len(wanted):
            yield f"line {number}: {len(row)} cells, made again {len(wanted)}"
            continue
        for column, cell, value in zip(right[0], row, wanted, strict=True):
            if cell != value:
                keys = " ".join(w for c, w in zip(right[0], wanted, strict=True) if c in _KEYS)
                yield f"line {number} ({keys}), {column}: {cell}, made again {value}"


_KEYS = ("model", "seed", "test_set", "metric")
