"""Training: batches, rates, the best epoch, stops and resumption."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nmt.compute import ComputeSettings
from nmt.corpus.symbols import EOS, PAD, SOS
from nmt.corpus.tokens import ParallelTokens
from nmt.corpus.vocabulary import Vocabulary
from nmt.errors import DataError, TrainingError
from nmt.model.seq2seq import Seq2Seq
from nmt.model.settings import RecurrentSettings
from nmt.seeding import generator, seed_everything
from nmt.training.corpus import Pairs, encode_pairs, make_batch, plan_batches
from nmt.training.optimizer import learning_rate
from nmt.training.settings import TeacherForcing, TrainingSettings
from nmt.training.state import Checkpoint, fingerprint
from nmt.training.trainer import Corpora, Trained, Trainer, batch_loss
from nmt.training.validation import validate

WORDS = [f"w{i}" for i in range(20)]
COMPUTE = ComputeSettings(device="cpu", precision="float32", threads=1, processes=1)


def training(**changes: object) -> TrainingSettings:
    values: dict[str, object] = {
        "epochs": 4,
        "batch_unit": "tokens",
        "batch_size": 60,
        "batches_per_epoch": None,
        "max_length": 30,
        "optimizer": "adamw",
        "learning_rate": 0.01,
        "weight_decay": 0.01,
        "warmup_steps": 5,
        "schedule": "cosine",
        "label_smoothing": 0.1,
        "word_dropout": 0.0,
        "consistency": 0.0,
        "clip_norm": 1.0,
        "ema_decay": None,
        "teacher_forcing": TeacherForcing(start=1.0, end=0.5, epochs=2),
        "best_by": "loss",
        "patience": None,
    }
    return TrainingSettings.model_validate(values | changes)


def pairs_of(count: int, seed: int = 0) -> ParallelTokens:
    """Sentences and their reversals."""
    rng = generator(seed)
    src = [[str(w) for w in rng.choice(WORDS, rng.integers(1, 9))] for _ in range(count)]
    return ParallelTokens(src, [list(reversed(s)) for s in src])


def corpora() -> Corpora:
    train, validation = pairs_of(80), pairs_of(20, seed=1)
    vocabulary = Vocabulary.build(train.trg, min_freq=1)
    return Corpora(
        encode_pairs(train, vocabulary, vocabulary, 30),
        encode_pairs(validation, vocabulary, vocabulary),
        validation.trg,
        vocabulary,
    )


def model(data: Corpora) -> Seq2Seq:
    settings = RecurrentSettings(
        kind="recurrent",
        tokenizer="words",
        cell="gru",
        attention="additive",
        alignment="soft",
        context="between_layers",
        embedding=8,
        hidden=8,
        encoder_layers=1,
        decoder_layers=2,
        bidirectional=True,
        dropout=0.2,
        attention_dropout=0.1,
        tie_target=True,
        tie_source=False,
    )
    seed_everything(7)
    return Seq2Seq(settings, len(data.target), len(data.target))


def trainer(folder: Path, data: Corpora, **changes: Any) -> Trainer:
    return Trainer(model(data), training(**changes), COMPUTE, seed=7, checkpoint=Checkpoint(folder))


def encoded(count: int = 200) -> Pairs:
    tokens = pairs_of(count)
    vocabulary = Vocabulary.build(tokens.trg, min_freq=1)
    return encode_pairs(tokens, vocabulary, vocabulary)


def test_batches_hold_each_pair_once_and_fit() -> None:
    pairs = encoded()
    plan = plan_batches(pairs, training(), generator(1))
    assert sorted(np.concatenate(plan).tolist()) == list(range(200))
    for numbers in plan:
        lengths = pairs.trg.lengths[numbers]
        assert len(numbers) * lengths.max() <= 60 or len(numbers) == 1
        assert lengths.max() - lengths.min() <= 3  # of like length


def test_batches_of_sentences_and_a_cap() -> None:
    changes = {"batch_unit": "sentences", "batch_size": 32, "batches_per_epoch": 3}
    plan = plan_batches(encoded(), training(**changes), generator(1))
    assert len(plan) == 3
    assert max(len(numbers) for numbers in plan) == 32


def test_batches_depend_on_the_generator_alone() -> None:
    first, again, other = (
        np.concatenate(plan_batches(encoded(), training(), generator(seed))).tolist()
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_a_batch_starts_with_sos_and_ends_with_eos() -> None:
    pairs = encoded()
    batch = make_batch(pairs, np.array([3, 4, 5]))
    assert (batch.inputs[:, 0] == SOS).all()
    for row, target, n in zip(batch.inputs, batch.targets, pairs.trg.lengths[3:6], strict=True):
        assert target[n - 1] == EOS
        assert (target[n:] == PAD).all()
        assert row[1:n].tolist() == target[: n - 1].tolist()
    assert len(batch.real) == pairs.trg.lengths[3:6].sum()


def test_long_pairs_are_left_out_and_counted() -> None:
    tokens = ParallelTokens([["a"] * 3, ["a"] * 4], [["b"], ["b"]])
    vocabulary = Vocabulary.build(tokens.src, 1)
    pairs = encode_pairs(tokens, vocabulary, vocabulary, max_length=3)
    assert (len(pairs), pairs.dropped) == (1, 1)
    with pytest.raises(DataError, match="no pair is left of 2: all have more than 2 tokens"):
        encode_pairs(tokens, vocabulary, vocabulary, max_length=2)


@pytest.mark.parametrize(
    ("schedule", "step", "expected"),
    [
        ("constant", 1, 0.002),
        ("constant", 5, 0.01),
        ("constant", 100, 0.01),
        ("linear", 55, 0.005),
        ("linear", 105, 0.0),
        ("cosine", 55, 0.005),
        ("cosine", 105, 0.0),
    ],
)
def test_learning_rate(schedule: str, step: int, expected: float) -> None:
    rate = learning_rate(training(schedule=schedule), step, steps=105)
    assert rate == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("epoch", "expected"), [(1, 1.0), (2, 0.95), (11, 0.5), (21, 0.0), (40, 0.0)]
)
def test_teacher_forcing_falls_linearly(epoch: int, expected: float) -> None:
    """The tutorial's course: 1 - min(epoch/20, 1), with epochs from 0."""
    forcing = TeacherForcing(start=1.0, end=0.0, epochs=20)
    assert forcing.probability(epoch) == pytest.approx(expected)


def test_padding_does_not_enter_the_loss() -> None:
    data = corpora()
    m = model(data).eval()
    numbers = np.arange(6)
    whole = batch_loss(m, make_batch(data.train, numbers), 0.1)
    lengths = data.train.trg.lengths[numbers]
    single = [batch_loss(m, make_batch(data.train, numbers[i : i + 1]), 0.1) for i in range(6)]
    mean = sum(loss * n for loss, n in zip(single, lengths.tolist(), strict=True)) / lengths.sum()
    torch.testing.assert_close(whole, mean)


def same(a: Trained, b: Trained) -> bool:
    return a.progress == b.progress and all(
        torch.equal(a.weights[name], b.weights[name]) for name in a.weights
    )


def test_the_same_seed_gives_the_same_training(tmp_path: Path) -> None:
    data = corpora()
    runs = [trainer(tmp_path / str(i), data).run(data) for i in range(2)]
    assert same(*runs)


@pytest.mark.parametrize(
    "changes", [{}, {"word_dropout": 0.2, "consistency": 1.0, "ema_decay": 0.9}]
)
def test_going_on_after_a_stop_equals_never_having_stopped(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    """Losses, draws of all kinds, schedule, averages, best epoch and all weights are equal."""
    data = corpora()
    straight = trainer(tmp_path / "straight", data, **changes).run(data)
    stopped = trainer(tmp_path / "stopped", data, **changes)
    for _ in range(2):
        stopped._epoch(data)
        stopped._save()
    torch.rand(100)  # the generator's state at the stop must not matter
    resumed = trainer(tmp_path / "stopped", data, **changes).run(data)
    assert same(straight, resumed)
    assert len(resumed.progress.history) == 4


@pytest.mark.parametrize(
    "changes", [{"word_dropout": 0.2}, {"consistency": 1.0}, {"ema_decay": 0.9}]
)
def test_each_addition_changes_the_weights_that_are_kept(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    data = corpora()
    runs = [trainer(tmp_path / str(len(c)), data, epochs=1, **c).run(data) for c in ({}, changes)]
    assert not same(*runs)


def test_the_averaged_weights_are_those_that_are_judged_and_kept(tmp_path: Path) -> None:
    data = corpora()
    averaged = trainer(tmp_path, data, ema_decay=0.9, epochs=3)
    trained = averaged.run(data)
    row = trained.progress.history[trained.progress.best_epoch - 1]
    judged = model(data)
    judged.load_state_dict(trained.weights, strict=False)
    figures = validate(judged, data.validation, data.references, data.target, COMPUTE)
    assert (figures.loss, figures.bleu) == (row["validation_loss"], row["validation_bleu"])
    last = averaged.model.copy_weights()  # the steps themselves went on from the raw ones
    assert not all(last[name].equal(trained.weights[name]) for name in last)


def test_a_fingerprint_tells_settings_and_bytes_apart(tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    file.write_text("one")
    first = fingerprint([file], {"rate": 0.1})
    assert fingerprint([file], {"rate": 0.1}) == first
    assert fingerprint([file], {"rate": 0.2}) != first
    file.write_text("two")
    assert fingerprint([file], {"rate": 0.1}) != first


def test_a_loss_that_is_no_number_stops_training(tmp_path: Path) -> None:
    data = corpora()
    sick = trainer(tmp_path, data)
    with torch.no_grad():
        sick.model.output.bias[5] = torch.nan
    with pytest.raises(TrainingError, match=r"the loss is nan at batch \d+ of epoch 1.*diverged"):
        sick.run(data)
    assert not list(tmp_path.rglob("state.pt"))


def test_patience_ends_training_and_the_best_epoch_is_kept(tmp_path: Path) -> None:
    data = corpora()
    # A rate this high makes it worse after a while; no epoch count is promised.
    trained = trainer(
        tmp_path, data, epochs=30, learning_rate=0.5, clip_norm=None, patience=2,
        schedule="constant",
    ).run(data)  # fmt: skip
    history = trained.progress.history
    losses = [row["validation_loss"] for row in history]
    assert trained.progress.best_epoch == losses.index(min(losses)) + 1
    assert len(history) == min(30, trained.progress.best_epoch + 2)


def test_figures_of_each_epoch_are_announced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data = corpora()
    with caplog.at_level(logging.INFO, logger="nmt.metrics"):
        trained = trainer(tmp_path, data, epochs=2).run(data)
    rows = [r.__dict__["metrics"] for r in caplog.records if r.name == "nmt.metrics"]
    assert rows == trained.progress.history
    assert set(rows[0]) == {
        "epoch", "learning_rate", "teacher_forcing", "train_loss", "validation_loss",
        "validation_perplexity", "validation_accuracy", "validation_bleu",
    }  # fmt: skip
