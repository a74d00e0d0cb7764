"""Several models searched as one: at each step the mean of their probabilities.

As Sutskever et al. 2014 ("Sequence to Sequence Learning with Neural Networks", section 3.6) search
with five models at once; why it helps: Hansen and Salamon 1990, "Neural Network Ensembles".
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

import torch
from torch import Tensor

from nmt.decoding.interface import M, SearchModel
from nmt.model.states import State, Step


@dataclass(frozen=True)
class Memories(Generic[M]):
    """What each member has read, in the order of the members."""

    members: tuple[M, ...]

    def select(self, rows: Tensor) -> "Memories[M]":
        """Return the sentences at `rows` (N), reordered or repeated."""
        return Memories(tuple(memory.select(rows) for memory in self.members))


class Ensemble(Generic[M]):
    """Models with the same vocabularies as one model to search with.

    Its state holds the parts of all members' states, one member after the other. So all must be
    of one kind, with equally many parts: an ensemble is of one model trained with several seeds.

    Args:
        members: one or more, in evaluation mode.
    """

    def __init__(self, members: Sequence[SearchModel[M]]) -> None:
        self.members = tuple(members)

    def encode(self, src: Tensor, lengths: Tensor) -> Memories[M]:
        """Read ids (B,S), with real lengths (B,) on the CPU."""
        return Memories(tuple(member.encode(src, lengths) for member in self.members))

    def start(self, memory: Memories[M]) -> State:
        """Return the states of all members before the first step."""
        pairs = zip(self.members, memory.members, strict=True)
        return _joined([member.start(own) for member, own in pairs])

    def step(self, tokens: Tensor, state: State, memory: Memories[M]) -> Step:
        """Read one token a sentence (B,) and score the next.

        Returns:
            the logarithm of the mean of the members' probabilities as logits (B,V), and the mean
            of their attention (B,A,S), each row of which sums to 1 as theirs do.
        """
        states = _split(state, len(self.members))
        steps = [
            member.step(tokens, before, own)
            for member, before, own in zip(self.members, states, memory.members, strict=True)
        ]
        scores = torch.stack([step.logits.float().log_softmax(-1) for step in steps])  # (N,B,V)
        return Step(
            scores.logsumexp(0) - math.log(len(steps)),
            _joined([step.state for step in steps]),
            torch.stack([step.weights.float() for step in steps]).mean(0),
        )


def _joined(states: Sequence[State]) -> State:
    return State(tuple(part for state in states for part in state.parts))


def _split(state: State, members: int) -> list[State]:
    count = len(state.parts) // members
    return [State(state.parts[i * count : (i + 1) * count]) for i in range(members)]
