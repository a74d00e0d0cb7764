r"""The corpus as plain text: data/raw/SPLIT.LANGUAGE, one sentence a line.

Files stay as they were had; what an editor left in them (a byte order mark, "\r" before a line
end) is taken off here, so that every stage sees the same sentences.
"""

from pathlib import Path

from nmt.errors import DataError
from nmt.files import read_lines

_BYTE_ORDER_MARK = "\ufeff"  # str.strip() leaves it on


def raw_path(folder: Path, split: str, language: str) -> Path:
    """Return where one side of one split lies, for instance data/raw/train.de."""
    return folder / f"{split}.{language}"


def read_raw(path: Path) -> list[str]:
    r"""Return the sentences of a file, without byte order mark and without "\r" at line ends.

    Raises:
        DataError: the file is missing or not UTF-8, or holds a NUL byte.
    """
    lines = [line.rstrip("\r") for line in read_lines(path)]
    if lines:
        lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            raise DataError(
                f"{path}, line {number}: a NUL byte, which no text holds; "
                "the file is damaged or not UTF-8: get it again"
            )
    return lines


def read_raw_pair(folder: Path, split: str, source: str, target: str) -> "RawPairs":
    """Read both sides of one split.

    Raises:
        DataError: a side can't be read, or the two differ in length, with both numbers.
    """
    src = read_raw(raw_path(folder, split, source))
    trg = read_raw(raw_path(folder, split, target))
    if len(src) != len(trg):
        raise DataError(
            f"{folder}: {split} has {len(src)} {source} and {len(trg)} {target} lines "
            f"({len(src)} v {len(trg)}); line n of one side must translate line n of the other: "
            "get both files again"
        )
    return RawPairs(src, trg)


def read_training_pairs(folder: Path, split: str, source: str, target: str) -> "RawPairs":
    """Read both sides of the training split, without the pairs of which a side is blank.

    Every stage that lines training tokens up with their text must leave out the same pairs.

    Raises:
        DataError: as `read_raw_pair`; or no pair is left.
    """
    pairs = read_raw_pair(folder, split, source, target)
    kept = [
        (src, trg)
        for src, trg in zip(pairs.src, pairs.trg, strict=True)
        if src.strip() and trg.strip()
    ]
    if not kept:
        raise DataError(f"{folder}: {split} has no pair with text on both sides; get it again")
    return RawPairs(
        [src for src, _ in kept], [trg for _, trg in kept], dropped=len(pairs.src) - len(kept)
    )


class RawPairs:
    """Sentence pairs as text: `src[i]` and `trg[i]` mean the same; `dropped` were left out."""

    def __init__(self, src: list[str], trg: list[str], dropped: int = 0) -> None:
        self.src = src
        self.trg = trg
        self.dropped = dropped

    def __len__(self) -> int:
        return len(self.src)
