"""What a search asks of a model."""

from typing import Protocol, Self, TypeVar

from torch import Tensor

from nmt.model.states import State, Step


class Selectable(Protocol):
    """Something of each sentence of a batch."""

    def select(self, rows: Tensor) -> Self:
        """Return the sentences at `rows` (N), reordered or repeated."""


M = TypeVar("M", bound=Selectable)
"""What a model remembers of the source sentences; `Memory` for a single model."""


class SearchModel(Protocol[M]):
    """Reads source sentences once, then one target token a step; `Seq2Seq` and `Ensemble` do."""

    def encode(self, src: Tensor, lengths: Tensor) -> M:
        """Read ids (B,S), with real lengths (B,) on the CPU."""

    def start(self, memory: M) -> State:
        """Return the state before the first step."""

    def step(self, tokens: Tensor, state: State, memory: M) -> Step:
        """Read one token a sentence (B,) and score the next."""
