"""The `training` section, and what an entry of `models` has in place of its values."""

from typing import Literal

from pydantic import Field

from nmt.params import Params, Settings


class TeacherForcing(Settings):
    """How often a step's input is the true token."""

    start: float = Field(ge=0, le=1, description="probability in the first epoch")
    end: float = Field(ge=0, le=1, description="probability after `epochs` epochs")
    epochs: int = Field(ge=1, description="epochs over which it changes linearly")

    def probability(self, epoch: int) -> float:
        """Return the probability in an epoch, counted from 1."""
        share = min((epoch - 1) / self.epochs, 1.0)
        return self.start + (self.end - self.start) * share


class TrainingSettings(Settings):
    """How a model is trained."""

    epochs: int = Field(ge=1, description="passes over the training pairs")
    batch_unit: Literal["tokens", "sentences"] = Field(description="what batch_size counts")
    batch_size: int = Field(ge=1, description="target tokens (padding counted) or pairs")
    batches_per_epoch: int | None = Field(ge=1, description="at most so many; null: all")
    max_length: int = Field(ge=1, description="most tokens a side of a training pair")
    optimizer: Literal["adam", "adamw"] = Field(description="Kingma and Ba 2015; AdamW 2019")
    learning_rate: float = Field(gt=0, description="highest learning rate")
    weight_decay: float = Field(ge=0, description="decay of the weights")
    warmup_steps: int = Field(ge=0, description="steps over which the rate rises from zero")
    schedule: Literal["constant", "linear", "cosine"] = Field(description="its course after that")
    label_smoothing: float = Field(ge=0, lt=1, description="probability spread over all words")
    word_dropout: float = Field(ge=0, lt=1, description="share of input words made <unk>")
    consistency: float = Field(ge=0, description="weight of R-Drop's divergence; 0: one pass")
    clip_norm: float | None = Field(gt=0, description="largest norm of the gradient; null: none")
    ema_decay: float | None = Field(
        gt=0, lt=1, description="decay of the weights' moving average; null: none is kept"
    )
    teacher_forcing: TeacherForcing
    best_by: Literal["loss", "accuracy", "bleu"] = Field(description="what chooses the epoch")
    patience: int | None = Field(ge=1, description="epochs without a better one; null: never stop")


def read_training(params: Params, model: str) -> TrainingSettings:
    """Return how a model is trained: as the section says, but for what its own entry says."""
    return params.overridden("training", f"models.{model}.training", TrainingSettings)
