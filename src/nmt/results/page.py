"""The tables of docs/results.md."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from scipy.stats import ttest_ind

from nmt.errors import DataError
from nmt.pages import filled
from nmt.report.comparisons import LEVEL
from nmt.report.quality import MISSING, SEEDS_FOR_BEST, Cell
from nmt.results.finished import repeat
from nmt.results.rows import PairedTest, Result

QUALITY, ABLATIONS = "quality", "ablations"
"""Names of the parts of the page."""

ABLATED = "params/ablations/"
"""Params files in this folder each change one thing of the reference."""

_REFERENCE = re.compile(r"^<!-- reference: (\S+) -->$", re.MULTILINE)
_BLEU, _TOKENS = "bleu", "bleu_tokens"


@dataclass(frozen=True)
class Group:
    """The seeds of one model of one params file, or its ensemble: a row of a table."""

    rows: tuple[Result, ...]

    @property
    def name(self) -> str:
        """Name it: the model, or its ensemble with the number of members."""
        first = self.rows[0]
        return f"{first.model} (ensemble of {first.members})" if first.ensemble else first.model

    @property
    def seeds(self) -> dict[str, Result]:
        """Any one row of each seed: what is the same for all scores of a training."""
        return {row.seed: row for row in self.rows}

    def scores(self, test: str, metric: str) -> Cell:
        """Return the scores of the seeds; none for a test set that it was not scored on."""
        chosen = [r.score for r in self.rows if (r.test_set, r.metric) == (test, metric)]
        return Cell(tuple(chosen) or (None,))

    def validation(self) -> Cell:
        """Return the validation BLEU of the seeds."""
        return Cell(tuple(row.validation_bleu for row in self.seeds.values()))


def with_tables(
    page: Path, text: str, results: Sequence[Result], paired: Sequence[PairedTest]
) -> str:
    """Return the text of the page with its tables made again.

    Args:
        page: to name it in an error.
        text: of the page.
        results: all rows, in order.
        paired: likewise, of the paired tests.

    Raises:
        DataError: the page lacks a mark, or scores in one table were counted in different ways.
    """
    reference = _reference(page, text)
    ablated = [
        row for row in results
        if row.params_file.startswith(ABLATED) and row.params_file != reference
    ]  # fmt: skip
    files = sorted({row.params_file for row in results} - {row.params_file for row in ablated})
    sections = [
        _section(
            file,
            [row for row in results if row.params_file == file],
            [row for row in paired if row.params_file == file],
        )
        for file in files
    ]
    text = filled(text, QUALITY, "\n\n".join(sections) or "No run has been added yet.", page)
    return filled(text, ABLATIONS, _ablations(reference, results, ablated), page)


def _section(file: str, rows: Sequence[Result], paired: Sequence[PairedTest]) -> str:
    return "\n\n".join(
        [
            f"### {file}",
            f"Repeat: `{repeat(file)}`",
            _quality(rows),
            "\n".join(_facts(rows)),
            *([_significance(paired)] if paired else []),
        ]
    )


def _quality(rows: Sequence[Result]) -> str:
    tests = _tests(rows)
    head = ["model", "seeds", "validation", *tests, "parameters", "minutes"]
    lines = [
        [
            group.name,
            _seeds(group),
            _validation(group),
            *(f"{_text(group, t, _BLEU)} ({_text(group, t, _TOKENS)})" for t in tests),
            f"{group.rows[0].parameters:,}",
            _minutes(group),
        ]
        for group in _groups(rows)
    ]
    return _table(head, lines, left=1)


def _facts(rows: Sequence[Result]) -> Iterator[str]:
    """Yield what holds for a table: how it was scored, where and with which code it was made."""
    yield f"- BLEU: `{_signature(rows, _BLEU)}`; in brackets: `{_signature(rows, _TOKENS)}`"
    yield from _origins(rows, lambda row: row.model)


def _origins(rows: Sequence[Result], name: Callable[[Result], str]) -> Iterator[str]:
    """Yield where and with which code rows were made, and what was noted, by the names of rows."""
    yield f"- code: {_told(rows, name, lambda row: _short(row.commit))}"
    yield f"- trained on: {_told(rows, name, lambda row: row.device or 'not recorded')}"
    notes = _told(rows, name, lambda row: row.note or "")
    if notes:
        yield f"- notes: {notes}"


def _told(
    rows: Sequence[Result], name: Callable[[Result], str], value: Callable[[Result], str]
) -> str:
    """List the values that rows have, each with the names of its rows if not all have the same."""
    values = list(dict.fromkeys(map(value, rows)))
    if len(values) == 1:
        return values[0]
    return "; ".join(
        f"{each} ({_listed(name(row) for row in rows if value(row) == each)})"
        for each in values
        if each
    )


def _significance(paired: Sequence[PairedTest]) -> str:
    """Return the differences to the baseline, means over its seeds, and how many are told apart."""
    tests = sorted({row.test_set for row in paired})
    pairs = sorted({(row.model, row.baseline) for row in paired})
    lines = [
        [model, baseline, *(_difference(
            [r for r in paired if (r.model, r.baseline, r.test_set) == (model, baseline, test)]
        ) for test in tests)]
        for model, baseline in pairs
    ]  # fmt: skip
    return _table(["paired test of", "against", *tests], lines, left=2)


def _difference(rows: Sequence[PairedTest]) -> str:
    if not rows:
        return MISSING
    apart = sum(row.p_value < LEVEL for row in rows)
    return f"{fmean(row.delta for row in rows):+.2f} ({apart} of {len(rows)})"


def _ablations(reference: str, results: Sequence[Result], ablated: Sequence[Result]) -> str:
    if not ablated:
        return "No ablation has been added yet."
    whole = [row for row in results if row.params_file == reference]
    told = [*whole, *ablated]
    signature, _ = (_signature(told, metric) for metric in (_BLEU, _TOKENS))
    tests = _tests(told)
    groups = _groups(ablated)
    names = {group.name for group in groups}
    to = {group.name: group for group in _groups(whole) if group.name in names}
    lines = [
        [*_named(base), *(cell.text() for cell in _cells(base, tests)), _minutes(base)]
        for base in to.values()
    ]
    for group in groups:
        base = to.get(group.name)
        others = _cells(base, tests) if base else [None] * (len(tests) + 1)
        pairs = zip(_cells(group, tests), others, strict=True)
        differences = (_against(cell, other) for cell, other in pairs)
        lines.append([*_named(group), *differences, _minutes(group)])
    head = ["params file", "model", "seeds", "validation", *tests, "minutes"]
    facts = [f"- BLEU: `{signature}`", *_origins(told, lambda row: Path(row.params_file).stem)]
    return "\n\n".join([_table(head, lines, left=2), "\n".join(facts)])


def _named(group: Group) -> list[str]:
    return [f"`{group.rows[0].params_file}`", group.name, _seeds(group)]


def _cells(group: Group, tests: Sequence[str]) -> list[Cell]:
    """Return the validation BLEU, and BLEU on each test set."""
    return [group.validation(), *(group.scores(test, _BLEU) for test in tests)]


def _against(cell: Cell, base: Cell | None) -> str:
    """Show the difference of two means, marked if seeds tell them apart, and the scores."""
    if cell.known is None:
        return MISSING
    if base is None or base.known is None:
        return f"{MISSING} ({cell.text()})"
    mark = "\\*" if _apart(cell.known, base.known) else ""
    return f"{fmean(cell.known) - fmean(base.known):+.2f}{mark} ({cell.text()})"


def _apart(one: Sequence[float], other: Sequence[float]) -> bool:
    """Tell whether the means of two samples differ, by Welch's t-test (1947)."""
    if min(len(one), len(other)) < SEEDS_FOR_BEST:
        return False
    return bool(ttest_ind(one, other, equal_var=False).pvalue < LEVEL)


def _reference(page: Path, text: str) -> str:
    found = _REFERENCE.search(text)
    if found is None:
        raise DataError(
            f"{page}: the line <!-- reference: FILE --> is missing; put it back, with the params "
            "file that ablations are compared with"
        )
    return found[1]


def _groups(rows: Sequence[Result]) -> list[Group]:
    """Return the rows by params file and model, the ensembles of a file last."""
    found: dict[tuple[str, bool, str], list[Result]] = {}
    for row in rows:
        found.setdefault((row.params_file, row.ensemble, row.model), []).append(row)
    return [Group(tuple(found[key])) for key in sorted(found)]


def _tests(rows: Sequence[Result]) -> list[str]:
    return sorted({row.test_set for row in rows})


def _signature(rows: Sequence[Result], metric: str) -> str:
    """Return how a metric was counted, which must be the same in all of a table."""
    found = sorted({row.signature for row in rows if row.metric == metric})
    if len(found) > 1:
        files = _listed(row.params_file for row in rows)
        raise DataError(
            f"{metric} of {files} was counted in different ways ({'; '.join(found)}), so it can't "
            "stand in one table; add the other runs again, or remove their rows"
        )
    return found[0] if found else MISSING


def _seeds(group: Group) -> str:
    return "" if group.rows[0].ensemble else str(len(group.seeds))


def _validation(group: Group) -> str:
    return "" if group.rows[0].ensemble else group.validation().text()


def _text(group: Group, test: str, metric: str) -> str:
    return group.scores(test, metric).text()


def _minutes(group: Group) -> str:
    known = [row.minutes for row in group.seeds.values() if row.minutes is not None]
    return f"{fmean(known):.0f}" if len(known) == len(group.seeds) else "not recorded"


def _short(commit: str) -> str:
    found = re.fullmatch(r"([0-9a-f]{7})[0-9a-f]{33}(-dirty)?", commit)
    return f"{found[1]}{found[2] or ''}" if found else commit


def _listed(names: Iterator[str] | Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _table(head: Sequence[str], lines: Sequence[Sequence[str]], left: int) -> str:
    """Return a table in Markdown, of whose columns the first `left` hold words."""
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *lines))
