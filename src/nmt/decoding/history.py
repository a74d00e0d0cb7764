"""What each step of a beam search chose, and the way back from a hypothesis' end to its start."""

import torch
from torch import Tensor

from nmt.corpus.symbols import PAD


class History:
    """Tokens, back-pointers and attention of all steps, kept on the model's device.

    Sentences leave the search at different steps; here each step has room for all of them.

    Args:
        sentences: B, how many sentences the search began with.
    """

    def __init__(self, sentences: int) -> None:
        self._sentences = sentences
        self._tokens: list[Tensor] = []  # (B,K) a step
        self._parents: list[Tensor] = []  # (B,K)
        self._weights: list[Tensor] = []  # (B,K,A,S)

    def add(self, rows: Tensor, tokens: Tensor, parents: Tensor, weights: Tensor) -> None:
        """Note one step.

        Args:
            rows: sentences still searched (n,).
            tokens: the token that each new slot of the beam ends in (n,K).
            parents: the slot that each new slot goes on from (n,K).
            weights: attention of the old slots in this step (n,K,A,S).
        """
        self._tokens.append(self._spread(rows, tokens))
        self._parents.append(self._spread(rows, parents))
        self._weights.append(self._spread(rows, weights))

    def trace(self, last: Tensor, slot: Tensor) -> tuple[Tensor, Tensor]:
        """Follow the back-pointers from the last step of one hypothesis a sentence.

        Args:
            last: step of the hypothesis' last token (B,); -1 for one without tokens.
            slot: where in the beam it stood then (B,).

        Returns:
            tokens (B,T), <pad> after the last, and attention (B,A,T,S).
        """
        sentences = torch.arange(self._sentences, device=last.device)
        tokens, weights = [], []
        for t in reversed(range(len(self._tokens))):
            active = t <= last
            token = self._tokens[t][sentences, slot]
            parent = self._parents[t][sentences, slot]
            tokens.append(token.masked_fill(~active, PAD))
            weights.append(self._weights[t][sentences, parent])  # (B,A,S)
            slot = torch.where(active, parent, slot)
        return torch.stack(tokens[::-1], dim=1), torch.stack(weights[::-1], dim=2)

    def _spread(self, rows: Tensor, values: Tensor) -> Tensor:
        full = values.new_zeros(self._sentences, *values.shape[1:])
        return full.index_copy_(0, rows, values)
