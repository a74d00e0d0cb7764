"""The runs in MLflow, read all at once.

The project's own database is read with SQLite itself, read-only: mlflow's import alone takes
seconds, and its client writes to what it opens. A server is asked through its client.
"""

import math
import os
import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from nmt.errors import NmtError
from nmt.provenance import names
from nmt.provenance.database import (
    DATABASE,
    VARIABLE,
    project_name,
    store_folder,
    without_password,
)
from nmt.provenance.environment import is_gone


class HistoryError(NmtError):
    """The history can't be read."""


@dataclass(frozen=True)
class Run:
    """A run as MLflow has it.

    Args:
        id: 32 hexadecimal digits.
        status: FINISHED, FAILED, KILLED, RUNNING or SCHEDULED.
        started: milliseconds since 1970, UTC; 0 if unknown.
        params: by dotted key, as text.
        metrics: the last value of each; a figure that is not finite is left out.
        tags: by name (nmt.provenance.names).
    """

    id: str
    status: str
    started: int
    params: dict[str, str]
    metrics: dict[str, float]
    tags: dict[str, str]

    @property
    def stage(self) -> str:
        """Its stage, such as "train@additive-1"."""
        return self.tags.get(names.STAGE, self.tags.get("mlflow.runName", "unknown"))

    @property
    def outs(self) -> dict[str, str]:
        """The hash of each out, by path."""
        return self._tagged(names.OUT)

    @property
    def deps(self) -> dict[str, str]:
        """The hash of each dep, by path."""
        return self._tagged(names.DEP)

    @property
    def dead(self) -> bool:
        """Whether it says RUNNING though its process on this machine is gone."""
        try:
            host = self.tags[f"{names.PROCESS}host"]
            pid = int(self.tags[f"{names.PROCESS}pid"])
            started = float(self.tags[f"{names.PROCESS}started"])
        except (KeyError, ValueError):
            return False
        return self.status == "RUNNING" and is_gone(host, pid, started)

    def _tagged(self, prefix: str) -> dict[str, str]:
        found = self.tags.items()
        return {key.removeprefix(prefix): value for key, value in found if key.startswith(prefix)}


@dataclass(frozen=True)
class Runs:
    """All runs of the project, the oldest first, and where they come from (to show)."""

    address: str
    runs: tuple[Run, ...]
    foreign: frozenset[str] = frozenset()  # ids of runs of other experiments

    def with_out(self, path: str, md5: str) -> list[Run]:
        """Return the finished runs that made a file or folder of that hash."""
        return [r for r in self.runs if r.status == "FINISHED" and r.outs.get(path) == md5]


def read_runs(root: Path) -> Runs:
    """Read the runs of the project's experiment.

    Raises:
        HistoryError: the store can't be reached, or its tables are not those of MLflow.
    """
    uri = os.environ.get(VARIABLE, "")
    if uri:
        return _ask_client(root, uri)
    path = store_folder(root) / DATABASE
    if not path.is_file():
        return Runs(f"no {DATABASE}", ())
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=20)) as database:
            return _read(database, root, f"sqlite:///{path}")
    except sqlite3.Error as error:
        raise HistoryError(
            f"MLflow's store sqlite:///{path} can't be read: {error}; it is damaged, or of "
            "another version of MLflow than this project's: see requirements.lock"
        ) from None


_OF_EXPERIMENT = (
    "run_uuid IN (SELECT run_uuid FROM runs WHERE experiment_id = ? AND lifecycle_stage = 'active')"
)


def _read(database: sqlite3.Connection, root: Path, address: str) -> Runs:
    """Read four tables once each."""
    found = database.execute(
        "SELECT experiment_id FROM experiments WHERE name = ?", (project_name(root),)
    ).fetchone()
    number = found[0] if found else None
    params = _mapped(database, "params", number)
    tags = _mapped(database, "tags", number)
    metrics: dict[str, dict[str, float]] = defaultdict(dict)
    query = f"SELECT run_uuid, key, value, is_nan FROM latest_metrics WHERE {_OF_EXPERIMENT}"
    for run, key, value, is_nan in database.execute(query, (number,)):
        if not is_nan and math.isfinite(value):
            metrics[run][key] = float(value)
    query = (
        "SELECT run_uuid, status, start_time FROM runs WHERE experiment_id = ? "
        "AND lifecycle_stage = 'active' ORDER BY start_time, run_uuid"
    )
    runs = tuple(
        Run(run, status, started or 0, params[run], metrics[run], tags[run])
        for run, status, started in database.execute(query, (number,))
    )
    others = database.execute("SELECT run_uuid FROM runs WHERE experiment_id IS NOT ?", (number,))
    return Runs(address, runs, frozenset(run for (run,) in others))


def _mapped(
    database: sqlite3.Connection, table: str, experiment: int | None
) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = defaultdict(dict)
    query = f"SELECT run_uuid, key, value FROM {table} WHERE {_OF_EXPERIMENT}"
    for run, key, value in database.execute(query, (experiment,)):
        found[run][key] = value or ""
    return found


def _ask_client(root: Path, uri: str) -> Runs:
    from nmt.tracking.reading import all_runs, reading  # slow: they import mlflow
    from nmt.tracking.store import TrackingError

    address = without_password(uri)
    try:
        with reading(root) as store:
            found: Iterable[object] = () if store is None else all_runs(store)
            runs = tuple(_plain(run) for run in found)
    except TrackingError as error:
        raise HistoryError(
            f"{error}; start the server, or unset {VARIABLE} to use the project's own database"
        ) from None
    return Runs(address, tuple(sorted(runs, key=lambda run: (run.started, run.id))))


def _plain(run: object) -> Run:
    info, data = run.info, run.data  # type: ignore[attr-defined]
    metrics = {key: float(value) for key, value in data.metrics.items() if math.isfinite(value)}
    return Run(
        info.run_id, info.status, info.start_time or 0, dict(data.params), metrics, dict(data.tags)
    )
