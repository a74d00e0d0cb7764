"""Attention with several heads, and the signal that tells positions apart."""

import torch
from torch import Tensor, nn

from nmt.model.attention import DotAttention


class MultiHeadAttention(nn.Module):
    """Several scaled dot-product attentions, each in a part of the width of its own.

    Vaswani et al. 2017, "Attention Is All You Need", section 3.2.2; without biases, as there.

    Args:
        width: W of queries, keys, values and result; a multiple of `heads`.
        heads: h.
        dropout: share of the weights zeroed in training.
    """

    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.join = nn.Linear(width, width, bias=False)
        self.attention = DotAttention(dropout=dropout)

    def project(self, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return keys and values (B,K,W) of states (B,K,W); compute once and reuse."""
        return self.key(states), self.value(states)

    def forward(
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Attend with keys and values that are projected already.

        Args:
            queries: states that ask (B,Q,W).
            keys: (B,K,W).
            values: (B,K,W).
            mask: bool, broadcast to (B,Q,K), True for what may be seen.

        Returns:
            what was found (B,Q,W) and weights (B,h,Q,K).
        """
        context, weights = self.attention.attend(
            self._split(self.query(queries)),
            self._split(keys),
            self._split(values),
            mask.unsqueeze(1),
        )
        joined: Tensor = self.join(context.transpose(1, 2).flatten(2))
        return joined, weights

    def _split(self, states: Tensor) -> Tensor:
        """Make (B,K,W) into (B,h,K,W/h)."""
        batch, count, width = states.shape
        return states.view(batch, count, self.heads, width // self.heads).transpose(1, 2)


def causal_mask(before: int, count: int, device: torch.device) -> Tensor:
    """Return what each of `count` new positions may see: itself and all before it.

    Args:
        before: P, how many positions were read already.
        count: T.
        device: where the mask shall live.

    Returns:
        bool (1,T,P+T).
    """
    seen = torch.ones(1, count, before + count, dtype=torch.bool, device=device)
    return seen.tril(before)


def sinusoids(first: int, count: int, width: int, device: torch.device) -> Tensor:
    """Return waves of many lengths, by which a model tells positions apart.

    Vaswani et al. 2017, section 3.5: sin(p / 10000^(2i/W)) and the cosine in turn.

    Args:
        first: the first position p, counted from 0.
        count: T.
        width: W.
        device: where the waves shall live.

    Returns:
        (T,W), float32.
    """
    positions = torch.arange(first, first + count, dtype=torch.float32, device=device)
    pairs = torch.arange(0, width, 2, dtype=torch.float32, device=device)
    angles = positions.unsqueeze(1) * 10000.0 ** (-pairs / width)  # (T,W/2)
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)[:, :width]
