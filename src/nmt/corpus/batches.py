"""Rectangles of ids from sentences of unlike length."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nmt.corpus.symbols import PAD


def pad(sentences: Sequence[Sequence[int] | NDArray[np.int32]]) -> tuple[Tensor, Tensor]:
    """Fill sentences with <pad> to one length.

    Args:
        sentences: B lists of ids, none empty.

    Returns:
        ids (B,S) and lengths (B,), both int64 on the CPU.
    """
    lengths = np.array([len(sentence) for sentence in sentences])
    ids = np.full((len(sentences), lengths.max()), PAD)
    ids[np.arange(ids.shape[1]) < lengths[:, None]] = np.concatenate(sentences)
    return torch.from_numpy(ids), torch.from_numpy(lengths)
