"""Whether sentences whose encoder states lie near each other are alike in meaning, as figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nmt.errors import DataError
from nmt.files import read_json

NEIGHBOURS_FILE = "neighbours.json"
"""Beside the pictures of encoder states: model to figures."""


@dataclass(frozen=True)
class Likeness:
    """One model: likeness of references by chrF, 0 to 100.

    Args:
        model: its name.
        sentences: how many were looked at.
        nearest: mean chrF between a sentence's reference and that of its nearest neighbour.
        random: mean chrF between the references of random pairs.
    """

    model: str
    sentences: int
    nearest: float
    random: float


def read_neighbours(folder: Path, models: Sequence[str]) -> list[Likeness]:
    """Read the figures of the given models.

    Raises:
        DataError: the file, a model or a figure is missing.
    """
    path = folder / NEIGHBOURS_FILE
    if not path.is_file():
        raise DataError(f"{path}: no such file; run `dvc repro plot`")
    figures = read_json(path)
    return [_read(figures, model, path) for model in models]


def _read(figures: object, model: str, path: Path) -> Likeness:
    entry = figures.get(model) if isinstance(figures, dict) else None
    match entry:
        case {
            "sentences": int(count),
            "nearest": (int() | float()) as nearest,
            "random": (int() | float()) as random,
        }:
            return Likeness(model, count, float(nearest), float(random))
    raise DataError(
        f"{path}: {model}: expected numbers for sentences, nearest and random, got {entry!r}; "
        "run `dvc repro plot`"
    )
