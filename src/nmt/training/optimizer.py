"""The optimizer and the course of its learning rate."""

import math

import torch
from torch import nn

from nmt.training.settings import TrainingSettings


def make_optimizer(model: nn.Module, settings: TrainingSettings) -> torch.optim.Optimizer:
    """Return Adam or AdamW over all weights, fused where the device has it."""
    kinds: dict[str, type[torch.optim.Adam]] = {
        "adam": torch.optim.Adam,
        "adamw": torch.optim.AdamW,
    }
    return kinds[settings.optimizer](
        model.parameters(),
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        fused=True,
    )


def learning_rate(settings: TrainingSettings, step: int, steps: int) -> float:
    """Return the rate of one step.

    Args:
        settings: highest rate, warm-up and schedule.
        step: number of the step, from 1.
        steps: number of the last step.
    """
    if step <= settings.warmup_steps:
        return settings.learning_rate * step / settings.warmup_steps
    share = (step - settings.warmup_steps) / max(1, steps - settings.warmup_steps)
    factor = {
        "constant": 1.0,
        "linear": 1.0 - share,
        "cosine": 0.5 * (1.0 + math.cos(math.pi * share)),
    }[settings.schedule]
    return settings.learning_rate * factor
