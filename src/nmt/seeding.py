"""The one place where random number generators are seeded."""

import random

import numpy as np
import torch


def seed_everything(*numbers: int) -> None:
    """Seed Python, NumPy and torch (all devices) from the given numbers, in their order.

    Called at the start of each epoch with the seed and the epoch, so that a training that goes
    on after a stop draws the same numbers as one that never stopped.
    """
    state = np.random.SeedSequence(numbers).generate_state(2, np.uint64)
    random.seed(int(state[0]))
    np.random.seed(int(state[0] % 2**32))
    torch.manual_seed(int(state[1]))


def generator(*numbers: int) -> np.random.Generator:
    """Return a NumPy generator of its own, which no other draw disturbs."""
    return np.random.default_rng(np.random.SeedSequence(numbers))
