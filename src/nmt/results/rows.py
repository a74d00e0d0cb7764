"""Rows of the tables of results, as they stand in CSV files."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from nmt.errors import DataError
from nmt.files import read_text


class Row(BaseModel):
    """A row of a CSV file, whose columns are the fields; an empty cell is None."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    KEY: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _empty_is_none(cls, cells: dict[str, Any]) -> dict[str, Any]:
        return {column: None if value == "" else value for column, value in cells.items()}

    @property
    def key(self) -> tuple[object, ...]:
        """What tells a row from others; rows stand in its order, seeds before other names."""
        return tuple(_ordered(getattr(self, name)) for name in self.KEY)

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """Return the names of the columns."""
        return tuple(cls.model_fields)


class Result(Row):
    """One score, and what it was made with: the columns of reports/bleu.csv, and more."""

    KEY = ("params_file", "model", "seed", "test_set", "metric")

    model: str = Field(description="name in the params file")
    seed: str = Field(description="of the training; a word for an ensemble")
    test_set: str = Field(description="its name")
    metric: str = Field(description="as in the score files")
    score: float | None = Field(description="None where it could not be computed")
    signature: str = Field(description="how the metric was computed")
    sentences: int = Field(description="hypotheses scored")
    params_file: str = Field(description="path relative to the project")
    parameters: int = Field(description="numbers learned; of all members together")
    minutes: float | None = Field(description="of training; None if no run of it is recorded")
    validation_bleu: float | None = Field(description="at the epoch kept; None for an ensemble")
    epochs: int | None = Field(description="trained; None for an ensemble")
    members: int = Field(description="models that translated together; 1 for one alone")
    device: str | None = Field(description="of the training; None if no run of it is recorded")
    commit: str = Field(description="of code and params file; ends in -dirty if either differs")
    note: str | None = Field(description="said when the row was added")

    @property
    def ensemble(self) -> bool:
        """Whether several models translated together."""
        return not self.seed.isdigit()


class PairedTest(Row):
    """One paired test: the columns of reports/significance.csv, and the params file."""

    KEY = ("params_file", "model", "seed", "test_set", "metric")

    model: str = Field(description="that was tested")
    baseline: str = Field(description="that it was tested against")
    seed: str = Field(description="of the baseline's training")
    test_set: str = Field(description="its name")
    metric: str = Field(description="that was tested")
    score: float = Field(description="of the model")
    baseline_score: float = Field(description="of the baseline")
    delta: float = Field(description="the first less the second")
    p_value: float = Field(description="not corrected for the number of tests")
    mean: float = Field(description="of the model's score over the resamples")
    half_interval_95: float = Field(description="likewise, half the interval of 95 %")
    baseline_mean: float = Field(description="likewise, of the baseline")
    baseline_half_interval_95: float = Field(description="likewise, of the baseline")
    signature: str = Field(description="how it was tested")
    params_file: str = Field(description="path relative to the project")


R = TypeVar("R", bound=Row)


def read_cells(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Return the rows of a CSV file as texts.

    Raises:
        DataError: it is missing, has other columns, or a row with more or fewer cells.
    """
    rows = list(csv.reader(io.StringIO(read_text(path), newline="")))
    if not rows or tuple(rows[0]) != tuple(columns):
        found = ", ".join(rows[0]) if rows else "nothing"
        raise DataError(f"{path}: expected the columns {', '.join(columns)}; got {found}")
    for number, row in enumerate(rows, 1):
        if len(row) != len(columns):
            raise DataError(f"{path}, row {number}: {len(row)} cells, expected {len(columns)}")
    return [dict(zip(columns, row, strict=True)) for row in rows[1:]]


def read_rows(path: Path, kind: type[R]) -> list[R]:
    """Return the rows of a file that `as_csv` wrote; none if there is no such file.

    Raises:
        DataError: it is damaged, naming row and column.
    """
    if not path.exists():
        return []
    found = read_cells(path, kind.columns())
    return [row_of(kind, cells, f"{path}, row {n}") for n, cells in enumerate(found, 2)]


def row_of(kind: type[R], cells: dict[str, Any], where: str) -> R:
    """Make a row of cells that may be texts.

    Raises:
        DataError: a cell is not what its column holds.
    """
    try:
        return kind.model_validate(cells)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        column = ".".join(map(str, first["loc"]))
        raise DataError(f"{where}: {column}: got {first['input']!r}; {first['msg']}") from None


def merged(old: Iterable[R], new: Iterable[R]) -> list[R]:
    """Return all rows in order; a new one takes the place of an old one of the same key."""
    by_key = {row.key: row for rows in (old, new) for row in rows}
    return [by_key[key] for key in sorted(by_key)]


def as_csv(kind: type[R], rows: Iterable[R]) -> str:
    """Return rows as the text of a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(kind.columns())
    writer.writerows(row.model_dump().values() for row in rows)
    return text.getvalue()


def _ordered(value: str) -> tuple[bool, int, str]:
    return (not value.isdigit(), int(value) if value.isdigit() else 0, value)
