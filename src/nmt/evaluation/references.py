"""Raw references: the text as it came, which no vocabulary or tokenizer has touched."""

from pathlib import Path

from nmt.errors import DataError
from nmt.files import read_lines


def raw_path(folder: Path, split: str, language: str) -> Path:
    """Return where one side of one split lies, for instance data/raw/train.de."""
    return folder / f"{split}.{language}"


def read_raw(folder: Path, split: str, language: str) -> list[str]:
    r"""Return the lines of one side of one split, without BOM and "\r" as in tokenization."""
    lines = read_lines(raw_path(folder, split, language))
    if lines:
        lines[0] = lines[0].removeprefix("\ufeff")
    return [line.removesuffix("\r") for line in lines]


def read_references(folder: Path, split: str, language: str) -> list[str]:
    """Return the raw references of a test set.

    Raises:
        DataError: a reference is empty, which no hypothesis can match (with its line).
    """
    references = read_raw(folder, split, language)
    for number, reference in enumerate(references, 1):
        if not reference.strip():
            raise DataError(
                f"{raw_path(folder, split, language)}, line {number}: the reference is empty; "
                "put its text there, or take the line out of both sides"
            )
    return references
