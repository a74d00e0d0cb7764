"""Attention weights of a whole test set in one safetensors file.

The sentences have unlike shapes, so their weights lie one after the other in a flat array
`weights` (float32), and `shapes` (N,3) says how to cut it: A rows of attention, T produced
tokens, S source tokens.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from nmt.errors import DataError
from nmt.files import replacing

Weights = npt.NDArray[np.float32]
"""Attention of one sentence (A,T,S); the last of the A rows is the top layer's."""


def attention_path(folder: Path, split: str) -> Path:
    """Return where the weights of one test set lie."""
    return folder / f"{split}.safetensors"


def write_attention(folder: Path, split: str, weights: Sequence[Weights]) -> None:
    """Write the weights of each sentence, in input order.

    Args:
        folder: holds one file for each test set.
        split: name of the test set.
        weights: N arrays (A,T,S); T counts `<eos>` unless the hypothesis was cut, S counts the
            source's `<eos>`. A is 0 for a model without attention.
    """
    shapes = np.array([w.shape for w in weights], dtype=np.int32).reshape(-1, 3)
    flat = [np.zeros(0, np.float32), *(np.asarray(w, np.float32).reshape(-1) for w in weights)]
    with replacing(attention_path(folder, split)) as temporary:
        save_file({"shapes": shapes, "weights": np.concatenate(flat)}, temporary)


def read_attention(folder: Path, split: str) -> list[Weights]:
    """Read what `write_attention` wrote: N arrays (A,T,S).

    Raises:
        DataError: the file is missing, or its parts do not fit each other.
    """
    path = attention_path(folder, split)
    try:
        parts = load_file(path)
        shapes, flat = parts["shapes"], parts["weights"]
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; run the translate stage first") from None
    except (OSError, SafetensorError, KeyError) as error:
        raise DataError(
            f"{path}: not an attention file ({error}); run the translate stage again"
        ) from None
    ends = np.cumsum(shapes.prod(axis=1, dtype=np.int64))
    total = int(ends[-1]) if len(ends) else 0
    if flat.size != total:
        raise DataError(
            f"{path}: expected {total} weights by its shapes, got {flat.size}; "
            "run the translate stage again"
        )
    pieces = np.split(flat, ends[:-1]) if len(ends) else []
    return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]
