"""Unknown words in the output, taken over from the source where attention points."""

import numpy as np
import numpy.typing as npt

from nmt.corpus.symbols import SPECIALS, UNK
from nmt.corpus.tokens import Sentence

_UNKNOWN = SPECIALS[UNK]


def replace_unknown(
    tokens: Sentence, weights: npt.NDArray[np.float32], source: Sentence
) -> Sentence:
    """Replace each `<unk>` by the source token with the most attention when it was produced.

    Luong et al. 2015, "Addressing the Rare Word Problem in Neural Machine Translation", with
    attention in place of their pointers. Of equal weights the first token wins. Without
    attention, or with an empty source, `<unk>` stays.

    Args:
        tokens: T produced tokens, without `<eos>`.
        weights: attention (A,T,S) or (A,T+1,S), the source's `<eos>` in the last column; the
            last row is the top layer's.
        source: S - 1 source tokens.
    """
    if not len(weights) or not source:
        return list(tokens)
    top = weights[-1][:, : len(source)]  # an end sign is no word
    return [
        source[int(top[t].argmax())] if token == _UNKNOWN else token
        for t, token in enumerate(tokens)
    ]
