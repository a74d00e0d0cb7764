"""results.json: figures by part, with what they were measured on; and tables of them."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.figures import RATIO, Figure
from nmt.errors import DataError
from nmt.files import read_json, read_text, write_json, write_text
from nmt.pages import filled, marks

RESULTS_FILE = "results.json"
PART = "figures"
BEGIN, END = marks(PART)
"""Between these lines of a page the table stands."""

_DIGITS = 4


@dataclass(frozen=True)
class Results:
    """All figures of one machine.

    Args:
        machine: what they were measured on.
        quick: whether only a look was taken: such figures mean nothing.
        repeats: whole runs of which a figure is the median, for each part.
        parts: the figures of each part.
    """

    machine: dict[str, str]
    quick: bool
    repeats: dict[str, int]
    parts: dict[str, list[Figure]]

    @classmethod
    def read(cls, path: Path) -> "Results":
        """Read what `write` wrote.

        Raises:
            DataError: the file is missing or damaged.
        """
        found = read_json(path)
        parts: dict[str, list[Figure]] = {}
        try:
            for row in found["figures"]:
                parts.setdefault(row.pop("part"), []).append(Figure(**row))
            return cls(found["machine"], found["quick"], found["repeats"], parts)
        except (KeyError, TypeError) as error:
            raise DataError(f"{path}: not a file of results ({error}); run `make bench`") from None

    def write(self, path: Path) -> None:
        """Write values by part and key, and after them all figures with spread and meaning."""
        values = {part: {f.key: f.value for f in found} for part, found in self.parts.items()}
        rows = [{"part": part, **asdict(f)} for part, found in self.parts.items() for f in found]
        about: dict[str, Any] = {
            "machine": self.machine, "quick": self.quick, "repeats": self.repeats, "figures": rows,
        }  # fmt: skip
        write_json(path, _rounded(values | about))

    def added_to(self, path: Path) -> "Results":
        """Return these results with the other parts that a file holds of the same machine.

        Figures of another machine are left out, and those of a quick look among others.
        """
        if not path.exists():
            return self
        old = Results.read(path)
        if (old.machine, old.quick) != (self.machine, self.quick):
            return self
        return replace(self, repeats=old.repeats | self.repeats, parts=old.parts | self.parts)


def _rounded(value: Any) -> Any:
    """Round all numbers to as many digits as are worth reading."""
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def table(results: Results) -> str:
    """Return the figures as a table: the ratios first, then what they were made of."""
    lines = ["| figure | value | from … to | what it is |", "| --- | ---: | ---: | --- |"]
    rows = [(part, f) for part, found in results.parts.items() for f in found]
    for ratios in (True, False):
        lines += [_row(part, f) for part, f in rows if (f.unit == RATIO) == ratios]
    return "\n".join(lines)


def _row(part: str, figure: Figure) -> str:
    unit = "" if figure.unit == RATIO else f" {figure.unit}"
    spread = f"{_shown(figure.low)} … {_shown(figure.high)}" if figure.low < figure.high else ""
    value = f"{_shown(figure.value)}{unit}"
    return f"| `{part}.{figure.key}` | {value} | {spread} | {figure.meaning} |"


def _shown(value: float) -> str:
    """Return a number with three digits that count, and no exponent."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:#.3g}".rstrip(".")


def fill_in(page: Path, results: Results) -> None:
    """Put the table, and the machine, between the two marks of a page.

    Raises:
        DataError: the page lacks a mark.
    """
    said = "\n\n".join(_said(results))
    write_text(page, filled(read_text(page), PART, said, page))


def _said(results: Results) -> Iterator[str]:
    machine = "; ".join(f"{name.replace('_', ' ')}: {v}" for name, v in results.machine.items())
    runs = ", ".join(f"{part} {results.repeats[part]}" for part in results.parts)
    if results.quick:
        yield "**A quick look whether all works: these figures mean nothing.**"
    yield f"Measured on {machine}. Whole runs of which the median is shown: {runs}."
    yield table(results)
