"""Several processes that share one training: the same result, and one end for all."""

import json
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, distributed, nn

from nmt.compute import ComputeSettings
from nmt.errors import DataError, ParamsError, TrainingError
from nmt.training import processes
from nmt.training.group import ALONE, Group
from nmt.training.job import train_model
from nmt.training.processes import run_together
from tests.unit.training_world import ROOT, TrainingWorld

TWO = ComputeSettings(device="cpu", precision="float32", threads=1, processes=2)


@pytest.fixture(autouse=True)
def parted() -> Iterator[None]:
    """Leave the group that a failure left joined, so that the next test can make its own."""
    yield
    if distributed.is_initialized():
        distributed.destroy_process_group()


# What a batch is to one of them


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_batch_is_dealt_out_evenly(size: int) -> None:
    numbers = np.arange(100, 131)
    lengths = np.sort(np.random.default_rng(1).integers(3, 40, 31))
    parts = [Group(rank, size).part(numbers) for rank in range(size)]
    assert sorted(np.concatenate(parts).tolist()) == numbers.tolist()
    tokens = [lengths[part - 100].sum() for part in parts]
    assert max(tokens) - min(tokens) <= 2 * lengths.max()  # of 600 tokens and more


def test_a_batch_may_have_fewer_pairs_than_processes() -> None:
    parts = [Group(rank, 3).part(np.array([7, 8])).tolist() for rank in range(3)]
    assert parts == [[7], [8], []]


def test_the_leader_draws_what_it_would_draw_alone_and_the_others_something_else() -> None:
    assert Group(0, 2).seeds(5, 1) == ALONE.seeds(5, 1)
    assert len({Group(rank, 3).seeds(5, 1) for rank in range(3)}) == 3


# Whole trainings


def command(world: TrainingWorld, out: str, *launcher: str) -> list[str]:
    """Return the command that trains."""
    folders = {"prepared": "prepared", "out": out, "state": "state"}
    options = [f"--{name}={world.root / folder}" for name, folder in folders.items()]
    options += [f"--params={world.root / 'params.yaml'}", "--model=additive", "--seed=1"]
    return [*(launcher or (sys.executable,)), "-m", "pipeline.train", *options]


def weights(world: TrainingWorld, out: str) -> dict[str, Tensor]:
    found: dict[str, Tensor] = load_file(world.root / out / "additive/1/weights.safetensors")
    return found


@pytest.mark.slow
def test_two_processes_give_what_one_gives_for_the_joined_batch(tmp_path: Path) -> None:
    """Within rounding: started by the training itself, and by torchrun, with equal bytes."""
    world = TrainingWorld.make(tmp_path, pairs=40)
    world.set(
        models__additive__dropout=0.0, training__epochs=2, training__batch_size=12,
        training__batch_unit="tokens", training__learning_rate=0.001, training__ema_decay=0.9,
        training__teacher_forcing={"start": 1.0, "end": 0.5, "epochs": 1},
    )  # fmt: skip
    subprocess.run(command(world, "one"), cwd=ROOT, check=True)
    world.set(compute__processes=2)
    subprocess.run(command(world, "two"), cwd=ROOT, check=True)
    torchrun = str(Path(sys.executable).with_name("torchrun"))
    launched = command(world, "launched", torchrun, "--standalone", "--nproc-per-node=2")
    subprocess.run(launched, cwd=ROOT, check=True)
    one, two, other = (weights(world, out) for out in ("one", "two", "launched"))
    for name in one:
        torch.testing.assert_close(two[name], one[name], rtol=0, atol=1e-5)
        assert other[name].equal(two[name])
    rows = [
        json.loads(line)
        for out in ("one", "two")
        for line in (tmp_path / out / "additive/1/history.jsonl").read_text().splitlines()
    ]
    for row, twin in zip(rows[:2], rows[2:], strict=True):
        assert twin == pytest.approx(row, abs=1e-3)


@pytest.mark.slow
def test_a_kill_ends_all_and_what_follows_equals_never_having_stopped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    world = TrainingWorld.make(tmp_path)
    world.set(
        compute__processes=2, training__epochs=3, training__ema_decay=0.9,
        training__word_dropout=0.1, training__consistency=1.0,
    )  # fmt: skip
    with subprocess.Popen(command(world, "cut"), cwd=ROOT, stderr=subprocess.PIPE) as stopped:
        assert stopped.stderr is not None
        while b"epoch 1 of 3" not in stopped.stderr.readline():
            assert stopped.poll() is None
        others = psutil.Process(stopped.pid).children(recursive=True)
        while not list(tmp_path.glob("state/*/state.pt")):
            time.sleep(0.01)
        stopped.send_signal(signal.SIGKILL)
    assert others
    _, alive = psutil.wait_procs(others, timeout=10)
    assert alive == []
    assert not (tmp_path / "cut").exists()
    train_model(world.job("resumed"))
    with caplog.at_level(logging.INFO, logger="nmt.metrics"):
        caplog.clear()  # an earlier test may have let the loggers speak
        train_model(world.job("straight"))
    assert world.made("resumed") == world.made("straight")
    told = [record.__dict__["metrics"] for record in caplog.records if record.name == "nmt.metrics"]
    lines = world.made("straight")["history.jsonl"].decode().splitlines()
    assert told == [json.loads(line) for line in lines]


def test_one_process_never_touches_torch_distributed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError

    for name in ("init_process_group", "all_reduce", "broadcast", "barrier", "is_initialized"):
        monkeypatch.setattr(distributed, name, refuse)
    monkeypatch.setattr(processes, "get_context", refuse)
    world = TrainingWorld.make(tmp_path, pairs=20)
    world.set(training__epochs=1)
    train_model(world.job())
    monkeypatch.undo()
    assert "weights.safetensors" in world.made()


# Failures


def raise_error(kind: type[Exception], group: Group, _: torch.device) -> None:
    """Fail in the second process, while the first waits for it."""
    group.wait()
    if not group.leads:
        raise kind("disk full")
    group.wait()


def be_killed(group: Group, _: torch.device) -> None:
    if not group.leads:
        os.kill(os.getpid(), signal.SIGKILL)
    group.wait()


def spawned() -> list[psutil.Process]:
    """Return the processes that this one started and that have not ended."""
    return [p for p in psutil.Process().children() if "spawn_main" in " ".join(p.cmdline())]


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (partial(raise_error, ValueError), "ValueError: disk full"),
        (partial(raise_error, DataError), "disk full"),
        (be_killed, "it was ended by SIGKILL"),
    ],
)
def test_a_process_that_fails_ends_all(work: processes.Work, said: str) -> None:
    with pytest.raises(TrainingError) as error:
        run_together(TWO, work)
    assert str(error.value) == (
        f"process 1 of 2 (counted from 0) failed: {said}; all have been ended, and nothing was "
        "written"
    )
    assert spawned() == []


def raise_in_all(group: Group, _: torch.device) -> None:
    raise DataError("no such file")


def raise_in_leader(group: Group, _: torch.device) -> None:
    if group.leads:
        raise KeyboardInterrupt
    group.wait()


def test_an_error_of_the_leader_is_told_as_it_is() -> None:
    with pytest.raises(DataError, match="^no such file$"):
        run_together(TWO, raise_in_all)


def test_an_interrupted_leader_ends_the_others() -> None:
    with pytest.raises(KeyboardInterrupt):
        run_together(TWO, raise_in_leader)
    assert spawned() == []


def test_another_number_than_was_started_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("RANK", "0")
    with pytest.raises(ParamsError, match="compute.processes: got 2, but 4 processes were started"):
        run_together(TWO, raise_in_all)


class Half(nn.Module):
    """Has weights that no pass uses, and some that the first process alone uses."""

    def __init__(self) -> None:
        super().__init__()
        self.used = nn.Parameter(torch.ones(2))
        self.once = nn.Parameter(torch.ones(2))
        self.unused = nn.Parameter(torch.ones(2))

    def forward(self, values: Tensor, leads: bool) -> Tensor:
        return (self.used * values).sum() + (self.once.sum() if leads else 0.0)


def use_half(folder: Path, group: Group, device: torch.device) -> None:
    assert device.type == "cpu"
    half = Half()
    module = group.parallel(half)
    for _ in range(2):
        half.zero_grad()
        module(torch.full((2,), group.rank + 1.0), group.leads).backward()
    mean = group.mean(torch.tensor([group.rank + 1.0]))
    told = group.tell([1 / 3 if group.leads else 0.0])
    found = {
        name: None if p.grad is None else p.grad.tolist() for name, p in half.named_parameters()
    }
    (folder / f"{group.rank}.json").write_text(json.dumps([found, mean.tolist(), told]))


def test_gradients_are_shared_though_some_weights_are_not_used(tmp_path: Path) -> None:
    run_together(TWO, partial(use_half, tmp_path))
    expected = [{"used": [1.5, 1.5], "once": [0.5, 0.5], "unused": None}, [1.5], [1 / 3]]
    for rank in range(2):
        assert json.loads((tmp_path / f"{rank}.json").read_text()) == expected
