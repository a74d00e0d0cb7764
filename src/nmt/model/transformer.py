"""The transformer: encoder and decoder of self-attention, behind the recurrent ones' interface.

Vaswani et al. 2017, "Attention Is All You Need", with the norm before each part and one at the
end of each side (pre-norm: Xiong et al. 2020, "On Layer Normalization in the Transformer
Architecture"), which trains without a long warm-up.
"""

import math

import torch
from torch import Tensor, nn

from nmt.corpus.symbols import PAD
from nmt.model.attention import sequence_mask
from nmt.model.decoder import Decoder
from nmt.model.dropout import Dropout
from nmt.model.multihead import MultiHeadAttention, causal_mask, sinusoids
from nmt.model.settings import TransformerSettings
from nmt.model.states import Decoded, Memory, State

Past = tuple[Tensor, Tensor]
"""Keys and values that a self-attention looks back at, each (B,P,W)."""


class FeedForward(nn.Sequential):
    """max(0, x W1 + b1) W2 + b2 at each position: Vaswani et al. 2017, equation 2."""

    def __init__(self, settings: TransformerSettings) -> None:
        super().__init__(
            nn.Linear(settings.width, settings.feed_forward),
            nn.ReLU(),
            Dropout(settings.dropout),
            nn.Linear(settings.feed_forward, settings.width),
        )


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward layer; each adds to what it reads."""

    def __init__(self, settings: TransformerSettings) -> None:
        super().__init__()
        self.self_norm = nn.LayerNorm(settings.width)
        self.self_attention = _attention(settings)
        self.forward_norm = nn.LayerNorm(settings.width)
        self.feed_forward = FeedForward(settings)
        self.dropout = Dropout(settings.dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Read states (B,S,W) with a mask (B,1,S); return states (B,S,W)."""
        normed = self.self_norm(x)
        found, _ = self.self_attention(normed, *self.self_attention.project(normed), mask)
        x = x + self.dropout(found)
        thought: Tensor = self.dropout(self.feed_forward(self.forward_norm(x)))
        return x + thought


class DecoderLayer(nn.Module):
    """Self-attention, attention to the source, feed-forward layer; each adds to what it reads."""

    def __init__(self, settings: TransformerSettings) -> None:
        super().__init__()
        self.self_norm = nn.LayerNorm(settings.width)
        self.self_attention = _attention(settings)
        self.source_norm = nn.LayerNorm(settings.width)
        self.source_attention = _attention(settings)
        self.forward_norm = nn.LayerNorm(settings.width)
        self.feed_forward = FeedForward(settings)
        self.dropout = Dropout(settings.dropout)

    def forward(
        self, x: Tensor, past: Past, seen: Tensor, source: Tensor, mask: Tensor
    ) -> tuple[Tensor, Past, Tensor]:
        """Read the states of T new positions.

        Args:
            x: states (B,T,W).
            past: keys and values of the positions before, each (B,P,W).
            seen: what a new position may look back at, bool (1,T,P+T).
            source: keys and values of the source side by side (B,S,2W).
            mask: real tokens of the source, bool (B,1,S).

        Returns:
            states (B,T,W); keys and values of all positions, each (B,P+T,W); weights on the
            source (B,T,S), the mean over the heads, in float32.
        """
        normed = self.self_norm(x)
        new = self.self_attention.project(normed)
        keys, values = (torch.cat(pair, dim=1) for pair in zip(past, new, strict=True))
        found, _ = self.self_attention(normed, keys, values, seen)
        x = x + self.dropout(found)
        found, weights = self.source_attention(self.source_norm(x), *source.chunk(2, dim=-1), mask)
        x = x + self.dropout(found)
        x = x + self.dropout(self.feed_forward(self.forward_norm(x)))
        return x, (keys, values), weights.float().mean(1)


class TransformerEncoder(nn.Module):
    """Embedding and positions, then L layers and a norm.

    Args:
        settings: sizes.
        vocabulary_size: V of the source.
    """

    def __init__(self, settings: TransformerSettings, vocabulary_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, settings.width, padding_idx=PAD)
        self.dropout = Dropout(settings.dropout)
        self.layers = nn.ModuleList(EncoderLayer(settings) for _ in range(settings.encoder_layers))
        self.norm = nn.LayerNorm(settings.width)

    def forward(self, src: Tensor, lengths: Tensor) -> tuple[Tensor, tuple[Tensor]]:
        """Read source sentences; padding has no influence.

        Args:
            src: ids (B,S).
            lengths: real tokens of each sentence (B,), on the CPU, at least 1.

        Returns:
            the top layer's states (B,S,W), 0 on padding, and the one at each sentence's last
            real token (1,B,W).
        """
        lengths = lengths.to(src.device, non_blocking=True)
        mask = sequence_mask(lengths, src.shape[1])  # (B,S)
        x = self.dropout(embed(self.embedding, src))
        for layer in self.layers:
            x = layer(x, mask.unsqueeze(1))
        states = self.norm(x) * mask.unsqueeze(2)
        last = states[torch.arange(len(src), device=src.device), lengths - 1]
        return states, (last.unsqueeze(0),)


class TransformerDecoder(Decoder):
    """Embedding and positions, then L layers and a norm.

    Its state is what the self-attention of each layer may look back at: keys and values of the P
    positions read so far, each (L,B,P,W). A row of attention is the mean over a layer's heads.

    Args:
        settings: sizes.
        vocabulary_size: V of the target.
    """

    def __init__(self, settings: TransformerSettings, vocabulary_size: int) -> None:
        super().__init__(vocabulary_size, settings.width, settings.dropout)
        self.feature_size = settings.width
        self.attention_rows = settings.decoder_layers
        self.layers = nn.ModuleList(DecoderLayer(settings) for _ in range(settings.decoder_layers))
        self.norm = nn.LayerNorm(settings.width)

    def project_keys(self, states: Tensor) -> Tensor:
        """Return keys and values of the source for all layers side by side (B,S,2LW)."""
        parts: list[Tensor] = []
        for layer in self.layers:
            assert isinstance(layer, DecoderLayer)
            parts += layer.source_attention.project(states)
        return torch.cat(parts, dim=-1)

    def start(self, memory: Memory) -> State:
        """Return the state before the first token: nothing to look back at."""
        batch, _, width = memory.states.shape
        nothing = memory.keys.new_empty(len(self.layers), batch, 0, width)
        return State((nothing, nothing))

    def forward(self, tokens: Tensor, state: State, memory: Memory) -> Decoded:
        """Read all tokens at once."""
        before = state.parts[0].shape[2]
        seen = causal_mask(before, tokens.shape[1], tokens.device)
        x = self.dropout(embed(self.embedding, tokens, before))
        sources = memory.keys.chunk(len(self.layers), dim=-1)
        pasts, rows = [], []
        for layer, source, *parts in zip(self.layers, sources, *state.parts, strict=True):
            x, past, weights = layer(x, tuple(parts), seen, source, memory.mask)
            pasts.append(past)
            rows.append(weights)
        keys, values = (torch.stack(parts) for parts in zip(*pasts, strict=True))
        return Decoded(self.norm(x), State((keys, values)), torch.stack(rows, dim=1))


def embed(embedding: nn.Embedding, tokens: Tensor, first: int = 0) -> Tensor:
    """Return embeddings times √W plus positions, from `first` on: (B,T,W) for ids (B,T)."""
    width = embedding.embedding_dim
    waves = sinusoids(first, tokens.shape[1], width, tokens.device)
    embedded: Tensor = embedding(tokens) * math.sqrt(width) + waves
    return embedded


def _attention(settings: TransformerSettings) -> MultiHeadAttention:
    return MultiHeadAttention(settings.width, settings.heads, settings.attention_dropout)
