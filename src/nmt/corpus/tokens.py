"""Token files: one JSON array of strings a line, so that any token fits, white space included."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path

from nmt.errors import DataError
from nmt.files import read_json, stream_jsonl, write_jsonl

Sentence = list[str]
"""The tokens of one sentence, without special symbols."""

TOKENIZER_FILE = "tokenizer.json"
"""Beside the token files: which tokenizer made them (kind, versions, settings)."""


def tokens_path(folder: Path, split: str, language: str) -> Path:
    """Return where one side of one split lies, for instance data/tokens/train.de.jsonl."""
    return folder / f"{split}.{language}.jsonl"


def write_tokens(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write one sentence a line."""
    write_jsonl(path, sentences)


def read_tokens(path: Path) -> list[Sentence]:
    """Read one sentence a line.

    Raises:
        DataError: the file is missing, or a line is not a JSON array of strings.
    """
    return list(stream_tokens(path))


def stream_tokens(path: Path) -> Iterator[Sentence]:
    """Yield what `read_tokens` returns, one sentence at a time."""
    for number, sentence in enumerate(stream_jsonl(path), 1):
        if not isinstance(sentence, list) or not all(isinstance(t, str) for t in sentence):
            raise DataError(f"{path}, line {number}: expected a JSON array of strings")
        yield sentence


def read_parallel(folder: Path, split: str, source: str, target: str) -> "ParallelTokens":
    """Read both sides of one split and check that they pair up.

    Raises:
        DataError: the two sides differ in length, with both numbers.
    """
    pairs = list(stream_parallel(folder, split, source, target))
    return ParallelTokens([src for src, _ in pairs], [trg for _, trg in pairs])


def stream_parallel(
    folder: Path, split: str, source: str, target: str
) -> Iterator[tuple[Sentence, Sentence]]:
    """Yield the pairs that `read_parallel` returns, one at a time.

    Raises:
        DataError: the two sides differ in length; told at the end of the longer one.
    """
    counts = [0, 0]
    for src, trg in zip_longest(
        stream_tokens(tokens_path(folder, split, source)),
        stream_tokens(tokens_path(folder, split, target)),
    ):
        counts[0] += src is not None
        counts[1] += trg is not None
        if src is not None and trg is not None:
            yield src, trg
    if counts[0] != counts[1]:
        raise DataError(
            f"{folder}: {split} has {counts[0]} {source} and {counts[1]} {target} sentences; "
            "the sides must pair line by line: run the tokenize stage again"
        )


class ParallelTokens:
    """Sentence pairs: `src[i]` and `trg[i]` mean the same."""

    def __init__(self, src: list[Sentence], trg: list[Sentence]) -> None:
        self.src = src
        self.trg = trg

    def __len__(self) -> int:
        return len(self.src)


def read_tokenizer(folder: Path) -> dict[str, str]:
    """Return the description of the tokenizer beside the files of `folder`."""
    return dict(read_json(folder / TOKENIZER_FILE))


def lowercased(tokenizer: dict[str, str]) -> bool:
    """Return whether a tokenizer lower-cases, by its description."""
    value = tokenizer.get("lowercase", "")
    if value not in ("true", "false"):
        raise DataError(
            f"the tokenizer's description says lowercase: {value!r}, expected 'true' or 'false'; "
            "run the tokenize stage again"
        )
    return value == "true"
