"""Rectangles of ids from sentences of unlike length."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.corpus.symbols import PAD


def pad(sentences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Fill sentences with <pad> to one length.

    Args:
        sentences: B lists of ids, none empty.

    Returns:
        ids (B,S) and lengths (B,), both int64 on the CPU.
    """
    lengths = torch.tensor([len(sentence) for sentence in sentences])
    ids = torch.full((len(sentences), int(lengths.max())), PAD)
    for row, sentence in zip(ids, sentences, strict=True):
        row[: len(sentence)] = torch.as_tensor(sentence)
    return ids, lengths
