"""Build both vocabularies from the training pairs, and measure what they cover.

Words also get the spacing, pieces what training needs to split text in other ways.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.corpus.pieces import join_pieces
from nmt.corpus.raw import raw_path, read_raw, read_training_pairs
from nmt.corpus.settings import DataSettings
from nmt.corpus.tokens import (
    TOKENIZER_FILE,
    ParallelTokens,
    Sentence,
    read_parallel,
    read_tokenizer,
    read_tokens,
    tokens_path,
)
from nmt.corpus.vocabulary import Vocabulary
from nmt.errors import DataError
from nmt.files import write_json
from nmt.pieces.draws import Draws
from nmt.pieces.model import Pieces, model_path
from nmt.spacing import Spacing, exact_share
from nmt.tokenization.settings import PieceEncoding, TokenizerSettings, WordEncoding

COVERAGE_FILE = "coverage.json"
SPACING_FILE = "spacing.json"


@dataclass(frozen=True)
class Folders:
    """Where text and tokens are, and where the vocabularies go."""

    raw: Path
    tokens: Path
    out: Path


@dataclass(frozen=True)
class _Built:
    """Vocabularies by language, how tokens become text, and what else goes with them."""

    vocabularies: dict[str, Vocabulary]
    join: Callable[[Sentence], str]
    spacing: Spacing | None = None
    draws: Draws | None = None


def build_vocabularies(folders: Folders, data: DataSettings, settings: TokenizerSettings) -> None:
    """Write {language}.json of both sides, coverage.json and tokenizer.json.

    For words spacing.json as well; for pieces with dropout {language}.model and draws.json.
    Vocabularies and spacing come from the training split alone; the others are only measured.
    Nothing is written before all of it went well.

    Args:
        folders: where everything lies.
        data: the `data` section.
        settings: the tokenizer's entry in the `tokenizers` section.

    Raises:
        DataError: a file is missing or damaged, or text and tokens don't belong together.
    """
    tokenizer = read_tokenizer(folders.tokens)
    train = read_parallel(folders.tokens, data.train, *data.languages)
    if settings.kind == "spacy":
        built = _words(folders, data, settings.encoding, train)
    else:
        built = _pieces(folders, data, settings.encoding, train)
    coverage: dict[str, Any] = {
        language: _coverage(folders.tokens, data, language, vocabulary)
        for language, vocabulary in built.vocabularies.items()
    }
    lowercase = tokenizer.get("lowercase") == "true"
    coverage["spacing_exact_lines"] = _exact_lines(built.join, folders, data, lowercase)

    for language, vocabulary in built.vocabularies.items():
        vocabulary.save(folders.out / f"{language}.json")
    if built.spacing:
        built.spacing.save(folders.out / SPACING_FILE)
    if built.draws:
        built.draws.save(folders.out, data.languages)
    write_json(folders.out / COVERAGE_FILE, coverage)
    write_json(folders.out / TOKENIZER_FILE, tokenizer)


def _words(
    folders: Folders, data: DataSettings, settings: WordEncoding, train: ParallelTokens
) -> _Built:
    vocabularies = {
        language: Vocabulary.build(sentences, settings.min_freq, settings.max_size)
        for language, sentences in zip(data.languages, (train.src, train.trg), strict=True)
    }
    pairs = read_training_pairs(folders.raw, data.train, *data.languages)
    spacing = Spacing.learn(pairs.trg, train.trg)
    return _Built(vocabularies, spacing.join, spacing=spacing)


def _pieces(
    folders: Folders, data: DataSettings, settings: PieceEncoding, train: ParallelTokens
) -> _Built:
    """Take all pieces that were learned, those too that stand nowhere in the training side."""
    tokenizer = read_tokenizer(folders.tokens)
    source, target = (Pieces.load(model_path(folders.tokens, name)) for name in data.languages)
    sides = [train.src, train.trg]
    if tokenizer["joint"] == "true":
        sides = [train.src + train.trg] * 2
    vocabularies = {
        language: Vocabulary.of(pieces.all(), sentences)
        for language, pieces, sentences in zip(data.languages, (source, target), sides, strict=True)
    }
    if not settings.dropout:
        return _Built(vocabularies, join_pieces)
    bpe = tokenizer["algorithm"] == "bpe"
    draws = Draws(source, target, settings.dropout if bpe else 1 / settings.dropout)
    return _Built(vocabularies, join_pieces, draws=draws)


def _exact_lines(
    join: Callable[[Sentence], str], folders: Folders, data: DataSettings, lowercase: bool
) -> float:
    """Return the share of validation references that come back exactly, white space apart."""
    language = data.target_language
    path = raw_path(folders.raw, data.validation, language)
    lines = [line.lower() if lowercase else line for line in read_raw(path)]
    sentences = read_tokens(tokens_path(folders.tokens, data.validation, language))
    if len(lines) != len(sentences):
        raise DataError(
            f"{path}: {len(lines)} lines, but {len(sentences)} lines of tokens; "
            "run the tokenize stage again"
        )
    return exact_share(join, lines, sentences)


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
