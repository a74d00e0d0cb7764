"""What a search asks of a model."""

from typing import Protocol

from torch import Tensor

from nmt.model.states import Memory, State, Step


class SearchModel(Protocol):
    """Reads source sentences once, then one target token a step; `Seq2Seq` does."""

    def encode(self, src: Tensor, lengths: Tensor) -> Memory:
        """Read ids (B,S), with real lengths (B,) on the CPU."""

    def start(self, memory: Memory) -> State:
        """Return the state before the first step."""

    def step(self, tokens: Tensor, state: State, memory: Memory) -> Step:
        """Read one token a sentence (B,) and score the next."""
