"""What passes between encoder and decoder, and from one step to the next."""

from dataclasses import dataclass

from torch import Tensor

from nmt.model.recurrent import Layers


@dataclass(frozen=True)
class Memory:
    """What the decoder may see of the source sentences.

    Args:
        states: the encoder's top states (B,S,H).
        mask: bool (B,1,S), True for real tokens.
        keys: the states as the attention wants them, projected once (B,S,h).
        last: the encoder's last states, each (L,B,H).
    """

    states: Tensor
    mask: Tensor
    keys: Tensor
    last: Layers

    def select(self, rows: Tensor) -> "Memory":
        """Return the sentences at `rows` (N), reordered or repeated."""
        return Memory(
            self.states.index_select(0, rows),
            self.mask.index_select(0, rows),
            self.keys.index_select(0, rows),
            tuple(part.index_select(1, rows) for part in self.last),
        )


@dataclass(frozen=True)
class State:
    """The decoder's state between two steps: `parts` of shape (L,B,H)."""

    parts: tuple[Tensor, ...]

    def select(self, rows: Tensor) -> "State":
        """Return the sentences at `rows` (N), reordered or repeated."""
        return State(tuple(part.index_select(1, rows) for part in self.parts))


@dataclass(frozen=True)
class Decoded:
    """What a decoder makes of T target tokens.

    Args:
        features: what the output layer reads (B,T,D).
        state: the state after them.
        weights: attention (B,A,T,S); A is 0 without attention.
    """

    features: Tensor
    state: State
    weights: Tensor


@dataclass(frozen=True)
class Step:
    """One step of decoding.

    Args:
        logits: scores of the next token (B,V), float32.
        state: the state after the step.
        weights: attention (B,A,S).
    """

    logits: Tensor
    state: State
    weights: Tensor


def no_weights(tokens: Tensor, memory: Memory) -> Tensor:
    """Return the empty attention (B,0,T,S) of a decoder that has none, for tokens (B,T)."""
    batch, target = tokens.shape
    return memory.states.new_empty(batch, 0, target, memory.states.shape[1])
