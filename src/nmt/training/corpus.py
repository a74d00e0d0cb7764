"""Training pairs as ids, and batches of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.corpus.batches import pad
from nmt.corpus.symbols import PAD, SOS
from nmt.corpus.tokens import ParallelTokens, Sentence
from nmt.corpus.vocabulary import Vocabulary
from nmt.errors import DataError
from nmt.training.settings import TrainingSettings

Ids = NDArray[np.int32]
Lengths = NDArray[np.int32]
Numbers = NDArray[np.int64]
"""Which pairs make a batch."""


@dataclass(frozen=True)
class Side:
    """One side of a corpus: all ids in one array, sentence i at `ends[i-1]:ends[i]`.

    Args:
        ids: of all sentences, each ending in <eos>; in memory or mapped from a file.
        ends: where each sentence ends; likewise.
        lengths: of each sentence, <eos> counted; in memory, for planning needs all of them.
    """

    ids: Ids
    ends: NDArray[np.int64]
    lengths: Lengths

    @classmethod
    def of(cls, ids: Ids, ends: NDArray[np.int64]) -> "Side":
        """Make a side of ids and of the ends of its sentences."""
        return cls(ids, ends, np.diff(ends, prepend=0).astype(np.int32))

    @classmethod
    def encode(cls, sentences: list[Sentence], vocabulary: Vocabulary) -> "Side":
        """Encode sentences; each ends in <eos>."""
        rows = [np.asarray(vocabulary.encode(s), dtype=np.int32) for s in sentences]
        return cls.of(np.concatenate(rows), np.cumsum([len(row) for row in rows]))

    def __getitem__(self, i: int) -> Ids:
        start = self.ends[i - 1] if i else 0
        return self.ids[start : self.ends[i]]


@dataclass(frozen=True)
class Pairs:
    """Encoded pairs, and how many were left out as too long."""

    src: Side
    trg: Side
    dropped: int = 0

    def __len__(self) -> int:
        return len(self.src.ends)


@dataclass(frozen=True)
class Batch:
    """Pairs of like length.

    Args:
        src: ids (B,S), each ending in <eos>.
        lengths: real tokens of each source sentence (B,), on the CPU.
        inputs: <sos> and the target without its last token (B,T).
        targets: the target with <eos> (B,T), <pad> after it.
        real: positions of real tokens in the flattened targets (N,).
    """

    src: Tensor
    lengths: Tensor
    inputs: Tensor
    targets: Tensor
    real: Tensor

    def to(self, device: torch.device) -> "Batch":
        """Copy to a device, without waiting where the memory is pinned."""
        if device.type == "cpu":
            return self
        src, inputs, targets, real = (
            t.pin_memory().to(device, non_blocking=True)
            for t in (self.src, self.inputs, self.targets, self.real)
        )
        return Batch(src, self.lengths, inputs, targets, real)


def encode_pairs(
    tokens: ParallelTokens, source: Vocabulary, target: Vocabulary, max_length: int | None = None
) -> Pairs:
    """Encode pairs, leaving out those with more than `max_length` tokens on a side.

    Raises:
        DataError: no pair is left.
    """
    kept = [pair for pair in zip(tokens.src, tokens.trg, strict=True) if fits(pair, max_length)]
    if not kept:
        raise none_left(len(tokens), max_length)
    src, trg = zip(*kept, strict=True)
    return Pairs(
        Side.encode(list(src), source), Side.encode(list(trg), target), len(tokens) - len(kept)
    )


def fits(pair: tuple[Sentence, Sentence], max_length: int | None) -> bool:
    """Tell whether a pair has at most `max_length` tokens on each side; None: no limit."""
    return max_length is None or max(map(len, pair)) <= max_length


def none_left(count: int, max_length: int | None) -> DataError:
    """Return the error of a corpus of which the limit of length leaves nothing."""
    return DataError(
        f"no pair is left of {count}: all have more than {max_length} tokens on a side; "
        "raise training.max_length"
    )


def plan_batches(
    pairs: Pairs, settings: TrainingSettings, rng: np.random.Generator
) -> list[Numbers]:
    """Group pairs of like length and shuffle the groups.

    Pairs are sorted by target length, then source length, ties in random order, and cut into
    groups whose rectangle holds at most `batch_size` target tokens (or so many pairs).

    Returns:
        for each batch, the numbers of its pairs.
    """
    lengths = pairs.trg.lengths
    ties = rng.permutation(len(pairs))
    order = np.lexsort((ties, pairs.src.lengths, lengths))
    batches, start = [], 0
    while start < len(order):
        # A pair has at least one token, so no batch has more pairs than its size.
        stop = start + _fit(lengths[order[start : start + settings.batch_size]], settings)
        batches.append(order[start:stop])
        start = stop
    chosen = rng.permutation(len(batches))[: settings.batches_per_epoch]
    return [batches[i] for i in chosen]


def _fit(lengths: Lengths, settings: TrainingSettings) -> int:
    """Return how many of the next pairs, of rising length, make a batch; at least 1."""
    if settings.batch_unit == "sentences":
        return len(lengths)
    return max(1, int(np.sum(lengths * np.arange(1, len(lengths) + 1) <= settings.batch_size)))


def make_batch(pairs: Pairs, numbers: Numbers) -> Batch:
    """Fill the pairs of the given numbers to rectangles, on the CPU."""
    src, lengths = pad([pairs.src[int(i)] for i in numbers])
    targets, _ = pad([pairs.trg[int(i)] for i in numbers])
    inputs = torch.cat([torch.full((len(targets), 1), SOS), targets[:, :-1]], dim=1)
    return Batch(src, lengths, inputs, targets, (targets != PAD).flatten().nonzero().squeeze(1))


def in_order(pairs: Pairs, size: int) -> Iterator[Numbers]:
    """Yield the numbers of all pairs in groups of like source length, for validation."""
    order = np.lexsort((pairs.trg.lengths, pairs.src.lengths))
    for start in range(0, len(order), size):
        yield order[start : start + size]
