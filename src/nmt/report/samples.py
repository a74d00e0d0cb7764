"""Sentences drawn at random: training pairs, and translations side by side."""

import random
from dataclasses import dataclass

from nmt.corpus.raw import raw_path, read_raw_pair
from nmt.errors import DataError
from nmt.report.job import Report
from nmt.translations import read_hypotheses


@dataclass(frozen=True)
class Pair:
    """One line of a split on both sides; `number` counts from 1."""

    number: int
    source: str
    target: str


@dataclass(frozen=True)
class Sample:
    """One test sentence with its reference and what each model made of it."""

    pair: Pair
    outputs: tuple[tuple[str, str], ...]


def draw(seed: int, split: str, total: int, wanted: int) -> list[int]:
    """Draw `wanted` of `total` positions (all if there are fewer), in rising order."""
    return sorted(random.Random(f"{seed} {split}").sample(range(total), min(wanted, total)))


def random_pairs(report: Report) -> list[Pair]:
    """Draw training pairs, as they were before any tokenizer; those with a blank side are none."""
    pairs = [
        pair
        for pair in _read_pairs(report, report.data.train)
        if pair.source.strip() and pair.target.strip()
    ]
    chosen = draw(report.settings.seed, report.data.train, len(pairs), report.settings.random_pairs)
    return [pairs[i] for i in chosen]


def sample_translations(report: Report, test: str) -> list[Sample]:
    """Draw sentences of a test set, with the output of every model trained with the first seed.

    Raises:
        DataError: the hypotheses of a model do not pair up with the sources.
    """
    pairs = _read_pairs(report, test)
    outputs = {model: _outputs(report, model, test, len(pairs)) for model in report.grid.models}
    chosen = draw(report.settings.seed, test, len(pairs), report.settings.sample_translations)
    return [Sample(pairs[i], tuple((m, texts[i]) for m, texts in outputs.items())) for i in chosen]


def _outputs(report: Report, model: str, test: str, expected: int) -> list[str]:
    folder = report.folders.hypotheses(model, report.grid.seeds[0])
    texts = [h.text for h in read_hypotheses(folder, test)]
    if len(texts) != expected:
        path = raw_path(report.folders.raw, test, report.data.source_language)
        raise DataError(
            f"{folder / test}.jsonl has {len(texts)} hypotheses and {path} {expected} lines; "
            "they must pair line by line: run the translate stage again"
        )
    return texts


def _read_pairs(report: Report, split: str) -> list[Pair]:
    pairs = read_raw_pair(report.folders.raw, split, *report.data.languages)
    return [Pair(n, *sides) for n, sides in enumerate(zip(pairs.src, pairs.trg, strict=True), 1)]
