"""The store of runs, opened to read alone: nothing is made, moved or migrated."""

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from mlflow import MlflowClient
from mlflow.entities import Run

from nmt.tracking.store import (
    DATABASE,
    VARIABLE,
    Store,
    TrackingError,
    project_name,
    reason,
    store_folder,
    without_password,
)

_TABLES = {"alembic_version", "experiments", "runs"}


@contextmanager
def reading(root: Path) -> Iterator[Store | None]:
    """Open the project's store to read; None if it has none, or no run of this project.

    A database is copied and the copy is opened: MLflow writes to what it opens, brings an older
    one to its own schema, and waits for who else is writing.

    Raises:
        TrackingError: the store can't be reached, or is of another schema.
    """
    logging.getLogger("mlflow").setLevel(logging.WARNING)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    uri = os.environ.get(VARIABLE, "")
    if uri:
        yield _store(uri, without_password(uri), root, None)
        return
    folder = store_folder(root)
    if not (folder / DATABASE).is_file():
        yield None
        return
    with TemporaryDirectory() as temporary:
        copy = Path(temporary) / DATABASE
        _copy(folder / DATABASE, copy)
        yield _store(f"sqlite:///{copy}", f"sqlite:///{folder / DATABASE}", root, folder)


def all_runs(store: Store) -> list[Run]:
    """Return all runs of the project, the newest first.

    Raises:
        TrackingError: the store doesn't answer.
    """
    found: list[Run] = []
    token = None
    try:
        while True:
            page = store.client.search_runs([store.experiment], max_results=1000, page_token=token)
            found += page
            token = page.token
            if not token:
                return found
    except Exception as error:  # of many libraries
        raise _unusable(store.address, error) from None


def download(store: Store, run: str, name: str) -> bytes | None:
    """Return the content of an artifact (FOLDER/FILE) of a run; None if it has none of that name.

    Args:
        store: a server; the artifacts of the project's own database lie in a folder.
        run: id of the run.
        name: of the artifact.
    """
    try:
        with TemporaryDirectory() as temporary:
            return Path(store.client.download_artifacts(run, name, temporary)).read_bytes()
    except Exception:  # each kind of server says it in another way
        return None


def _copy(database: Path, copy: Path) -> None:
    try:
        with (
            closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
            rows = target.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            missing = sorted(_TABLES - {name for (name,) in rows})
    except sqlite3.Error as error:
        raise _unusable(f"sqlite:///{database}", error) from None
    if missing:
        raise TrackingError(
            f"MLflow's store sqlite:///{database} can't be read: it is no database of runs "
            f"(it lacks the tables {', '.join(missing)})"
        )


def _store(uri: str, address: str, root: Path, folder: Path | None) -> Store | None:
    try:
        client = MlflowClient(tracking_uri=uri)
        experiment = client.get_experiment_by_name(project_name(root))
    except Exception as error:  # of many libraries: sqlalchemy, alembic, requests, mlflow
        raise _unusable(address, error) from None
    return None if experiment is None else Store(client, experiment.experiment_id, address, folder)


def _unusable(address: str, error: Exception) -> TrackingError:
    return TrackingError(f"MLflow's store {address} can't be read: {reason(error)}")
