"""Training pairs in files that are mapped into memory, which so does not grow with the corpus."""

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from nmt.corpus.tokens import Sentence
from nmt.corpus.vocabulary import Vocabulary
from nmt.files import read_json, replacing, write_json
from nmt.training.corpus import Pairs, Side, fits, none_left

_DROPPED = "dropped.json"


def store_pairs(
    folder: Path,
    pairs: Iterable[tuple[Sentence, Sentence]],
    source: Vocabulary,
    target: Vocabulary,
    max_length: int,
) -> None:
    """Encode pairs one by one and write them into a folder, whole or not at all.

    Args:
        folder: gets the ids (int32) and the ends of sentences (int64) of each side, and how many
            pairs were left out.
        pairs: read once.
        source: vocabulary of the source.
        target: vocabulary of the target.
        max_length: pairs with more tokens on a side are left out.

    Raises:
        DataError: no pair is left.
    """
    kept = dropped = 0
    with replacing(folder) as partial, ExitStack() as files:
        partial.mkdir()
        sides = [
            _Writer(partial, side, vocabulary, files)
            for side, vocabulary in (("src", source), ("trg", target))
        ]
        for pair in tqdm(pairs, desc="encode", unit=" pairs", leave=False, disable=None):
            if not fits(pair, max_length):
                dropped += 1
                continue
            kept += 1
            for side, sentence in zip(sides, pair, strict=True):
                side.add(sentence)
        if not kept:
            raise none_left(dropped, max_length)
        write_json(partial / _DROPPED, dropped)


def open_pairs(folder: Path) -> Pairs:
    """Return what `store_pairs` wrote: lengths in memory, all else mapped from the files."""
    src, trg = (
        Side.of(
            _mapped(folder / f"{side}.ids", np.int32), _mapped(folder / f"{side}.ends", np.int64)
        )
        for side in ("src", "trg")
    )
    return Pairs(src, trg, int(read_json(folder / _DROPPED)))


class _Writer:
    """Writes one side of a corpus sentence by sentence.

    Args:
        folder: of the files.
        side: begins their names.
        vocabulary: encodes the sentences.
        files: closes them.
    """

    def __init__(self, folder: Path, side: str, vocabulary: Vocabulary, files: ExitStack) -> None:
        self._vocabulary = vocabulary
        self._ids = files.enter_context((folder / f"{side}.ids").open("wb"))
        self._ends = files.enter_context((folder / f"{side}.ends").open("wb"))
        self._end = 0

    def add(self, sentence: Sentence) -> None:
        """Add a sentence with <eos> at its end."""
        ids = self._vocabulary.encode(sentence)
        self._end += len(ids)
        self._ids.write(np.array(ids, dtype=np.int32).tobytes())
        self._ends.write(np.int64(self._end).tobytes())


def _mapped(path: Path, kind: type[Any]) -> NDArray[Any]:
    """Map a file; as a plain array, for cutting out of a `memmap` takes longer."""
    return np.asarray(np.memmap(path, dtype=kind, mode="r"))
