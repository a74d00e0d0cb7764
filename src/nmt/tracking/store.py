"""Where runs are kept: a database in the project's folder, or the server that the user names."""

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

# Set before mlflow is loaded: no reports to its makers, and no minutes of waiting for a server.
os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")
os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "20")

from mlflow import MlflowClient  # noqa: E402
from mlflow.entities import Experiment, Run  # noqa: E402

from nmt.errors import NmtError  # noqa: E402
from nmt.provenance.database import (  # noqa: E402
    DATABASE,
    VARIABLE,
    database_uri,
    project_name,
    store_folder,
    without_password,
)
from nmt.run.locks import waiting  # noqa: E402

__all__ = [
    "ARTIFACTS",
    "DATABASE",
    "VARIABLE",
    "Store",
    "TrackingError",
    "artifact_folder",
    "database_uri",
    "open_store",
    "project_name",
    "reason",
    "store_folder",
    "without_password",
]

ARTIFACTS = "mlartifacts"

log = logging.getLogger(__name__)


class TrackingError(NmtError):
    """The store of runs can't be used."""


@dataclass(frozen=True)
class Store:
    """An open store.

    Args:
        client: to read and write it with.
        experiment: id of the project's experiment.
        address: to show; without a password.
        folder: the project's folder if the store lies in it; None for a server.
    """

    client: MlflowClient
    experiment: str
    address: str
    folder: Path | None


def open_store(root: Path) -> Store:
    """Open the store, making what is missing: database, experiment.

    $MLFLOW_TRACKING_URI is used if it is set, else the database in the project's folder: never
    what lies in the current folder. If the folder was moved, the addresses of artifacts in the
    database are set right.

    Raises:
        TrackingError: it can't be opened. Told before the work, for a result without its run
            can't be traced later.
    """
    uri = os.environ.get(VARIABLE, "")
    folder = None if uri else store_folder(root)
    address = without_password(uri) if uri else database_uri(root)
    with _explained(uri or address, own=not uri):
        logging.getLogger("mlflow").setLevel(logging.WARNING)
        logging.getLogger("alembic").setLevel(logging.WARNING)
        if folder is None:
            client = MlflowClient(tracking_uri=uri)
            return Store(client, _experiment(client, root).experiment_id, address, None)
        with waiting(folder, "mlflow"):  # two at once would both make the tables
            client = MlflowClient(tracking_uri=f"{address}?timeout=60")
            experiment = _experiment(client, root, (folder / ARTIFACTS).as_uri())
            _follow_move(folder, experiment)
        return Store(client, experiment.experiment_id, address, folder)


def artifact_folder(store: Store, run: Run) -> Path:
    """Return the folder of a run's artifacts, found from where the database lies now.

    Raises:
        TrackingError: the store is a server; download them with its client.
    """
    if store.folder is None:
        raise TrackingError(f"{store.address} is a server: its artifacts lie in no folder here")
    path = Path(url2pathname(urlsplit(run.info.artifact_uri).path))
    below = path.parts[path.parts.index(ARTIFACTS) :]
    return store.folder.joinpath(*below)


def _experiment(client: MlflowClient, root: Path, artifacts: str | None = None) -> Experiment:
    """Return the project's experiment; make it if there is none, also when another just did."""
    name = project_name(root)
    found = client.get_experiment_by_name(name)
    if found is None:
        location = f"{artifacts}/{name}" if artifacts else None
        try:
            client.create_experiment(name, artifact_location=location)
        except Exception:
            if client.get_experiment_by_name(name) is None:
                raise
        found = client.get_experiment_by_name(name)
    if found.lifecycle_stage == "deleted":
        raise TrackingError(
            f"MLflow's experiment {name!r} was deleted; restore it with "
            f"`mlflow experiments restore --experiment-id {found.experiment_id}`"
        )
    return found


def _follow_move(folder: Path, experiment: Experiment) -> None:
    """Point the artifacts of the experiment and its runs to where the folder lies now.

    MLflow stores absolute addresses and has no call to change them.
    """
    old = experiment.artifact_location
    new = f"{(folder / ARTIFACTS).as_uri()}/{experiment.name}"
    if old == new:
        return
    log.info("the project's folder was moved: artifacts are looked for in %s", new)
    number = int(experiment.experiment_id)
    with closing(sqlite3.connect(folder / DATABASE, timeout=60)) as database, database:
        database.execute(
            "UPDATE experiments SET artifact_location = ? WHERE experiment_id = ?", (new, number)
        )
        database.execute(
            "UPDATE runs SET artifact_uri = ? || substr(artifact_uri, ?) "
            "WHERE experiment_id = ? AND substr(artifact_uri, 1, ?) = ?",
            (new, len(old) + 1, number, len(old), old),
        )


@contextmanager
def _explained(uri: str, own: bool) -> Iterator[None]:
    try:
        yield
    except TrackingError:
        raise
    except Exception as error:  # of many libraries: sqlalchemy, requests, mlflow, sqlite3
        advice = (
            "move mlflow.db away to begin a new one"
            if own
            else f"start the server, or unset {VARIABLE} to use the project's own database"
        )
        raise TrackingError(
            f"MLflow's store {without_password(uri)} can't be used: {reason(error)}; {advice}"
        ) from None


def reason(error: Exception) -> str:
    """Return what a library's error says as one line, not too long and without a password."""
    return without_password(" ".join(str(error).split()))[:500]
