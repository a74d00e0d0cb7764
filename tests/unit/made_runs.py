"""Runs written straight into a database of MLflow's, for making many through it takes minutes."""

import sqlite3
import uuid
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from nmt.ensembles import split_address
from nmt.provenance import names

BEGIN = 1_700_000_000_000


@dataclass
class MadeRun:
    """A run to write: a finished training of a clean tree, if nothing else is said."""

    stage: str = "train@wide-1"
    status: str = "FINISHED"
    params: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    outs: dict[str, str] = field(default_factory=dict)
    id: str = field(default_factory=lambda: uuid.uuid4().hex)


def write_runs(root: Path, runs: Iterable[MadeRun], experiment: str = "toy") -> None:
    """Write runs, each a minute after the one before."""
    with closing(sqlite3.connect(root / "mlflow.db")) as database, database:
        database.execute(
            "INSERT OR IGNORE INTO experiments (name, artifact_location, lifecycle_stage) "
            "VALUES (?, 'here', 'active')", (experiment,),
        )  # fmt: skip
        query = "SELECT experiment_id FROM experiments WHERE name = ?"
        (number,) = database.execute(query, (experiment,)).fetchone()
        for order, run in enumerate(runs):
            _write(database, number, run, BEGIN + order * 60_000)


def _write(database: sqlite3.Connection, experiment: int, run: MadeRun, started: int) -> None:
    database.execute(
        "INSERT INTO runs (run_uuid, name, status, start_time, lifecycle_stage, experiment_id, "
        "user_id) VALUES (?, ?, ?, ?, 'active', ?, 'me')",
        (run.id, run.stage, run.status, started, experiment),
    )
    model, seed = split_address(run.stage)
    params = ({"model": model, "seed": seed} if model else {}) | run.params
    tags = {names.STAGE: run.stage, names.DIRTY: "false", names.CODE: "c0de"} | run.tags
    tags |= {names.OUT + path: md5 for path, md5 in run.outs.items()}
    for table, values in (("params", params), ("tags", tags)):
        database.executemany(
            f"INSERT INTO {table} (key, value, run_uuid) VALUES (?, ?, ?)",
            [(key, value, run.id) for key, value in values.items()],
        )
    database.executemany(
        "INSERT INTO latest_metrics (key, value, timestamp, step, is_nan, run_uuid) "
        "VALUES (?, ?, 0, 0, ?, ?)",
        [
            (key, 0.0 if value != value else value, value != value, run.id)
            for key, value in run.metrics.items()
        ],
    )
