"""How the trainings went: figures of each epoch, loss of each batch."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.errors import DataError
from nmt.files import read_json, read_jsonl, read_lines, write_lines
from nmt.plots.job import Job

FIGURES = (
    "train_loss",
    "validation_loss",
    "validation_perplexity",
    "validation_accuracy",
    "validation_bleu",
)
"""What is kept of each epoch, by its name in history.jsonl."""


@dataclass(frozen=True)
class Course:
    """How one training went.

    Args:
        model: its name in the grid.
        seed: of the training.
        figures: one array a name in `FIGURES`, one value an epoch.
        best_epoch: the epoch whose weights are kept, counted from 1.
        losses: training loss of each batch, in nats a token.
        last_batches: number of the last batch of each epoch, counted from 1.
    """

    model: str
    seed: int
    figures: dict[str, NDArray[np.float64]]
    best_epoch: int
    losses: NDArray[np.float64]
    last_batches: NDArray[np.int64]

    @property
    def epochs(self) -> NDArray[np.int64]:
        """Numbers of the epochs, from 1."""
        return np.arange(1, len(self.figures["train_loss"]) + 1)


def read_courses(job: Job) -> list[Course]:
    """Read the trainings of the whole grid, models first, then seeds.

    Raises:
        DataError: a file is missing (naming the stage to run) or damaged.
    """
    return [_read(job, model, seed) for model in job.grid.models for seed in job.grid.seeds]


def write_curves(path: Path, courses: list[Course]) -> None:
    """Write the figures of all epochs as CSV, one row a model, seed and epoch."""
    rows = [",".join(("model", "seed", "epoch", *FIGURES))]
    for course in courses:
        for i, epoch in enumerate(course.epochs):
            values = [repr(float(course.figures[name][i])) for name in FIGURES]
            rows.append(",".join((course.model, str(course.seed), str(epoch), *values)))
    write_lines(path, rows)


def _read(job: Job, model: str, seed: int) -> Course:
    history = job.model_file(model, seed, "history.jsonl")
    config = job.model_file(model, seed, "config.json")
    again = f"run `dvc repro train@{model}-{seed}`"
    rows = read_jsonl(history)
    if not rows:
        raise DataError(f"{history}: expected a line for each epoch, got none; {again}")
    named = [(f"{history}, line {n}", row) for n, row in enumerate(rows, 1)]
    figures = {
        name: np.array([_number(row, name, where) for where, row in named]) for name in FIGURES
    }
    best = int(_number(read_json(config), "best_epoch", str(config)))
    if not 1 <= best <= len(rows):
        raise DataError(f"{config}: best_epoch is {best}, expected 1 to {len(rows)}; {again}")
    losses, ends = _read_losses(job.model_file(model, seed, "iterations.csv"), again)
    return Course(model, seed, figures, best, losses, ends)


def _number(row: object, key: str, where: str) -> float:
    value = row.get(key) if isinstance(row, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DataError(f"{where}: {key}: expected a number, got {value!r}; train the model again")
    return float(value)


def _read_losses(path: Path, again: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    losses: list[float] = []
    ends: dict[int, int] = {}
    for number, line in enumerate(read_lines(path)[1:], 2):
        try:
            iteration, epoch, loss = line.split(",")
            ends[int(epoch)] = int(iteration)
            losses.append(float(loss))
        except ValueError:
            raise DataError(
                f"{path}, line {number}: expected iteration,epoch,loss, got {line!r}; {again}"
            ) from None
    if not losses:
        raise DataError(f"{path}: expected a line for each batch, got none; {again}")
    return np.array(losses), np.array([ends[epoch] for epoch in sorted(ends)])
