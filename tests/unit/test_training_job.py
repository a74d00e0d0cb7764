"""A training from files to files: what it keeps while it runs, and what it leaves."""

from pathlib import Path

import pytest

from nmt.training import job as job_module
from nmt.training.job import train_model
from nmt.training.trainer import Trainer
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
