"""Build both vocabularies and the spacing from the training pairs, and measure what they cover."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.corpus.raw import raw_path, read_raw, read_training_pairs
from nmt.corpus.settings import DataSettings
from nmt.corpus.tokens import (
    TOKENIZER_FILE,
    Sentence,
    read_parallel,
    read_tokenizer,
    read_tokens,
    tokens_path,
)
from nmt.corpus.vocabulary import Vocabulary
from nmt.errors import DataError
from nmt.files import write_json
from nmt.spacing import Spacing
from nmt.vocab.settings import VocabSettings

COVERAGE_FILE = "coverage.json"
SPACING_FILE = "spacing.json"


@dataclass(frozen=True)
class Folders:
    """Where text and tokens are, and where the vocabularies go."""

    raw: Path
    tokens: Path
    out: Path


def build_vocabularies(folders: Folders, data: DataSettings, settings: VocabSettings) -> None:
    """Write {language}.json of both sides, spacing.json, coverage.json and tokenizer.json.

    Vocabularies and spacing come from the training split alone; the others are only measured.
    Nothing is written before all of it went well.

    Raises:
        DataError: a file is missing or damaged, or text and tokens don't belong together.
    """
    tokenizer = read_tokenizer(folders.tokens)
    train = read_parallel(folders.tokens, data.train, *data.languages)
    vocabularies = {
        language: Vocabulary.build(sentences, settings.min_freq, settings.max_size)
        for language, sentences in zip(data.languages, (train.src, train.trg), strict=True)
    }
    spacing = _learn_spacing(folders, data, train.trg)
    coverage: dict[str, Any] = {
        language: _coverage(folders.tokens, data, language, vocabulary)
        for language, vocabulary in vocabularies.items()
    }
    lowercase = tokenizer.get("lowercase") == "true"
    coverage["spacing_exact_lines"] = _exact_lines(spacing, folders, data, lowercase)

    for language, vocabulary in vocabularies.items():
        vocabulary.save(folders.out / f"{language}.json")
    spacing.save(folders.out / SPACING_FILE)
    write_json(folders.out / COVERAGE_FILE, coverage)
    write_json(folders.out / TOKENIZER_FILE, tokenizer)


def _learn_spacing(folders: Folders, data: DataSettings, sentences: list[Sentence]) -> Spacing:
    pairs = read_training_pairs(folders.raw, data.train, *data.languages)
    return Spacing.learn(pairs.trg, sentences)


def _exact_lines(spacing: Spacing, folders: Folders, data: DataSettings, lowercase: bool) -> float:
    """Return the share of validation references that come back from their tokens exactly."""
    language = data.target_language
    path = raw_path(folders.raw, data.validation, language)
    lines = [line.lower() if lowercase else line for line in read_raw(path)]
    sentences = read_tokens(tokens_path(folders.tokens, data.validation, language))
    if len(lines) != len(sentences):
        raise DataError(
            f"{path}: {len(lines)} lines, but {len(sentences)} lines of tokens; "
            "run the tokenize stage again"
        )
    return spacing.exact_share(lines, sentences)


def _coverage(
    folder: Path, data: DataSettings, language: str, vocabulary: Vocabulary
) -> dict[str, Any]:
    """Return size, types and tokens of the training side, and the unknown rate of each split."""
    splits = {split: read_tokens(tokens_path(folder, split, language)) for split in data.splits}
    train = splits[data.train]
    return {
        "size": len(vocabulary),
        "types": len({token for sentence in train for token in sentence}),
        "tokens": sum(map(len, train)),
        "unknown_rate": {
            split: _unknown_rate(sentences, vocabulary) for split, sentences in splits.items()
        },
    }


def _unknown_rate(sentences: Sequence[Sentence], vocabulary: Vocabulary) -> float:
    """Return the share (0 to 1) of tokens that the vocabulary lacks."""
    total = sum(map(len, sentences))
    unknown = sum(token not in vocabulary for sentence in sentences for token in sentence)
    return unknown / max(1, total)
