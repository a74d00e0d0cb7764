"""A look at the data: sizes, unknown words, frequent words, lengths."""

from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from nmt.corpus.symbols import SPECIALS
from nmt.corpus.tokens import Sentence, read_parallel
from nmt.corpus.vocabulary import Vocabulary
from nmt.errors import DataError
from nmt.files import read_json
from nmt.report.chart import length_chart
from nmt.report.job import LANGUAGES, Report

Word = tuple[str, int]
"""A token and how often it stands in the training side."""


@dataclass(frozen=True)
class Side:
    """One side of one split.

    Args:
        tokens: how many, white space included, <eos> not.
        mean: tokens a sentence.
        longest: tokens of the longest sentence.
        unknown: share of tokens that the vocabulary lacks.
    """

    tokens: int
    mean: float
    longest: int
    unknown: float


@dataclass(frozen=True)
class Split:
    """One split: its name, what it is for, its sentences, and both sides."""

    name: str
    purpose: str
    sentences: int
    sides: tuple[Side, ...]


@dataclass(frozen=True)
class Look:
    """All that the page shows of the data, as one tokenizer splits it.

    Args:
        tokenizer: its name.
        splits: training, validation, tests.
        vocabulary: tokens that each side's models know, special symbols included.
        dropped: training pairs left out because a side was blank.
        spacing: share of validation references that detokenising gives back exactly.
        top: the most frequent tokens of each side, by rank.
        chart: lengths of the training sentences, as SVG.
    """

    tokenizer: str
    splits: tuple[Split, ...]
    vocabulary: tuple[int, ...]
    dropped: int
    spacing: float
    top: tuple[tuple[Word, ...], ...]
    chart: str


def look_at_data(report: Report) -> list[Look]:
    """Count what tokens and vocabularies of each tokenizer of the models hold.

    Raises:
        DataError: a file is missing or damaged, or the sides of a split do not pair up.
    """
    return [_look(report, tokenizer) for tokenizer in report.tokenizers]


def _look(report: Report, tokenizer: str) -> Look:
    tokens_folder, vocab_folder = (
        report.folders.tokens / tokenizer,
        report.folders.vocab / tokenizer,
    )
    vocabularies = [
        Vocabulary.load(vocab_folder / f"{language}.json") for language in report.data.languages
    ]
    read = {
        split: read_parallel(tokens_folder, split, *report.data.languages)
        for split in report.data.splits
    }
    splits = [
        Split(
            split,
            _purpose(report, split),
            len(tokens),
            tuple(
                _side(sentences, vocabulary)
                for sentences, vocabulary in zip(
                    (tokens.src, tokens.trg), vocabularies, strict=True
                )
            ),
        )
        for split, tokens in read.items()
    ]
    train = read[report.data.train]
    return Look(
        tokenizer,
        tuple(splits),
        tuple(len(v) for v in vocabularies),
        int(_figure(tokens_folder / "counts.json", "dropped_training_pairs")),
        _figure(vocab_folder / "coverage.json", "spacing_exact_lines"),
        tuple(_top(v, report.settings.top_words) for v in vocabularies),
        _chart(report, train.src, train.trg),
    )


def _figure(path: Path, key: str) -> float:
    """Return one number of a metrics file."""
    values = read_json(path)
    value = values.get(key) if isinstance(values, dict) else None
    if not isinstance(value, int | float):
        raise DataError(f"{path}: {key}: expected a number, got {value!r}; run `dvc repro`")
    return value


def _purpose(report: Report, split: str) -> str:
    named = {report.data.train: "training", report.data.validation: "validation"}
    return named.get(split, "test")


def _side(sentences: list[Sentence], vocabulary: Vocabulary) -> Side:
    lengths = [len(sentence) for sentence in sentences]
    unknown = sum(token not in vocabulary for sentence in sentences for token in sentence)
    total = sum(lengths)
    return Side(
        total,
        fmean(lengths) if lengths else 0.0,
        max(lengths, default=0),
        unknown / max(1, total),
    )


def _top(vocabulary: Vocabulary, wanted: int) -> tuple[Word, ...]:
    first = len(SPECIALS)
    rows = zip(vocabulary.tokens[first:], vocabulary.counts[first:], strict=True)
    # A token of white space alone would be invisible.
    return tuple((repr(t) if t.isspace() else t, n) for t, n in list(rows)[:wanted])


def _chart(report: Report, src: list[Sentence], trg: list[Sentence]) -> str:
    names = [LANGUAGES[language] for language in report.data.languages]
    lengths = {
        name: [len(s) for s in sentences] for name, sentences in zip(names, (src, trg), strict=True)
    }
    ordered = sorted(n for values in lengths.values() for n in values)
    # All but the longest hundredth, in tens: the tail would flatten the rest.
    usual = ordered[int(len(ordered) * 0.99)] if ordered else 0
    longest = max(10, -(-usual // 10) * 10)
    return length_chart(lengths, longest, f"Sentence lengths of {' and '.join(names)} in training")
