"""What the tests of tracking share: calls to record, and the runs that come of them."""

import logging
from pathlib import Path
from typing import Any

from mlflow.entities import Run

from nmt import tracking
from nmt.run.declared import Declared
from nmt.run.inputs import Inputs
from nmt.run.record import Record
from nmt.run.stage import Stage
from nmt.tracking.store import open_store


def record(root: Path, stage: str = "train", **changes: Any) -> Record:
    """Return a call of a stage on a project's folder."""
    options: dict[str, Any] = {"params": root / "params.yaml"}
    if stage != "plot":
        options |= {"model": "a"} | ({} if stage.endswith("_ensemble") else {"seed": 1})
    start = Inputs({"pipeline/train.py": "c0de"}, changes.get("params", {"training.rate": 0.5}), {})
    return Record(root, Stage(stage, options), Declared(outs=changes.get("outs", [])), start)


def runs(root: Path) -> list[Run]:
    """Return all runs, the newest first."""
    store = open_store(root)
    return list(store.client.search_runs([store.experiment]))


def only(root: Path) -> Run:
    """Return the one run there is."""
    (run,) = runs(root)
    return run


def artifact(root: Path, run: Run, name: str) -> Path:
    """Return the path of a run's artifact."""
    return tracking.artifact_folder(open_store(root), run) / name


def history(root: Path, run: Run, name: str) -> list[tuple[int, float]]:
    """Return the steps and values of a metric."""
    found = open_store(root).client.get_metric_history(run.info.run_id, name)
    return [(each.step, each.value) for each in found]


def emit(step: int, **metrics: float) -> None:
    """Log figures as the library does."""
    logger = logging.getLogger("nmt.metrics")
    logger.info("epoch %d", step, extra={"step": step, "metrics": metrics})


def broken(*_: object, **__: object) -> None:
    """Stand for a call of a client whose store fails."""
    raise OSError("the disk is full")
