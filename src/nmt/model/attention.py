"""Attention over the encoder's states, masked so that padding never gets a share."""

import math

import torch
from torch import Tensor, nn

from nmt.model.dropout import Dropout


def sequence_mask(lengths: Tensor, size: int) -> Tensor:
    """Mark the real positions of sequences.

    Args:
        lengths: how many positions are real, of any shape (...), on any device.
        size: K, the padded length.

    Returns:
        bool (..., K), True for real positions.
    """
    return torch.arange(size, device=lengths.device) < lengths.unsqueeze(-1)


def masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
    """Softmax over the last axis in which masked positions get exactly 0.

    A row with no real position becomes all 0, forward and backward, without a NaN. Computed in
    float32 whatever the type of the scores.

    Args:
        scores: (B,Q,K), any floating type.
        mask: bool, broadcast to (B,Q,K), True for real positions; None: all are real.

    Returns:
        weights (B,Q,K) of the type of the scores; each row with a real position sums to 1.
    """
    wide = scores.float()
    if mask is None:
        return wide.softmax(-1).to(scores.dtype)
    if mask.dtype != torch.bool:
        raise TypeError(f"mask: expected bool (True for real positions), got {mask.dtype}")
    wide = wide.masked_fill(~mask, torch.finfo(torch.float32).min)
    # The product makes padding exactly 0, and a row without a real position too.
    return (wide.softmax(-1) * mask).to(scores.dtype)


def hard_weights(scores: Tensor, mask: Tensor | None, draw: bool) -> Tensor:
    """Give all weight to one position, in a way that can be trained.

    Straight-through Gumbel-softmax at temperature 1: Jang et al. 2017, "Categorical
    Reparameterization with Gumbel-Softmax", section 2.2. Forward, one position has the weight 1;
    backward, the gradient is that of the softmax which it was chosen by.

    Args:
        scores: (B,Q,K), any floating type.
        mask: as in `masked_softmax`.
        draw: draw the position, each with the probability that the softmax gives it; if not, take
            the one with the highest weight, the first of equals.

    Returns:
        weights (B,Q,K) of the type of the scores: 1 at one real position, else 0; a row without a
        real position is all 0.
    """
    wide = scores.float()
    if draw:  # the highest of scores with Gumbel noise is a draw from their softmax
        exponential = torch.empty_like(wide).exponential_()
        wide = wide - exponential.clamp_min(torch.finfo(torch.float32).tiny).log()
    soft = masked_softmax(wide, mask)
    best, place = soft.max(-1, keepdim=True)
    chosen = (torch.arange(soft.shape[-1], device=soft.device) == place) & (best > 0)
    # What is added is exactly 0, with a gradient.
    return (chosen.float() + (soft - soft.detach())).to(scores.dtype)


class Attention(nn.Module):
    """What both kinds share: queries ask, keys answer, values are averaged.

    A kind defines `project_keys` (done once a source sentence) and `scores`.

    Args:
        dropout: share of the weights zeroed in training.
        hard: whether all weight is on one position, drawn in training (see `hard_weights`).
    """

    def __init__(self, dropout: float = 0.0, hard: bool = False) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.hard = hard

    def project_keys(self, keys: Tensor) -> Tensor:
        """Return what `attend` needs of the keys (B,K,d_k); compute once and reuse."""
        return keys

    def scores(self, queries: Tensor, projected: Tensor) -> Tensor:
        """Compare queries (B,Q,d_q) with projected keys; return scores (B,Q,K)."""
        raise NotImplementedError

    def attend(
        self, queries: Tensor, projected: Tensor, values: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Attend with keys that are projected already and a mask broadcast to (B,Q,K)."""
        scores = self.scores(queries, projected)
        weights = (
            hard_weights(scores, mask, self.training) if self.hard else masked_softmax(scores, mask)
        )
        return self.dropout(weights) @ values, weights

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, lengths: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Average the values by how well their keys answer the queries.

        Args:
            queries: (B,Q,d_q).
            keys: (B,K,d_k).
            values: (B,K,d_v).
            lengths: real keys of each sentence (B) or of each query (B,Q); None: all.

        Returns:
            context (B,Q,d_v) and weights (B,Q,K).
        """
        mask = None
        if lengths is not None:
            mask = sequence_mask(lengths.to(keys.device), keys.shape[1])  # (B,K) or (B,Q,K)
            mask = mask.unsqueeze(1) if mask.dim() == 2 else mask
        return self.attend(queries, self.project_keys(keys), values, mask)


class AdditiveAttention(Attention):
    """e(k,q) = v' tanh(W_k k + W_q q), without biases.

    Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align and
    Translate", appendix A.1.2.

    Args:
        query_size: d_q.
        key_size: d_k.
        hidden: h, width of the small network.
        dropout: as for all kinds.
        hard: as for all kinds.
    """

    def __init__(
        self,
        query_size: int,
        key_size: int,
        hidden: int,
        dropout: float = 0.0,
        hard: bool = False,
    ) -> None:
        super().__init__(dropout, hard)
        self.query = nn.Linear(query_size, hidden, bias=False)
        self.key = nn.Linear(key_size, hidden, bias=False)
        self.energy = nn.Linear(hidden, 1, bias=False)

    def project_keys(self, keys: Tensor) -> Tensor:
        """Return W_k k (B,K,h)."""
        projected: Tensor = self.key(keys)
        return projected

    def scores(self, queries: Tensor, projected: Tensor) -> Tensor:
        """Return the scores (B,Q,K)."""
        hidden = self.query(queries).unsqueeze(2) + projected.unsqueeze(1)  # (B,Q,K,h)
        scores: Tensor = self.energy(hidden.tanh_()).squeeze(-1)
        return scores


class DotAttention(Attention):
    """e(k,q) = q'k, over the root of its width if scaled.

    Vaswani et al. 2017, "Attention Is All You Need", equation 1 (scaled); Luong et al. 2015,
    equation 8 (not scaled). Queries and keys have one width d; axes before the last two may be
    more than one, as for several heads.
    """

    def __init__(self, scaled: bool = True, dropout: float = 0.0, hard: bool = False) -> None:
        super().__init__(dropout, hard)
        self.scaled = scaled

    def scores(self, queries: Tensor, projected: Tensor) -> Tensor:
        """Return the scores (B,Q,K)."""
        if queries.shape[-1] != projected.shape[-1]:
            raise ValueError(
                f"queries are {queries.shape[-1]} wide and keys {projected.shape[-1]}; "
                "dot-product attention needs one width"
            )
        if self.scaled:
            queries = queries / math.sqrt(queries.shape[-1])
        return queries @ projected.transpose(-2, -1)
