"""Token files: one JSON array of strings a line, so that any token fits, white space included."""

from collections.abc import Iterable
from pathlib import Path

from nmt.errors import DataError
from nmt.files import read_json, read_jsonl, write_jsonl

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
    sentences = read_jsonl(path)
    for number, sentence in enumerate(sentences, 1):
        if not isinstance(sentence, list) or not all(isinstance(t, str) for t in sentence):
            raise DataError(f"{path}, line {number}: expected a JSON array of strings")
    return sentences


def read_parallel(folder: Path, split: str, source: str, target: str) -> "ParallelTokens":
    """Read both sides of one split and check that they pair up.

    Raises:
        DataError: the two sides differ in length, with both numbers.
    """
    src = read_tokens(tokens_path(folder, split, source))
    trg = read_tokens(tokens_path(folder, split, target))
    if len(src) != len(trg):
        raise DataError(
            f"{folder}: {split} has {len(src)} {source} and {len(trg)} {target} sentences; "
            "the sides must pair line by line: run the tokenize stage again"
        )
    return ParallelTokens(src, trg)


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
