"""The tutorial's step-by-step loop, in code of our own from its description.

A GRU encoder and a GRU decoder that runs one step for each target token, with the output layer
inside each step. Without attention, or with additive attention (Bahdanau et al. 2015) that is
asked by the state of every layer before the step and whose contexts join the step's input; the
attention projects the keys at each step, as a module called with queries, keys and values does.
Teacher forcing; cross-entropy over all positions, padding ignored; Adam as torch makes it, and
clipping. It has what the tutorial has: batches of like length, and an encoder that does not read
padding. It uses nothing of this project's model.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from nmt.corpus.symbols import PAD
from nmt.training.corpus import Batch


class LoopEncoder(nn.Module):
    """Embedding and L layers of GRU."""

    def __init__(self, vocabulary: int, embedding: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedding, padding_idx=PAD)
        self.gru = nn.GRU(embedding, hidden, layers, batch_first=True)

    def forward(self, src: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Return the top layer's states (B,S,H) and the last state of each layer (L,B,H)."""
        packed = pack_padded_sequence(
            self.embedding(src), lengths, batch_first=True, enforce_sorted=False
        )
        states, last = self.gru(packed)
        return pad_packed_sequence(states, batch_first=True)[0], last


class LoopAttention(nn.Module):
    """v' tanh(W_k k + W_q q), masked softmax, and the mean of the states by these weights."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.key = nn.Linear(hidden, hidden, bias=False)
        self.energy = nn.Linear(hidden, 1, bias=False)

    def forward(self, queries: Tensor, states: Tensor, padding: Tensor) -> Tensor:
        """Return contexts (B,L,H) for queries (B,L,H), states (B,S,H) and padding (B,1,S)."""
        hidden = self.query(queries).unsqueeze(2) + self.key(states).unsqueeze(1)  # (B,L,S,H)
        scores = self.energy(torch.tanh(hidden)).squeeze(-1)  # (B,L,S)
        weights: Tensor = scores.masked_fill(padding, -1e9).softmax(-1)
        return weights @ states


class LoopDecoder(nn.Module):
    """L layers of GRU and the output layer, one target token a call."""

    def __init__(
        self, vocabulary: int, embedding: int, hidden: int, layers: int, attention: bool
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, embedding, padding_idx=PAD)
        self.attention = LoopAttention(hidden) if attention else None
        width = embedding + (layers * hidden if attention else 0)
        self.gru = nn.GRU(width, hidden, layers, batch_first=True)
        self.output = nn.Linear(hidden, vocabulary)

    def forward(
        self, token: Tensor, state: Tensor, states: Tensor, padding: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Read a token (B,1) after a state (L,B,H); return logits (B,1,V) and the new state."""
        inputs = self.embedding(token)
        if self.attention is not None:
            contexts = self.attention(state.transpose(0, 1), states, padding)  # (B,L,H)
            inputs = torch.cat([inputs, contexts.flatten(1).unsqueeze(1)], dim=-1)
        outputs, state = self.gru(inputs, state)
        return self.output(outputs), state


class LoopModel(nn.Module):
    """The tutorial's encoder and decoder.

    Args:
        vocabularies: V of the source and of the target.
        shape: E, H and L; the encoder and the decoder have the same.
        attention: whether it has additive attention, fed back.
    """

    def __init__(
        self, vocabularies: tuple[int, int], shape: tuple[int, int, int], attention: bool
    ) -> None:
        super().__init__()
        source, target = vocabularies
        self.encoder = LoopEncoder(source, *shape)
        self.decoder = LoopDecoder(target, *shape, attention)

    def forward(self, src: Tensor, lengths: Tensor, inputs: Tensor) -> Tensor:
        """Return logits (B,T,V) under teacher forcing: one step for each of the T inputs."""
        states, state = self.encoder(src, lengths)
        padding = (src == PAD).unsqueeze(1)  # (B,1,S)
        logits = []
        for i in range(inputs.shape[1]):
            scores, state = self.decoder(inputs[:, i : i + 1], state, states, padding)
            logits.append(scores)
        return torch.cat(logits, dim=1)

    def loss(self, batch: Batch) -> Tensor:
        """Return the mean cross-entropy of a batch, its padding ignored."""
        logits = self(batch.src, batch.lengths, batch.inputs)
        return cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=PAD)


class LoopTrainer:
    """The tutorial's step of training.

    Args:
        model: on its device.
        learning_rate: of Adam.
        clip_norm: largest norm of the gradient.
    """

    def __init__(self, model: LoopModel, learning_rate: float, clip_norm: float) -> None:
        self.model = model.train()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
        self.clip_norm = clip_norm
        self.device = model.decoder.output.bias.device

    def step(self, batch: Batch) -> Tensor:
        """Take one step down the loss of a batch; return the loss."""
        self.optimizer.zero_grad()
        loss = self.model.loss(batch.to(self.device))
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip_norm)
        self.optimizer.step()
        return loss.detach()
