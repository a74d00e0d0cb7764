"""All that the benchmarks use of the library's insides: a change there needs an edit here alone."""

import contextlib
import io
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from benchmarks.figures import Lap
from benchmarks.setting import Setting
from nmt.compute import ComputeSettings
from nmt.corpus.symbols import EOS
from nmt.corpus.tokens import Sentence, read_parallel, stream_parallel
from nmt.corpus.vocabulary import Vocabulary
from nmt.decoding.settings import DecodingSettings
from nmt.decoding.translator import Translator
from nmt.device import prepare
from nmt.errors import NmtError
from nmt.files import sha256
from nmt.model.seq2seq import Seq2Seq
from nmt.model.settings import ModelSettings, RecurrentSettings, read_model
from nmt.model.store import load_model
from nmt.seeding import generator, seed_everything
from nmt.training.corpus import Batch, Numbers, Pairs, encode_pairs, plan_batches
from nmt.training.group import ALONE, Group
from nmt.training.processes import _joined
from nmt.training.settings import TeacherForcing, TrainingSettings, read_training
from nmt.training.state import Checkpoint
from nmt.training.stored import open_pairs, store_pairs
from nmt.training.trainer import Corpora, Trainer

DEFAULT_MODEL = "additive"
"""The entry of `models` that stands for the default sizes."""
SEED = 1
Context = Literal["none", "fed_back", "between_layers"]


@dataclass(frozen=True)
class Corpus:
    """The encoded corpus and the source's vocabulary."""

    corpora: Corpora
    source: Vocabulary

    @property
    def pairs(self) -> Pairs:
        """The training pairs."""
        return self.corpora.train

    @property
    def sizes(self) -> tuple[int, int]:
        """V of the source and of the target."""
        return len(self.source), len(self.corpora.target)


def compute_settings(setting: Setting) -> ComputeSettings:
    """Return the `compute` section."""
    return setting.values.section("compute", ComputeSettings)


def wanted_device(setting: Setting) -> torch.device:
    """Return the device that the params name, with nothing of torch set."""
    cuda = compute_settings(setting).device != "cpu" and torch.cuda.is_available()
    return torch.device("cuda" if cuda else "cpu")


def training_settings(setting: Setting, model: str = DEFAULT_MODEL) -> TrainingSettings:
    """Return how a model is trained."""
    return read_training(setting.values, model)


def default_model(setting: Setting) -> RecurrentSettings:
    """Return the default model's entry of the `models` section."""
    key = f"models.{DEFAULT_MODEL}"
    return setting.values.section(key, RecurrentSettings, apart=("training",))


def any_model(setting: Setting, name: str) -> ModelSettings:
    """Return any entry of the `models` section."""
    return read_model(setting.values, name)


def transformers(setting: Setting) -> list[str]:
    """Return the names of the models of the transformer kind."""
    models = setting.values.value("models")
    return [name for name, entry in models.items() if entry["kind"] == "transformer"]


def tutorial_model(shape: tuple[int, int, int], context: Context) -> RecurrentSettings:
    """Return a model of this project at the tutorial's sizes: E, H and L of both sides."""
    embedding, hidden, layers = shape
    return RecurrentSettings(
        kind="recurrent",
        tokenizer="words",
        cell="gru",
        attention="none" if context == "none" else "additive",
        alignment="soft",
        context=context,
        embedding=embedding,
        hidden=hidden,
        encoder_layers=layers,
        decoder_layers=layers,
        bidirectional=False,
        dropout=0.0,
        attention_dropout=0.0,
        tie_target=False,
        tie_source=False,
    )


def tutorial_training(pairs: int) -> TrainingSettings:
    """Return how the tutorial trains: Adam, clipping, batches of so many pairs."""
    return TrainingSettings(
        epochs=1,
        batch_unit="sentences",
        batch_size=pairs,
        batches_per_epoch=None,
        max_length=100,
        optimizer="adam",
        learning_rate=0.001,
        weight_decay=0.0,
        warmup_steps=0,
        schedule="constant",
        label_smoothing=0.0,
        word_dropout=0.0,
        consistency=0.0,
        clip_norm=1.0,
        ema_decay=None,
        teacher_forcing=TeacherForcing(start=1.0, end=1.0, epochs=1),
        best_by="loss",
        patience=None,
    )


def read_corpus(setting: Setting, max_length: int) -> Corpus:
    """Read training and validation pairs as a training does: the first by way of mapped files."""
    data = setting.data
    source, target = (Vocabulary.load(setting.vocab / f"{name}.json") for name in data.languages)
    stored = Path(tempfile.mkdtemp(dir=setting.work)) / "pairs"
    train = stream_parallel(setting.tokens, data.train, *data.languages)
    store_pairs(stored, train, source, target, max_length)
    validation = read_parallel(setting.tokens, data.validation, *data.languages)
    held = encode_pairs(validation, source, target)
    return Corpus(Corpora(open_pairs(stored), held, validation.trg, target), source)


def spread_batches(pairs: Pairs, settings: TrainingSettings, count: int) -> list[Numbers]:
    """Return batches of evenly spread lengths, so that a few stand for the whole corpus."""
    every = settings.model_copy(update={"batches_per_epoch": None})
    plan = plan_batches(pairs, every, generator(SEED))
    lengths = pairs.trg.lengths
    plan.sort(key=lambda numbers: (lengths[numbers].max(), int(numbers.min())))
    places = (np.arange(count) + 0.5) / count * len(plan)
    return [plan[int(place)] for place in places]


def new_trainer(
    model: ModelSettings,
    corpus: Corpus,
    training: TrainingSettings,
    compute: ComputeSettings,
    group: Group = ALONE,
) -> Trainer:
    """Return a trainer of a fresh model, on its device, ready for steps."""
    seed_everything(SEED)
    device = prepare(compute)
    made = Seq2Seq(model, *corpus.sizes).to(device)
    made.train()
    nowhere = Checkpoint(Path(tempfile.gettempdir()) / "no-such-state")
    return Trainer(made, training, compute, SEED, nowhere, group)


def trainer_step(trainer: Trainer, batch: Batch, weight: float = 1.0) -> Tensor:
    """Take one step of a training; return the loss."""
    rate = trainer.settings.learning_rate
    return trainer._step(batch.to(trainer.device), rate, None, weight)


def timed_training(trainer: Trainer, pairs: Pairs, plan: list[Numbers]) -> Lap:
    """Take a training's step with each batch, or with its process's part of it."""
    return timed_steps(
        pairs, plan, lambda numbers: trainer_step(trainer, *trainer._part(pairs, numbers))
    )


def join(stack: ExitStack, group: Group, meeting: Path) -> None:
    """Join the processes of a group on the CPU, until the stack ends."""
    stack.enter_context(_joined(group, torch.device("cpu"), meeting))


def loss_and_optimizer(trainer: Trainer, tokens: int, target_size: int) -> Callable[[], Lap]:
    """Return a contender that takes a training step's loss over logits and its update alone."""
    logits = torch.randn(tokens, target_size, device=trainer.device, requires_grad=True)
    gold = torch.randint(target_size, (tokens,), device=trainer.device)
    weights = list(trainer.model.parameters())

    def run() -> Lap:
        began = time.perf_counter()
        logits.grad = None
        for weight in weights:
            weight.grad = torch.zeros_like(weight) if weight.grad is None else weight.grad
        loss = cross_entropy(logits, gold)
        loss.backward()  # type: ignore[no-untyped-call]
        trainer.optimizer.step()
        float(loss.detach())
        return Lap(time.perf_counter() - began, tokens)

    return run


def train_epochs(trainer: Trainer, corpora: Corpora) -> Iterator[float]:
    """Train epoch by epoch; yield the validation BLEU after each."""
    while trainer.progress.epoch < trainer.settings.epochs:
        trainer._epoch(corpora)
        yield trainer.progress.history[-1]["validation_bleu"]


def timed_steps(pairs: Pairs, plan: list[Numbers], step: Callable[[Numbers], Tensor]) -> Lap:
    """Take a step with each batch, by its pairs' numbers; the work is the real target tokens.

    Waits for the last loss, so that a device has done all of it.
    """
    tokens = sum(int(pairs.trg.lengths[numbers].sum()) for numbers in plan)
    began = time.perf_counter()
    loss = torch.zeros(())
    for numbers in plan:
        loss = step(numbers)
    float(loss)
    return Lap(time.perf_counter() - began, tokens)


def stored_model(setting: Setting, corpus: Corpus) -> Seq2Seq | None:
    """Return the default model that a training left in models/; None if none belongs here."""
    folder = setting.models / DEFAULT_MODEL / str(SEED)
    vocabularies = [sha256(setting.vocab / f"{name}.json") for name in setting.data.languages]
    try:
        model, config = load_model(folder, prepare(compute_settings(setting)), *corpus.sizes)
    except NmtError:
        return None
    trained = [config["vocabulary"][side]["sha256"] for side in ("source", "target")]
    same = config["model"] == default_model(setting).model_dump()
    return model if same and trained == vocabularies else None


def never_ending(model: Seq2Seq) -> None:
    """Make a model give no end sign, so that its translations are as long as they may be."""
    with torch.no_grad():
        model.output.bias[EOS] = -1e4


def decode(
    model: Seq2Seq,
    corpus: Corpus,
    sentences: list[Sentence],
    decoding: DecodingSettings,
    compute: ComputeSettings,
) -> tuple[float, int]:
    """Translate sentences; return the seconds, and the tokens of the translations."""
    translator = Translator(
        (model,), corpus.source, corpus.corpora.target, " ".join, decoding, compute
    )
    with contextlib.redirect_stderr(io.StringIO()):  # its progress bar would be in the way
        began = time.perf_counter()
        found = translator.translate(sentences)
        seconds = time.perf_counter() - began
    return seconds, sum(len(translation.hypothesis.tokens) for translation in found)
