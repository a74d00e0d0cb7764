"""The history as text, JSON or CSV."""

import csv
import dataclasses
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nmt.history.best import Best, Spread
from nmt.history.rows import Row
from nmt.history.select import lookup

SHORT = ("run", "stage", "status", "started")


@dataclass(frozen=True)
class History:
    """What `nmt runs` shows.

    Args:
        address: of the store of runs.
        rows: those chosen.
        columns: their names.
        total: how many rows there are in all.
        revisions: how many commits and experiments were read.
        best: among the rows chosen.
        problems: what could not be read, one sentence each.
    """

    address: str
    rows: tuple[Row, ...]
    columns: tuple[str, ...]
    total: int
    revisions: tuple[int, int]
    best: Best | None
    problems: tuple[str, ...]


def default_columns(rows: Sequence[Row], metric: str) -> tuple[str, ...]:
    """Return run, stage, state, the validation metric, BLEU of each test, revisions, marks."""
    tests = sorted({key for row in rows for key in row.metrics if key.endswith(".bleu")})
    figures = [key for key in (metric, *tests) if any(key in row.metrics for row in rows)]
    return (*SHORT, *dict.fromkeys(figures), "revisions", "marks")


def as_text(history: History) -> str:
    """Return a table, and beneath it the best and what could not be read."""
    commits, experiments = history.revisions
    lines = _table(history.columns, [_cells(row, history.columns) for row in history.rows])
    lines += [
        "",
        f"{len(history.rows)} of {history.total} rows; runs: {history.address}; "
        f"DVC: {_many(commits, 'commit')} and {_many(experiments, 'experiment')}",
        *_best(history.best),
        *(f"not read: {problem}" for problem in history.problems),
    ]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def as_csv(history: History) -> str:
    """Return the columns of the table; lists joined by spaces."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(history.columns)
    for row in history.rows:
        values = [lookup(row, column) for column in history.columns]
        writer.writerow(["; ".join(v) if isinstance(v, tuple) else v for v in values])
    return file.getvalue()


def as_json(history: History) -> str:
    """Return all that is known of the rows chosen."""
    content: dict[str, Any] = {
        "store": history.address,
        "rows": [dataclasses.asdict(row) for row in history.rows],
        "total": history.total,
        "commits": history.revisions[0],
        "experiments": history.revisions[1],
        "best": dataclasses.asdict(history.best) if history.best else None,
        "problems": list(history.problems),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _cells(row: Row, columns: Sequence[str]) -> list[str]:
    return [_cell(lookup(row, column), column) for column in columns]


def _cell(value: str | float | tuple[str, ...] | None, column: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if value == int(value) else f"{value:.2f}"
    if isinstance(value, tuple):
        more = f" (+{len(value) - 1})" if len(value) > 1 and column == "revisions" else ""
        return (value[0] + more if more else ", ".join(value)) or "-"
    return value or "-"


def _table(columns: Sequence[str], rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    numeric = [
        bool(rows) and all(cell == "-" or _is_number(cell) for cell in cells)
        for cells in zip(*rows, strict=True)
    ] or [False] * len(columns)
    return [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        )
        for line in (list(columns), *rows)
    ]


def _is_number(cell: str) -> bool:
    return cell.lstrip("-").replace(".", "", 1).isdigit()


def _best(best: Best | None) -> list[str]:
    if best is None:
        return ["best: no finished run among these has the metric it is chosen by"]
    seeds = f"seed{'s' if len(best.seeds) > 1 else ''} {', '.join(best.seeds)}"
    alone = "" if best.chosen.deviation is not None else "; one seed: its spread is not known"
    few = "; others have more seeds, so luck may have chosen" if best.few else ""
    runs = ", ".join(run[:8] for run in best.runs)
    lines = [
        f"best by {best.metric}, of {_many(best.settings, 'setting')}: {best.model}, {seeds}: "
        f"{_spread(best.chosen)}{alone}{few} (runs {runs})"
    ]
    figures = [f"{key} {_spread(spread)}" for key, spread in best.tests.items()]
    if figures:
        lines.append(f"  its tests, no part of the choice: {', '.join(figures)}")
    return lines


def _spread(spread: Spread) -> str:
    if spread.deviation is None:
        return f"{spread.mean:.2f}"
    return f"{spread.mean:.2f} ± {spread.deviation:.2f} ({spread.least:.2f} to {spread.most:.2f})"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
