"""What a decoder is, and the recurrent ones: without attention, fed back, between the layers.

All share one interface: `start` gives the first state, `forward` reads target tokens from a
state. Given one token, `forward` is a step of search; given all, it is teacher forcing, without a
Python loop where the decoder allows.
"""

import torch
from torch import Tensor, nn

from nmt.corpus.symbols import PAD
from nmt.model.attention import AdditiveAttention, Attention, DotAttention
from nmt.model.bridge import Bridge
from nmt.model.dropout import Dropout
from nmt.model.recurrent import Layers, Recurrent
from nmt.model.settings import RecurrentSettings
from nmt.model.states import Decoded, Memory, State, no_weights


class Decoder(nn.Module):
    """What all decoders have: the target embedding, and one way to be used.

    Args:
        vocabulary_size: V of the target.
        width: E, of the embedding.
        dropout: share of values zeroed in training.
    """

    feature_size: int
    """D, the width of what the output layer reads."""
    attention_rows: int = 0
    """A, how many rows of attention a step has."""

    def __init__(self, vocabulary_size: int, width: int, dropout: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, width, padding_idx=PAD)
        self.dropout = Dropout(dropout)

    def project_keys(self, states: Tensor) -> Tensor:
        """Return what the attention needs of the encoder's states (B,S,H)."""
        return states

    def start(self, memory: Memory) -> State:
        """Return the state before the first token."""
        raise NotImplementedError

    def forward(self, tokens: Tensor, state: State, memory: Memory) -> Decoded:
        """Read target tokens.

        Args:
            tokens: ids (B,T), the inputs of T steps.
            state: the state before them.
            memory: the source sentences.
        """
        raise NotImplementedError


class RecurrentDecoder(Decoder):
    """What the recurrent decoders share: the first state comes over a bridge."""

    def __init__(self, settings: RecurrentSettings, vocabulary_size: int) -> None:
        super().__init__(vocabulary_size, settings.embedding, settings.dropout)
        self.bridge = Bridge(settings)

    def embed(self, tokens: Tensor) -> Tensor:
        """Return the embeddings (B,T,E) of ids (B,T)."""
        embedded: Tensor = self.dropout(self.embedding(tokens))
        return embedded

    def start(self, memory: Memory) -> State:
        """Return the encoder's last states, made to fit."""
        return State(self.bridge(memory.last))


class PlainDecoder(RecurrentDecoder):
    """No attention: the fixed context in its first state is all that it sees.

    Sutskever et al. 2014, "Sequence to Sequence Learning with Neural Networks".
    """

    def __init__(self, settings: RecurrentSettings, vocabulary_size: int) -> None:
        super().__init__(settings, vocabulary_size)
        self.feature_size = settings.hidden
        self.layers = _stack(settings, settings.embedding, settings.decoder_layers)

    def forward(self, tokens: Tensor, state: State, memory: Memory) -> Decoded:
        """Read all tokens in one call of the recurrent layers."""
        outputs, last = self.layers(self.embed(tokens), state.parts)
        return Decoded(outputs, State(last), no_weights(tokens, memory))


class FedBackDecoder(RecurrentDecoder):
    """The context is part of the input: attention first, then the recurrent layers.

    At each step the query is the state of every layer before the step; the L contexts are joined
    to the embedding as the input of the recurrent layers. It needs a loop over the steps.
    Bahdanau et al. 2015, with a query for each layer.
    """

    def __init__(self, settings: RecurrentSettings, vocabulary_size: int) -> None:
        super().__init__(settings, vocabulary_size)
        self.feature_size = settings.hidden
        self.attention_rows = settings.decoder_layers
        self.attention = _attention(settings)
        width = settings.embedding + settings.decoder_layers * settings.hidden
        self.layers = _stack(settings, width, settings.decoder_layers)

    def project_keys(self, states: Tensor) -> Tensor:
        """Return the keys, projected once a batch and not once a step."""
        return self.attention.project_keys(states)

    def forward(self, tokens: Tensor, state: State, memory: Memory) -> Decoded:
        """Read tokens one by one."""
        outputs, rows, parts = [], [], state.parts
        for embedded in torch.split(self.embed(tokens), 1, dim=1):  # (B,1,E)
            queries = parts[0].transpose(0, 1)  # (B,L,H)
            context, weights = self.attention.attend(
                queries, memory.keys, memory.states, memory.mask
            )
            joined = torch.cat([embedded, context.flatten(1).unsqueeze(1)], dim=-1)
            output, parts = self.layers(joined, parts)
            outputs.append(output)
            rows.append(weights)  # (B,L,S)
        return Decoded(torch.cat(outputs, dim=1), State(parts), torch.stack(rows, dim=2))


class BetweenLayersDecoder(RecurrentDecoder):
    """Attention between the first recurrent layer and those above.

    The first layer reads the target alone; its states are the queries. The context joins the
    input of the layers above and that of the output layer, so under teacher forcing the whole
    target runs at once: two calls of recurrent layers and one attention product. Like the
    conditional GRU of Nematus (Sennrich et al. 2017), made free of the loop.
    """

    attention_rows = 1

    def __init__(self, settings: RecurrentSettings, vocabulary_size: int) -> None:
        super().__init__(settings, vocabulary_size)
        hidden = settings.hidden
        self.feature_size = 2 * hidden + settings.embedding
        self.attention = _attention(settings)
        self.first = _stack(settings, settings.embedding, 1)
        self.upper = _stack(settings, 2 * hidden, settings.decoder_layers - 1)

    def project_keys(self, states: Tensor) -> Tensor:
        """Return the keys, projected once a batch."""
        return self.attention.project_keys(states)

    def forward(self, tokens: Tensor, state: State, memory: Memory) -> Decoded:
        """Read all tokens at once."""
        embedded = self.embed(tokens)  # (B,T,E)
        queries, first = self.first(embedded, _layers(state.parts, slice(0, 1)))  # (B,T,H)
        context, weights = self.attention.attend(queries, memory.keys, memory.states, memory.mask)
        joined = self.dropout(torch.cat([queries, context], dim=-1))  # (B,T,2H)
        outputs, upper = self.upper(joined, _layers(state.parts, slice(1, None)))
        parts = tuple(torch.cat(pair) for pair in zip(first, upper, strict=True))
        features = torch.cat([outputs, context, embedded], dim=-1)
        return Decoded(features, State(parts), weights.unsqueeze(1))


def build_decoder(settings: RecurrentSettings, vocabulary_size: int) -> RecurrentDecoder:
    """Return the recurrent decoder that the settings name, for a target vocabulary of V."""
    kinds: dict[str, type[RecurrentDecoder]] = {
        "none": PlainDecoder,
        "fed_back": FedBackDecoder,
        "between_layers": BetweenLayersDecoder,
    }
    return kinds[settings.context](settings, vocabulary_size)


def _stack(settings: RecurrentSettings, input_size: int, layers: int) -> Recurrent:
    return Recurrent(settings.cell, input_size, settings.hidden, layers, settings.dropout)


def _layers(parts: Layers, which: slice) -> Layers:
    return tuple(part[which].contiguous() for part in parts)


def _attention(settings: RecurrentSettings) -> Attention:
    width, hard = settings.hidden, settings.alignment == "hard"
    if settings.attention == "additive":
        return AdditiveAttention(width, width, width, settings.attention_dropout, hard)
    return DotAttention(settings.attention == "scaled_dot", settings.attention_dropout, hard)
