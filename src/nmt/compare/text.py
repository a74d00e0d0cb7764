"""A comparison as text and as JSON."""

import dataclasses
import json
from collections.abc import Iterator, Sequence
from typing import Any

from nmt.compare import Comparison
from nmt.compare.cells import Cell, Metric, mean
from nmt.compare.code import Code
from nmt.compare.differences import Difference
from nmt.compare.sentences import Changed
from nmt.compare.verdict import show_p, signed

_MOST = 20
"""So many files, commits or packages are named in a text; JSON and HTML name all."""


def as_text(found: Comparison) -> str:
    """Return what a reader at a terminal wants, the verdict first."""
    differing = found.differences
    lines = [
        f"A: {found.a}",
        f"B: {found.b}",
        f"verdict: {found.verdict}",
        "",
        *_values("params", differing.params),
        *_code(differing.code),
        *_values("data", differing.data),
        *_values("environment", differing.environment, _MOST),
        "",
        *_scores(found.scores.cells),
        *_sentences(found.sentences),
        *(f"note: {note}" for note in (*differing.notes, *found.scores.notes)),
        *(f"can't tell: {problem}" for problem in found.missing),
    ]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def as_json(found: Comparison) -> str:
    """Return everything but attention as JSON."""
    content: dict[str, Any] = {
        "a": found.a,
        "b": found.b,
        "verdict": found.verdict,
        "complete": found.complete,
        "differences": dataclasses.asdict(found.differences),
        "scores": [_cell(cell) for cell in found.scores.cells],
        "sentences": [_sentence(one) for one in found.sentences],
        "notes": list(found.scores.notes),
        "missing": list(found.missing),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def show_values(values: Sequence[float | None]) -> str:
    """Write the mean of some seeds, and in brackets each seed if there are several."""
    middle = mean(values)
    if middle is None:
        return "missing"
    each = ", ".join("missing" if value is None else f"{value:.2f}" for value in values)
    return f"{middle:.2f} ({each})" if len(values) > 1 else f"{middle:.2f}"


def scaled(metric: Metric) -> Metric:
    """Return a metric as it is shown: shares as percent."""
    if metric.name != "token_accuracy":
        return metric
    a, b = (tuple(v if v is None else v * 100 for v in side) for side in (metric.a, metric.b))
    return dataclasses.replace(metric, name="token_accuracy, %", a=a, b=b)


def tests_line(cell: Cell) -> str:
    """Return p-values and interval of a tested cell in words."""
    if cell.tested is None or cell.p is None or cell.tested.same:
        return ""
    low, high = cell.tested.interval
    return (
        f"paired bootstrap {show_p(cell.tested.bootstrap)}, approximate randomization "
        f"{show_p(cell.tested.randomization)}, corrected {show_p(cell.p)}; "
        f"95 % of resamples: {signed(low)} to {signed(high)}"
    )


def _values(title: str, values: Sequence[Difference], most: int | None = None) -> Iterator[str]:
    if not values:
        yield f"{title}: the same"
        return
    yield f"{title}: {_differ(len(values))}"
    width = max(len(value.name) for value in values[:most])
    for value in values[:most]:
        yield f"  {value.name.ljust(width)}  {value.a} -> {value.b}"
    yield from _more(len(values), most)


def _code(code: Code) -> Iterator[str]:
    if code.unknown:
        yield f"code: can't tell: {code.unknown}"
        return
    if not code.files:
        yield "code: the same"
    else:
        yield f"code: {_differ(len(code.files), ' file')}"
    for file in code.files[:_MOST]:
        stages = ", ".join(file.stages) or "no stage"
        yield f"  {file.change.ljust(7)}  {file.path} (read by {stages})"
    yield from _more(len(code.files), _MOST)
    for side, commits in (("A", code.only_a), ("B", code.only_b)):
        if commits:
            yield f"commits of {side} alone: {len(commits)}"
            yield from (f"  {commit}" for commit in commits[:_MOST])
            yield from _more(len(commits), _MOST)


def _differ(count: int, noun: str = "") -> str:
    return f"{count}{noun} differs" if count == 1 else f"{count}{noun and noun + 's'} differ"


def _more(count: int, most: int | None) -> Iterator[str]:
    if most is not None and count > most:
        yield f"  and {count - most} more (--format json or html names them)"


def _scores(cells: Sequence[Cell]) -> Iterator[str]:
    for cell in cells:
        yield f"{cell.place}, {cell.size}:"
        for metric in map(scaled, cell.metrics):
            delta = metric.problem or ("-" if metric.delta is None else signed(metric.delta))
            values = f"{show_values(metric.a)} -> {show_values(metric.b)}"
            yield f"  {metric.name.ljust(17)}  {values}  {delta}"
        if cell.verdict:
            yield from (f"  {line}" for line in (tests_line(cell), cell.verdict.line) if line)
        else:
            yield f"  can't tell: {cell.problem}"
        yield ""


def _sentences(sentences: Sequence[Changed]) -> Iterator[str]:
    if sentences:
        yield "sentences that changed most (chrF):"
    for one in sentences:
        yield f"  {one.cell.place}, sentence {one.number}, {signed(one.change, 1)}"
        yield f"    source     {one.source}"
        yield f"    reference  {one.reference}"
        yield f"    A {one.a.chrf:5.1f}    {one.a.text}"
        yield f"    B {one.b.chrf:5.1f}    {one.b.text}"
    if sentences:
        yield ""


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "model": cell.model,
        "test": cell.test,
        "items": cell.items,
        "metrics": [dataclasses.asdict(m) | {"delta": m.delta} for m in cell.metrics],
        "tested": dataclasses.asdict(cell.tested) if cell.tested else None,
        "p": cell.p,
        "outcome": cell.verdict.outcome.value if cell.verdict else "can't tell",
        "verdict": cell.verdict.line if cell.verdict else cell.problem,
    }


def _sentence(one: Changed) -> dict[str, Any]:
    return {
        "model": one.cell.model,
        "test": one.cell.test,
        "number": one.number,
        "source": one.source,
        "reference": one.reference,
        "a": {"text": one.a.text, "chrf": one.a.chrf},
        "b": {"text": one.b.text, "chrf": one.b.chrf},
    }
