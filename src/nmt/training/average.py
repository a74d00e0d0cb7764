"""The moving average of a model's weights, which translates better than any single step's."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class Average:
    """An exponential moving average of a model's weights, on the model's device.

    Polyak and Juditsky 1992, "Acceleration of Stochastic Approximation by Averaging".

    Args:
        model: its weights are followed.
        decay: share of the average that a step keeps; early steps keep less, so that the first
            weights are soon forgotten.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self._model = model
        self._decay = decay
        self.weights = self._copies()

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights after a step, counted from 1."""
        decay = min(self._decay, (1 + step) / (10 + step))
        for mean, weight in zip(self.weights, self._model.parameters(), strict=True):
            mean.lerp_(weight, 1 - decay)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Give the model the averaged weights while the block runs."""
        own = self._copies()
        self._give(self.weights)
        try:
            yield
        finally:
            self._give(own)

    @torch.no_grad()
    def _give(self, weights: list[Tensor]) -> None:
        for parameter, weight in zip(self._model.parameters(), weights, strict=True):
            parameter.copy_(weight)

    def _copies(self) -> list[Tensor]:
        return [weight.detach().clone() for weight in self._model.parameters()]
