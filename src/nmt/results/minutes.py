"""How long a training took, and where it ran, by its run in MLflow."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from nmt.history.rows import FINISHED
from nmt.history.runs import Run, Runs
from nmt.provenance import names


@dataclass(frozen=True)
class Training:
    """What is recorded of a training.

    Args:
        minutes: that it took, with those lost to stops; None if not recorded.
        device: "cpu: NAME" or "cuda: NAME"; None if not recorded.
    """

    minutes: float | None = None
    device: str | None = None


def training(runs: Runs, path: str, digest: str) -> Training:
    """Look up the training that made a model; the newest if several made the same bytes.

    Args:
        runs: all of the project.
        path: of the model's folder.
        digest: its hash in dvc.lock.
    """
    found = runs.with_out(path, digest)
    if not found:
        return Training()
    run = found[-1]
    device = run.tags.get(names.DEVICE)
    if device == "cpu":
        device = f"cpu: {run.tags.get(f'{names.MACHINE}cpu', 'unknown')}"
    return Training(_minutes(run, _stopped_before(run, runs)), device)


def _minutes(run: Run, before: Sequence[Run]) -> float | None:
    if names.CONTINUES in run.tags and not before:
        return None
    known = [each.metrics.get("minutes") for each in (run, *before)]
    found = [value for value in known if value is not None]
    return sum(found) if len(found) == len(known) else None


def _stopped_before(run: Run, runs: Runs) -> list[Run]:
    """Return the runs whose training this one took up, directly or through others."""
    if names.CONTINUES not in run.tags:
        return []
    earlier = [r for r in runs.runs if r.stage == run.stage and r.started < run.started]
    stopped = takewhile(lambda r: r.status != FINISHED, reversed(earlier))
    return [r for r in stopped if _reads(r) == _reads(run)]


def _reads(run: Run) -> tuple[object, ...]:
    """Return what decides whether a training goes on from another's state."""
    return run.tags.get(names.CODE), run.tags.get(names.PARAMS), run.deps
