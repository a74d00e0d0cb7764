"""A training from files to files: what it keeps while it runs, and what it leaves."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from nmt.corpus.pieces import join_pieces
from nmt.corpus.tokens import write_tokens
from nmt.corpus.vocabulary import Vocabulary
from nmt.errors import ModelError
from nmt.files import read_jsonl, write_json
from nmt.pieces.draws import Draws
from nmt.pieces.model import Pieces
from nmt.training import job as job_module
from nmt.training.job import train_model
from nmt.training.stored import open_pairs
from nmt.training.trainer import Corpora, Trainer
from nmt.training.validation import Validation
from tests.unit.training_world import TrainingWorld


class StoppedError(Exception):
    """A training is stopped."""


def stop(trainer: Trainer, *_: object) -> None:
    raise StoppedError


def test_the_encoded_corpus_is_kept_until_the_training_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = TrainingWorld.make(tmp_path)
    world.set(training__epochs=1, training__max_length=7)
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_epoch", stop)
        with pytest.raises(StoppedError):
            train_model(world.job())
    assert [path.name for path in (tmp_path / "state").glob("*/*")] == ["corpus"]
    assert not (tmp_path / "out").exists()
    with monkeypatch.context() as patch:
        patch.setattr(job_module, "store_pairs", stop)  # it is not encoded again
        train_model(world.job())
    assert list((tmp_path / "state").iterdir()) == []
    lines = world.made()["iterations.csv"].decode().split("\n")
    assert lines[0] == "iteration,epoch,loss" and lines[1].startswith("1,1,")


def test_another_limit_of_length_encodes_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = TrainingWorld.make(tmp_path)
    monkeypatch.setattr(Trainer, "_epoch", stop)
    for length in (8, 7):
        world.set(training__max_length=length)
        with pytest.raises(StoppedError):
            train_model(world.job())
    corpora = list((tmp_path / "state").glob("*/corpus"))
    assert len({(path / "src.ids").read_bytes() for path in corpora}) == 2


# Pieces of words


@pytest.fixture
def pieces(tmp_path: Path) -> TrainingWorld:
    """A training on sentences in pieces, which each epoch draws anew; one vocabulary for both."""
    world = TrainingWorld.make(tmp_path, pairs=30)
    folder = world.prepared
    texts = {
        (split, language): [
            " ".join(tokens) for tokens in read_jsonl(folder.tokens / f"{split}.{language}.jsonl")
        ]
        for split in ("train", "val")
        for language in ("de", "en")
    }
    model = Pieces.learn([t for lines in texts.values() for t in lines], "bpe", 20, "size")
    for (split, language), lines in texts.items():
        write_tokens(folder.tokens / f"{split}.{language}.jsonl", map(model.split, lines))
        Vocabulary.of(model.all(), [[]]).save(folder.vocab / f"{language}.json")
    write_json(folder.tokens / "tokenizer.json", {"kind": "sentencepiece"})
    Draws(model, model, 0.3).save(folder.vocab, ("de", "en"))
    world.set(training__epochs=3, training__max_length=60, models__additive__tie_source=True)
    return world


def test_each_epoch_splits_the_same_text_in_another_way(
    pieces: TrainingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary = Vocabulary.load(pieces.prepared.vocab / "de.json")
    read, seen = Trainer._epoch, []

    def epoch(trainer: Trainer, corpora: Corpora) -> None:
        read(trainer, corpora)
        drawn = open_pairs(trainer.checkpoint.drawn)
        for side, kept in ((drawn.src, corpora.train.src), (drawn.trg, corpora.train.trg)):
            split = [vocabulary.decode(side[i].tolist()) for i in range(len(drawn))]
            best = [vocabulary.decode(kept[i].tolist()) for i in range(len(drawn))]
            assert list(map(join_pieces, split)) == list(map(join_pieces, best))
            seen.extend([split, best])

    monkeypatch.setattr(Trainer, "_epoch", epoch)
    train_model(pieces.job())
    sources = [str(split) for split in seen[::4]]
    assert len({*sources, str(seen[1])}) == 4  # three epochs, and the best way


def test_a_training_that_draws_goes_on_with_the_same_bytes(
    pieces: TrainingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    train_model(pieces.job())
    whole = pieces.made()
    validate = Trainer._validate

    def stop_late(trainer: Trainer, corpora: Corpora) -> Validation:
        if trainer.progress.epoch == 1:
            raise StoppedError
        return validate(trainer, corpora)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_validate", stop_late)
        with pytest.raises(StoppedError):
            train_model(pieces.job("again"))
    train_model(pieces.job("again"))
    assert pieces.made("again") == whole


@pytest.mark.slow
def test_two_processes_share_what_an_epoch_draws(pieces: TrainingWorld) -> None:
    """As one process does, within rounding."""
    pieces.set(models__additive__dropout=0.0, training__learning_rate=0.001)
    train_model(pieces.job("one"))
    pieces.set(compute__processes=2)
    train_model(pieces.job("two"))
    one, two = (load_file(pieces.root / out / "weights.safetensors") for out in ("one", "two"))
    for name in one:
        torch.testing.assert_close(two[name], one[name], rtol=0, atol=1e-5)
    rows, twins = (read_jsonl(pieces.root / out / "history.jsonl") for out in ("one", "two"))
    for row, twin in zip(rows, twins, strict=True):
        assert twin == pytest.approx(row, abs=1e-3)


def test_a_shared_embedding_needs_one_vocabulary(pieces: TrainingWorld) -> None:
    path = pieces.prepared.vocab / "en.json"
    vocabulary = Vocabulary.load(path)
    tokens = (*vocabulary.tokens[:4], *reversed(vocabulary.tokens[4:]))
    Vocabulary(tokens, vocabulary.counts).save(path)
    with pytest.raises(ModelError, match=r"models\.additive\.tie_source: needs one vocabulary"):
        train_model(pieces.job())
