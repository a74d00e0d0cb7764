"""The loop over epochs: train, validate, keep the best."""

import logging
import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, astuple, dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from tqdm import tqdm

from nmt.compute import ComputeSettings
from nmt.corpus.tokens import Sentence
from nmt.corpus.vocabulary import Vocabulary
from nmt.device import autocast
from nmt.errors import TrainingError
from nmt.model.seq2seq import Seq2Seq
from nmt.seeding import generator, seed_everything
from nmt.training.average import Average
from nmt.training.corpus import Batch, Numbers, Pairs, make_batch, plan_batches
from nmt.training.group import ALONE, Group
from nmt.training.optimizer import learning_rate, make_optimizer
from nmt.training.regularization import consistent_loss, drop_words, twice
from nmt.training.settings import TrainingSettings
from nmt.training.state import Checkpoint, Progress
from nmt.training.validation import Validation, validate

log = logging.getLogger(__name__)
metrics = logging.getLogger("nmt.metrics")

_CHECK = 50  # batches between two looks at the loss: each makes a GPU wait


@dataclass(frozen=True)
class Corpora:
    """What a model is trained and validated on.

    Args:
        train: the training pairs.
        validation: the validation pairs.
        references: their targets as tokens.
        target: vocabulary of the target.
        drawn: gives the training pairs of an epoch, split into pieces at random; None where all
            epochs have the same.
        pieces: whether tokens are pieces of words.
    """

    train: Pairs
    validation: Pairs
    references: list[Sentence]
    target: Vocabulary
    drawn: Callable[[int], Pairs] | None = None
    pieces: bool = False


@dataclass(frozen=True)
class Trained:
    """The outcome: the best epoch's weights, and how it went."""

    weights: dict[str, Tensor]
    progress: Progress


class Trainer:
    """Trains one model with one seed.

    Args:
        model: fresh, on its device.
        settings: how to train.
        compute: device and precision.
        seed: decides the order of batches, dropout and teacher forcing.
        checkpoint: where the state between epochs is kept.
        group: the processes that share this training.
    """

    def __init__(
        self,
        model: Seq2Seq,
        settings: TrainingSettings,
        compute: ComputeSettings,
        seed: int,
        checkpoint: Checkpoint,
        group: Group = ALONE,
    ) -> None:
        self.model = model
        self.settings = settings
        self.compute = compute
        self.seed = seed
        self.checkpoint = checkpoint
        self.group = group
        self.device = model.output.bias.device
        self.objective = group.parallel(Objective(model, settings))
        self.optimizer = make_optimizer(model, settings)
        decay = settings.ema_decay if group.leads else None
        self.average = None if decay is None else Average(model, decay)
        self.progress = Progress()
        self.best: dict[str, Tensor] = {}

    def run(self, corpora: Corpora) -> Trained:
        """Train to the last epoch or until patience ends; resume if a state is kept.

        Raises:
            TrainingError: the loss is no longer a finite number.
        """
        self._resume()
        while self.progress.epoch < self.settings.epochs and not self._out_of_patience():
            self._epoch(corpora)
            if self.group.leads:
                self._save()
        return Trained(self.best, self.progress)

    def _resume(self) -> None:
        kept = self.checkpoint.load(self.model, self.optimizer, self._averages())
        if kept:
            self.progress, self.best = kept

    def _save(self) -> None:
        self.checkpoint.save(self.progress, self.model, self.optimizer, self.best, self._averages())

    def _averages(self) -> list[Tensor]:
        return self.average.weights if self.average else []

    def _epoch(self, corpora: Corpora) -> None:
        """Run one epoch and take its figures down."""
        epoch = self.progress.epoch + 1
        seed_everything(*self.group.seeds(self.seed, epoch))
        rng = generator(self.seed, epoch)
        pairs = corpora.drawn(epoch) if corpora.drawn else corpora.train
        plan = plan_batches(pairs, self.settings, rng)
        forcing = self.settings.teacher_forcing.probability(epoch)
        loss, rate = self._train(pairs, plan, epoch, forcing, rng)
        with self.average.applied() if self.average else nullcontext():
            figures = self._validate(corpora)
            row = _row(epoch, loss, rate, forcing, figures)
            self._take_down(row)
        if self.group.leads:
            self._announce(row)

    def _validate(self, corpora: Corpora) -> Validation:
        """Measure the model; the leader does, and tells the others."""
        figures = Validation(0.0, 0.0, 0.0)
        if self.group.leads:
            figures = validate(
                self.model,
                corpora.validation,
                corpora.references,
                corpora.target,
                self.compute,
                corpora.pieces,
            )
        return Validation(*self.group.tell(astuple(figures)))

    def _announce(self, row: dict[str, float]) -> None:
        metrics.info(
            "epoch %d of %d: training loss %.3f, validation perplexity %.2f, BLEU %.2f",
            row["epoch"], self.settings.epochs, row["train_loss"], row["validation_perplexity"],
            row["validation_bleu"],
            extra={"step": row["epoch"], "metrics": row},
        )  # fmt: skip

    def _take_down(self, row: dict[str, float]) -> None:
        """Add an epoch's figures; keep the model's weights if they are the best so far."""
        epoch = self.progress.epoch + 1
        self.progress = replace(self.progress, epoch=epoch, history=[*self.progress.history, row])
        if self._is_best():
            self.progress = replace(self.progress, best_epoch=epoch)
            self.best = self.model.copy_weights() if self.group.leads else {}

    def _train(
        self,
        pairs: Pairs,
        plan: list[Numbers],
        epoch: int,
        forcing: float,
        rng: np.random.Generator,
    ) -> tuple[float, float]:
        """Go over the batches; return the mean loss a token and the last learning rate."""
        self.model.train()
        done = (epoch - 1) * len(plan)
        steps = self.settings.epochs * len(plan)
        losses = torch.zeros(len(plan), device=self.device)
        rate = 0.0
        name, hidden = f"epoch {epoch}/{self.settings.epochs}", None if self.group.leads else True
        bar = tqdm(plan, desc=name, unit="batch", leave=False, disable=hidden)
        for i, numbers in enumerate(bar, 1):
            rate = learning_rate(self.settings, done + i, steps)
            forced = _draw(int(pairs.trg.lengths[numbers].max()), forcing, rng)
            batch, weight = self._part(pairs, numbers)
            losses[i - 1] = self._step(batch.to(self.device), rate, forced, weight)
            if self.average:
                self.average.update(done + i)
            if i % _CHECK == 0 or i == len(plan):
                bar.set_postfix(loss=f"{self._checked(losses[i - 1], epoch, i):.3f}")
        values = self.group.mean(losses.double())
        self.progress.losses.append(tuple(values.tolist()))
        tokens = np.array([pairs.trg.lengths[numbers].sum() for numbers in plan])
        return float((values.numpy() * tokens).sum() / tokens.sum()), rate

    def _part(self, pairs: Pairs, numbers: Numbers) -> tuple[Batch, float]:
        """Return this process's part of a joined batch, and its weight in the mean of all parts.

        The weight goes by real target tokens; a process that has no pair takes one with weight 0.
        """
        part, lengths = self.group.part(numbers), pairs.trg.lengths
        weight = self.group.size * float(lengths[part].sum() / lengths[numbers].sum())
        return make_batch(pairs, part if len(part) else numbers[:1]), weight

    def _step(
        self, batch: Batch, rate: float, forced: list[bool] | None, weight: float = 1.0
    ) -> Tensor:
        """Take one step down the loss of a batch; return the loss, still on the device.

        Args:
            batch: this process's part of the joined batch.
            rate: learning rate.
            forced: for each step of the joined batch whether its input is the true token.
            weight: of the loss, in the mean over all processes; the returned one has it.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad(set_to_none=True)
        with autocast(self.device, self.compute):
            loss: Tensor = self.objective(batch, forced and forced[: batch.inputs.shape[1]])
        if weight != 1.0:
            loss = loss * weight
        loss.backward()  # type: ignore[no-untyped-call]
        if self.settings.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip_norm)
        self.optimizer.step()
        return loss.detach()

    def _checked(self, loss: Tensor, epoch: int, batch: int) -> float:
        value = float(self.group.mean(loss))
        if not math.isfinite(value):
            raise TrainingError(
                f"the loss is {value} at batch {batch} of epoch {epoch}; training has diverged: "
                "lower training.learning_rate or training.clip_norm, or raise warmup_steps"
            )
        return value

    def _is_best(self) -> bool:
        """Tell whether the last epoch is strictly better than all before, by `best_by`."""
        history = self.progress.history
        sign = -1.0 if self.settings.best_by == "loss" else 1.0
        values = [sign * row[f"validation_{self.settings.best_by}"] for row in history]
        return all(values[-1] > value for value in values[:-1])

    def _out_of_patience(self) -> bool:
        patience = self.settings.patience
        return (
            patience is not None and self.progress.epoch - self.progress.best_epoch >= patience > 0
        )


class Objective(nn.Module):
    """What training makes small: a batch's loss, with what the settings add to it.

    Args:
        model: gives the loss.
        settings: smoothing, dropped words, agreement of two passes.
    """

    def __init__(self, model: Seq2Seq, settings: TrainingSettings) -> None:
        super().__init__()
        self.model = model
        self.settings = settings

    def forward(self, batch: Batch, forced: list[bool] | None) -> Tensor:
        """Return the mean loss of a batch's real tokens."""
        smoothing, weight = self.settings.label_smoothing, self.settings.consistency
        if weight == 0.0:
            batch = drop_words(batch, self.settings.word_dropout)
            return batch_loss(self.model, batch, smoothing, forced)
        batch = drop_words(twice(batch), self.settings.word_dropout)
        return consistent_loss(self.model, batch, smoothing, weight, forced)


def batch_loss(
    model: Seq2Seq, batch: Batch, label_smoothing: float, forced: list[bool] | None = None
) -> Tensor:
    """Return the mean cross-entropy of a batch's real tokens.

    Padding is neither counted nor multiplied with the output layer.
    """
    features = model.features(batch.src, batch.lengths, batch.inputs, forced)
    real = features.flatten(0, 1).index_select(0, batch.real)  # (N,D)
    gold = batch.targets.flatten().index_select(0, batch.real)
    return cross_entropy(model.output(real), gold, label_smoothing=label_smoothing)


def _draw(steps: int, probability: float, rng: np.random.Generator) -> list[bool] | None:
    """Draw for each step whether its input is the true token; None: all are."""
    if probability >= 1.0:
        return None
    forced: list[bool] = (rng.random(steps) < probability).tolist()
    return forced


def _row(
    epoch: int, loss: float, rate: float, forcing: float, figures: Validation
) -> dict[str, float]:
    named = {f"validation_{name}": value for name, value in asdict(figures).items()}
    return {
        "epoch": epoch,
        "learning_rate": rate,
        "teacher_forcing": forcing,
        "train_loss": loss,
        "validation_perplexity": figures.perplexity,
        **named,
    }
