"""Training pairs split anew in other ways than the best, so that a model meets words in parts.

Kudo 2018, "Subword Regularization"; Provilkov et al. 2020, "BPE-Dropout".
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nmt.corpus.pieces import join_pieces
from nmt.corpus.tokens import Sentence
from nmt.files import read_json, write_json
from nmt.pieces.model import Pieces, model_path, seed_draws

Pair = tuple[Sentence, Sentence]

_FILE = "draws.json"


@dataclass(frozen=True)
class Draws:
    """How the sentences of both sides are split at random.

    Args:
        source: pieces of the source.
        target: pieces of the target.
        alpha: how far it departs from the best way (`Pieces.draw`).
    """

    source: Pieces
    target: Pieces
    alpha: float

    def again(self, pairs: Iterable[Pair], *numbers: int) -> Iterator[Pair]:
        """Yield all pairs, the text of each split anew.

        The same numbers give the same pairs, if no other sentence is drawn meanwhile.

        Args:
            pairs: as they were split before, in whatever way.
            numbers: seed the draws.
        """
        state = np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0]
        seed_draws(int(state % np.uint64(2**32 - 1)))
        for src, trg in pairs:
            yield (
                self.source.draw(join_pieces(src), self.alpha),
                self.target.draw(join_pieces(trg), self.alpha),
            )

    def save(self, folder: Path, languages: Sequence[str]) -> None:
        """Write the models of both languages and draws.json into a folder."""
        for language, pieces in zip(languages, (self.source, self.target), strict=True):
            pieces.save(model_path(folder, language))
        write_json(folder / _FILE, {"alpha": self.alpha})

    @classmethod
    def load(cls, folder: Path, languages: Sequence[str]) -> "Draws | None":
        """Read what `save` wrote; None where nothing is drawn.

        Raises:
            DataError: a file is missing or damaged.
        """
        if not (folder / _FILE).is_file():
            return None
        source, target = (Pieces.load(model_path(folder, language)) for language in languages)
        return cls(source, target, float(read_json(folder / _FILE)["alpha"]))
