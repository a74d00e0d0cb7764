"""Rows chosen by conditions, put in order, and cut to columns."""

import difflib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from nmt.history.rows import Row
from nmt.history.runs import HistoryError

FIELDS: dict[str, Callable[[Row], str | tuple[str, ...]]] = {
    "run": lambda row: row.run[:8],
    "stage": lambda row: row.stage,
    "model": lambda row: row.model,
    "seed": lambda row: row.seed,
    "status": lambda row: row.status,
    "started": lambda row: moment(row.started),
    "result": lambda row: row.result[:8],
    "revisions": lambda row: row.revisions,
    "marks": lambda row: row.marks,
}
"""What a row has beside params and metrics."""

_OPERATORS = ("!=", ">=", "<=", "==", "=", ">", "<", "~")
_LESS_IS_BETTER = ("loss", "perplexity", "minutes", "unknown", "empty", "cut")


@dataclass(frozen=True)
class Condition:
    """KEY OPERATOR VALUE; `~` asks whether the text holds the value."""

    key: str
    operator: str
    value: str

    @classmethod
    def parse(cls, said: str) -> "Condition":
        """Read a condition such as `test_2016_flickr.bleu>30`.

        Raises:
            HistoryError: it is none.
        """
        found = re.match(rf"\s*([^=!<>~\s]+)\s*({'|'.join(_OPERATORS)})\s*(.*?)\s*$", said)
        if not found:
            raise HistoryError(
                f"--where {said!r}: expected KEY, one of {' '.join(_OPERATORS)}, and a value, "
                "such as models.additive.hidden=384"
            )
        operator = found[2].replace("==", "=")
        if operator in (">", "<", ">=", "<=") and number(found[3]) is None:
            raise HistoryError(f"--where {said!r}: {operator} compares numbers; got {found[3]!r}")
        return cls(found[1], operator, found[3])

    def holds(self, row: Row) -> bool:
        """Tell whether a row fulfils it; one that lacks the key does not."""
        value = lookup(row, self.key)
        if value is None:
            return False
        if isinstance(value, tuple):
            held = any(self.value in v if self.operator == "~" else self.value == v for v in value)
            return not held if self.operator == "!=" else held
        return self._compare(value)

    def _compare(self, value: str | float) -> bool:
        left, right = number(value), number(self.value)
        if self.operator == "~":
            return self.value in str(value)
        if self.operator in ("=", "!="):
            equal = str(value) == self.value or (left is not None and left == right)
            return equal == (self.operator == "=")
        if left is None or right is None:
            return False
        return {
            ">": left > right, "<": left < right, ">=": left >= right, "<=": left <= right,
        }[self.operator]  # fmt: skip


def lookup(row: Row, key: str) -> str | float | tuple[str, ...] | None:
    """Return a row's field, metric or param of that name; None if it has none."""
    if key in FIELDS:
        return FIELDS[key](row)
    return row.metrics.get(key, row.params.get(key))


def require_known(rows: Sequence[Row], keys: Sequence[str]) -> None:
    """Check that each key is known of some row.

    Raises:
        HistoryError: naming what comes near.
    """
    known = {*FIELDS, *(key for row in rows for key in (*row.params, *row.metrics))}
    for key in keys:
        if rows and key not in known:
            near = difflib.get_close_matches(key, known, 3, 0.5) or sorted(FIELDS)
            raise HistoryError(f"no run has {key}; did you mean {', '.join(near)}?")


def in_order(rows: Sequence[Row], key: str, reverse: bool) -> list[Row]:
    """Sort rows: a metric from best to worst, all else upwards; those without it come last."""
    have = [row for row in rows if lookup(row, key) is not None]
    lack = [row for row in rows if lookup(row, key) is None]
    metric = any(key in row.metrics for row in have)
    downwards = (metric and not less_is_better(key)) != reverse

    def rank(row: Row) -> tuple[bool, float, str]:
        value = lookup(row, key)
        as_number = None if isinstance(value, tuple) else number(value)
        return (as_number is None, as_number or 0.0, str(value))

    return [*sorted(have, key=rank, reverse=downwards), *lack]


def less_is_better(key: str) -> bool:
    """Tell of a metric's name whether its least value is the best."""
    return any(word in key.rpartition(".")[2] for word in _LESS_IS_BETTER)


def number(value: str | float | None) -> float | None:
    """Return a value as a number; None if it is none."""
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def moment(milliseconds: int) -> str:
    """Write a time in UTC."""
    if not milliseconds:
        return ""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M")
