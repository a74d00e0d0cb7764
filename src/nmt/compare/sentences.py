"""The sentences whose translation changed most, with what attention looked at."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sacrebleu.metrics import CHRF

from nmt.compare.cells import Cell, named, place_of, references_of, texts_of
from nmt.compare.figures import Item, read_figures
from nmt.compare.sides import Side
from nmt.corpus.raw import raw_path, read_raw
from nmt.corpus.symbols import EOS, SPECIALS
from nmt.corpus.tokens import read_tokens, tokens_path
from nmt.ensembles import seed_name
from nmt.errors import DataError
from nmt.prepared import Prepared
from nmt.translations import read_attention, read_hypotheses


@dataclass(frozen=True)
class Attention:
    """The top layer's weights of one translation.

    Args:
        source: its tokens, the end included.
        output: likewise.
        weights: one row for each token of the output, which sums to 1.
    """

    source: tuple[str, ...]
    output: tuple[str, ...]
    weights: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Translation:
    """One side's translation of a sentence.

    Args:
        text: detokenised.
        chrf: against the reference, 0 to 100.
        attention: None if there is none to show.
        without: why there is none.
    """

    text: str
    chrf: float
    attention: Attention | None = None
    without: str = ""


@dataclass(frozen=True)
class Changed:
    """A sentence that the two sides translate differently."""

    cell: Cell
    number: int  # counted from 1
    source: str
    reference: str
    a: Translation
    b: Translation

    @property
    def change(self) -> float:
        """ChrF of B less that of A."""
        return self.b.chrf - self.a.chrf


def changed_most(
    a: Side, b: Side, cells: tuple[Cell, ...], count: int, draw: bool
) -> list[Changed]:
    """Return the sentences of all comparisons whose chrF changed most, the first seed's.

    Args:
        a: one side.
        b: the other.
        cells: what was tested; others are left out.
        count: how many sentences.
        draw: whether attention is wanted too.
    """
    found = [one for cell in cells if cell.tested for one in _of_cell(a, b, cell)]
    found.sort(key=lambda one: (-abs(one.change), one.cell.place, one.number))
    chosen = found[:count]
    return [_with_attention(a, b, one) for one in chosen] if draw else chosen


def _of_cell(a: Side, b: Side, cell: Cell) -> Iterator[Changed]:
    references = references_of(a, b, cell)
    settings = read_figures(a, cell.items[0][0]).settings
    lowercase = cell.tested is not None and "case:lc" in cell.tested.signature
    chrf = CHRF(lowercase=lowercase)
    source = read_raw(
        raw_path(place_of(a, "data/raw"), cell.test, settings["data.source_language"])
    )
    of_a, of_b = texts_of(a, cell, 0)[0], texts_of(b, cell, 1)[0]
    for i, (one, other) in enumerate(zip(of_a, of_b, strict=True)):
        if one != other:
            scores = [chrf.sentence_score(text, [references[i]]).score for text in (one, other)]
            yield Changed(
                cell, i + 1, source[i], references[i],
                Translation(one, scores[0]), Translation(other, scores[1]),
            )  # fmt: skip


def _with_attention(a: Side, b: Side, one: Changed) -> Changed:
    sides = ((a, one.a, one.cell.items[0][0]), (b, one.b, one.cell.items[0][1]))
    drawn = [_attended(side, translation, item, one) for side, translation, item in sides]
    return Changed(one.cell, one.number, one.source, one.reference, drawn[0], drawn[1])


def _attended(side: Side, translation: Translation, item: Item, one: Changed) -> Translation:
    try:
        attention, without = _attention(side, item, one.cell.test, one.number - 1), ""
    except DataError as error:
        attention, without = None, f"not drawn: {named(error, side)}"
    else:
        without = "" if attention else f"{item[0]} has no attention"
    return Translation(translation.text, translation.chrf, attention, without)


def _attention(side: Side, item: Item, test: str, at: int) -> Attention | None:
    """Return the weights of a sentence; None for a model without attention.

    Raises:
        DataError: a file is not at hand, or the weights are of other tokens.
    """
    folder = Path(f"translations/{item[0]}/{seed_name(item[1])}")
    weights = read_attention(place_of(side, str(folder / "attention")), test)[at]
    if not weights.shape[0]:
        return None
    hypothesis = read_hypotheses(place_of(side, str(folder / "hypotheses")), test)[at]
    language = read_figures(side, item).settings["data.source_language"]
    prepared = Prepared(place_of(side, f"data/prepared/{item[0]}"))
    tokens = read_tokens(tokens_path(prepared.tokens, test, language))[at]
    end = SPECIALS[EOS]
    source, output = (*tokens, end), (*hypothesis.tokens, *([] if hypothesis.cut else [end]))
    if weights.shape[1:] != (len(output), len(source)):
        raise DataError(f"{side.title}: the attention of sentence {at + 1} is of other tokens")
    return Attention(source, output, tuple(tuple(map(float, row)) for row in weights[-1]))
