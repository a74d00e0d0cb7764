"""Raw references: the text as it came, which no vocabulary or tokenizer has touched."""

from pathlib import Path

from nmt.corpus.raw import raw_path, read_raw
from nmt.errors import DataError


def read_references(folder: Path, split: str, language: str) -> list[str]:
    """Return the raw references of a test set.

    Raises:
        DataError: a reference is empty, which no hypothesis can match (with its line).
    """
    path = raw_path(folder, split, language)
    references = read_raw(path)
    for number, reference in enumerate(references, 1):
        if not reference.strip():
            raise DataError(
                f"{path}, line {number}: the reference is empty; "
                "put its text there, or take the line out of both sides"
            )
    return references
