"""Whether near vectors are alike in meaning: chrF between the references of neighbours.

Two source sentences are held to mean nearly the same when their references, made by people, are
alike. Figures of nearest neighbours say something only beside those of random pairs.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics import CHRF

from nmt.seeding import generator

Values = NDArray[np.float64]
Numbers = NDArray[np.intp]

_DRAWS = 10  # random others a sentence


@dataclass(frozen=True)
class Likeness:
    """chrF of each sentence's reference against others, from 0 to 100 (N)."""

    values: Values

    @property
    def mean(self) -> float:
        """Mean over the sentences."""
        return float(self.values.mean())

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return float(self.values.std(ddof=1) / np.sqrt(len(self.values)))

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.error:.1f}"

    def over(self, chance: "Likeness") -> "Likeness":
        """Return the gain over chance, sentence by sentence.

        So what makes a sentence alike to all others does not blur it.
        """
        return Likeness(self.values - chance.values)

    def as_json(self, name: str) -> dict[str, float]:
        """Return the mean under a name, and its standard error, as plain values."""
        return {name: round(self.mean, 4), f"{name}_standard_error": round(self.error, 4)}


def nearest_by_angle(vectors: Values) -> Numbers:
    """Return for each vector (N,H) the other with the greatest cosine; ties: the first (N)."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(lengths == 0, 1.0, lengths)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -np.inf)
    nearest: Numbers = cosines.argmax(axis=1)
    return nearest


def nearest_by_distance(points: Values) -> Numbers:
    """Return for each point (N,D) the other that is nearest; ties: the first (N)."""
    distances = np.square(points[:, None] - points[None]).sum(axis=-1)
    np.fill_diagonal(distances, np.inf)
    nearest: Numbers = distances.argmin(axis=1)
    return nearest


def alike(references: list[str], others: Numbers) -> Likeness:
    """Compare each reference with that of another sentence.

    Args:
        references: N, one a sentence.
        others: which sentence each is compared with (N), or several (N,D): then their mean.
    """
    chrf = CHRF()
    rows = others.reshape(len(references), -1)
    scores = [
        [chrf.sentence_score(references[i], [reference]).score for i in row]
        for reference, row in zip(references, rows, strict=True)
    ]
    return Likeness(np.array(scores).mean(axis=1))


def to_others(references: list[str], seed: int) -> Likeness:
    """Compare each reference with those of other sentences drawn at random."""
    count = len(references)
    drawn = generator(seed).integers(count - 1, size=(count, _DRAWS))
    others = drawn + (drawn >= np.arange(count)[:, None])  # never itself
    return alike(references, others)
