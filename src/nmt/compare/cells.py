"""Each model on each test set: scores side by side, and paired tests on the sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean

from tqdm import tqdm

from nmt.compare.differences import read_params
from nmt.compare.figures import Figures, Item, read_figures
from nmt.compare.sides import Side
from nmt.compare.significance import Draws, Evidence, paired_tests
from nmt.compare.verdict import Verdict, corrected, judge
from nmt.ensembles import ENSEMBLE, label, seed_name
from nmt.errors import DataError
from nmt.evaluation.metrics import METRICS
from nmt.evaluation.references import read_references
from nmt.translations import read_hypotheses


@dataclass(frozen=True)
class Metric:
    """One metric on both sides.

    Args:
        name: as in the score files.
        a: one value a seed; None where it is missing.
        b: likewise.
        problem: why the two can't be compared; "" if they can.
    """

    name: str
    a: tuple[float | None, ...]
    b: tuple[float | None, ...]
    problem: str = ""

    @property
    def delta(self) -> float | None:
        """Mean of B less mean of A; None if a value is missing or they can't be compared."""
        a, b = mean(self.a), mean(self.b)
        return None if self.problem or a is None or b is None else b - a


@dataclass(frozen=True)
class Cell:
    """One model on one test set.

    Args:
        model: its name, or both names.
        test: name of the test set.
        items: paired models and seeds, of A and of B.
        metrics: scores side by side.
        tested: the paired tests; None if they could not be made.
        problem: why not; "" if they were.
        p: the tests' p-value, corrected for their number.
        verdict: what may be said.
    """

    model: str
    test: str
    items: tuple[tuple[Item, Item], ...]
    metrics: tuple[Metric, ...] = ()
    tested: Evidence | None = None
    problem: str = ""
    p: float | None = None
    verdict: Verdict | None = None

    @property
    def place(self) -> str:
        """Model and test set in words."""
        return f"{self.model} on {self.test}"

    @property
    def size(self) -> str:
        """How many results a side has, in words."""
        if any(not isinstance(seed, int) for pair in self.items for _, seed in pair):
            return "one result a side"
        return f"{len(self.items)} seed{'' if len(self.items) == 1 else 's'}"


@dataclass(frozen=True)
class Cells:
    """All comparisons, and what else is to be said of them."""

    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = field(default=())


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean; None if there is no value or one is missing."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


def compare_scores(a: Side, b: Side, draws: Draws) -> Cells:
    """Compare each model that both sides have on each test set that both have."""
    notes: list[str] = []
    cells: list[Cell] = []
    for model, items in _pairs(a, b, notes):
        cells += _of_model(a, b, model, items, notes)
    tested = [_tested(a, b, cell, draws) for cell in tqdm(cells, desc="paired tests", disable=None)]
    return Cells(tuple(_judged(tested)), tuple(notes))


def texts_of(side: Side, cell: Cell, number: int) -> list[list[str]]:
    """Return the translations of each seed of A (number 0) or B (1).

    Raises:
        DataError: they are not at hand.
    """
    found = []
    for model, seed in (pair[number] for pair in cell.items):
        folder = place_of(side, f"translations/{model}/{seed_name(seed)}/hypotheses")
        found.append([hypothesis.text for hypothesis in read_hypotheses(folder, cell.test)])
    return found


def references_of(a: Side, b: Side, cell: Cell) -> list[str]:
    """Return the references, which must be the same on both sides.

    Raises:
        DataError: they differ, or are not at hand.
    """
    both = [
        read_figures(side, cell.items[0][number]).settings["data.target_language"]
        for number, side in enumerate((a, b))
    ]
    if both[0] != both[1]:
        raise DataError(f"the sides translate into two languages, {both[0]} and {both[1]}")
    one, other = (
        read_references(place_of(side, "data/raw"), cell.test, both[0]) for side in (a, b)
    )
    if one != other:
        raise DataError(f"the references of {cell.test} differ between the two sides")
    return one


def place_of(side: Side, path: str) -> Path:
    """Return where an out of DVC was put.

    Raises:
        DataError: it is not at hand.
    """
    found, reason = side.files.out(path)
    if found is None:
        raise DataError(reason)
    return found


def named(error: object, *sides: Side) -> str:
    """Name the side in a message instead of the folder that its files were put into."""
    message = str(error)
    for side in sides:
        message = message.replace(f"{side.files.folder}/", f"{side.title}: ")
    return message


def _pairs(
    a: Side, b: Side, notes: list[str]
) -> Iterator[tuple[str, tuple[tuple[Item, Item], ...]]]:
    """Yield each model with its paired seeds, those that both sides have; then each ensemble."""
    if a.only and b.only:
        names = dict.fromkeys((label(*a.only), label(*b.only)))
        yield " v ".join(names), ((a.only, b.only),)
        return
    of_a, of_b = _grid(a), _grid(b)
    for model in dict.fromkeys([*of_a, *of_b]):
        seeds_a, seeds_b = of_a.get(model, []), of_b.get(model, [])
        if not seeds_a or not seeds_b:
            notes.append(f"only {(a if seeds_a else b).title} has {model}")
            continue
        shared = tuple(seed for seed in seeds_a if seed in seeds_b)
        if set(seeds_a) != set(seeds_b):
            said = f"{', '.join(map(str, shared))} compared" if shared else "none can be paired"
            notes.append(f"{model}: seeds {seeds_a} of A, {seeds_b} of B: {said}")
        if shared:
            yield model, tuple(((model, seed), (model, seed)) for seed in shared)
    yield from _ensembles(a, b, notes)


def _grid(side: Side) -> dict[str, list[int]]:
    values = read_params(side)
    return {model: list(values.get("grid.seeds", [])) for model in values.get("grid.models", [])}


def _ensembles(
    a: Side, b: Side, notes: list[str]
) -> Iterator[tuple[str, tuple[tuple[Item, Item], ...]]]:
    """Yield each ensemble that both sides have, whatever its members."""
    of_a, of_b = (
        {model: tuple(values["grid.seeds"]) for model in values.get("grid.ensembles", [])}
        for values in (read_params(a), read_params(b))
    )
    for model in dict.fromkeys([*of_a, *of_b]):
        if model not in of_a or model not in of_b:
            notes.append(f"only {(a if model in of_a else b).title} has the {ENSEMBLE} of {model}")
            continue
        items = (model, of_a[model]), (model, of_b[model])
        yield " v ".join(dict.fromkeys(label(*item) for item in items)), (items,)


def _of_model(
    a: Side, b: Side, model: str, items: tuple[tuple[Item, Item], ...], notes: list[str]
) -> Iterator[Cell]:
    """Yield a cell for each test set that both sides have, with the metrics side by side."""
    try:
        of_a = [read_figures(a, item) for item, _ in items]
        of_b = [read_figures(b, item) for _, item in items]
    except DataError as error:
        yield Cell(model, "all test sets", items, problem=str(error))
        return
    tests_a, tests_b = of_a[0].tests, of_b[0].tests
    for test in dict.fromkeys([*tests_a, *tests_b]):
        if test in tests_a and test in tests_b:
            yield Cell(model, test, items, tuple(_metrics(of_a, of_b, test)))
        else:
            notes.append(f"{model}: only {'A' if test in tests_a else 'B'} has {test}")


def _metrics(a: list[Figures], b: list[Figures], test: str) -> Iterator[Metric]:
    for name in METRICS:
        signatures = sorted({one.signatures.get(name, "unknown") for one in (*a, *b)})
        problem = f"computed in two ways: {' and '.join(signatures)}" if signatures[1:] else ""
        of_a, of_b = (tuple(one.tests.get(test, {}).get(name) for one in side) for side in (a, b))
        yield Metric(name, of_a, of_b, problem)


def _tested(a: Side, b: Side, cell: Cell, draws: Draws) -> Cell:
    """Add the paired tests, or why they can't be made."""
    if cell.problem:
        return cell
    if cell.metrics[0].problem:
        return replace(cell, problem=f"BLEU was {cell.metrics[0].problem}")
    try:
        references = references_of(a, b, cell)
        texts_a, texts_b = texts_of(a, cell, 0), texts_of(b, cell, 1)
        for texts in (*texts_a, *texts_b):
            if len(texts) != len(references):
                raise DataError(f"{len(texts)} translations and {len(references)} references")
        metric = read_figures(a, cell.items[0][0]).bleu
        tested = paired_tests(texts_a, texts_b, references, metric, draws)
        _check_scored(cell, tested)
    except DataError as error:
        return replace(cell, problem=named(error, a, b))
    return replace(cell, tested=tested)


def _check_scored(cell: Cell, tested: Evidence) -> None:
    """Check that the score files tell of these very translations."""
    kept = (*cell.metrics[0].a, *cell.metrics[0].b)
    for old, new in zip(kept, (*tested.a, *tested.b), strict=True):
        if old is None or abs(old - new) > 1e-3:
            raise DataError(
                f"{cell.place}: a score file says BLEU {old}, but its translations give {new:.4f}"
            )


def _judged(cells: Sequence[Cell]) -> Iterator[Cell]:
    """Add verdicts. Equal translations are no test, and so don't count in the correction."""
    known = [c.tested.p for c in cells if c.tested and not c.tested.same]
    p_values = iter(corrected(known))
    for cell in cells:
        if cell.tested is None:
            yield cell
        else:
            p = 1.0 if cell.tested.same else next(p_values)
            yield replace(cell, p=p, verdict=judge(cell.tested, p))
