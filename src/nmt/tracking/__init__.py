"""Runs in MLflow: what happened, when, with what. The only package that imports mlflow.

A run points to DVC's hashes, never the other way: nothing of a run enters a result. A stage
whose result is restored from a cache makes no run.
"""

import getpass
import hashlib
import json
import logging
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from nmt.provenance import environment, names
from nmt.provenance.code import combined
from nmt.provenance.git import GitState, git_state
from nmt.provenance.hashes import dvc_hash, file_md5s
from nmt.run.inputs import text
from nmt.run.record import Record
from nmt.run.signals import Interrupted
from nmt.tracking.live import live_metrics
from nmt.tracking.results import results
from nmt.tracking.run import LiveRun
from nmt.tracking.store import (
    Store,
    TrackingError,
    artifact_folder,
    database_uri,
    open_store,
    project_name,
    reason,
)
from nmt.tracking.sweep import abandoned, running, sweep

__all__ = [
    "Store",
    "TrackingError",
    "abandoned",
    "artifact_folder",
    "database_uri",
    "names",
    "open_store",
    "recorded",
    "running",
    "sweep",
]

log = logging.getLogger(__name__)


@contextmanager
def recorded(record: Record) -> Iterator[None]:
    """Record the block as a run: FINISHED, FAILED if it raises, KILLED if it is interrupted.

    Raises:
        TrackingError: the store can't be used; told before the block begins. Later failures of
            the store are warnings: no work is lost through its record.
    """
    store = open_store(record.root)
    began = time.monotonic()
    run = _begin(store, record)
    status = "FAILED"
    try:
        sweep(store)
        _describe(run, record)
        with _live(run, record):
            yield
        _keep_results(run, record)
        status = "FINISHED"
    except Interrupted as stop:
        status = "KILLED"
        run.tags({names.ENDED_BY: str(stop)})
        raise
    except BaseException as error:
        run.tags({names.ERROR: str(error) or type(error).__name__})
        raise
    finally:
        if any(key.startswith("compute.") for key in record.start.params):
            run.tags(environment.computing())
        run.metrics({"minutes": (time.monotonic() - began) / 60})
        run.end(status)


def _begin(store: Store, record: Record) -> LiveRun:
    """Make the run, with what tells its process, so that it can be swept."""
    first = {
        "mlflow.runName": record.stage.address,
        "mlflow.user": _user(),
        "mlflow.source.name": f"pipeline/{record.stage.name}.py",
        "mlflow.source.type": "LOCAL",
        names.PROJECT: project_name(record.root),
        names.STAGE: record.stage.address,
        **_prefixed(names.PROCESS, environment.process()),
    }
    if "DVC_EXP_NAME" in os.environ:
        first[names.EXPERIMENT] = os.environ["DVC_EXP_NAME"]
    try:
        made = store.client.create_run(store.experiment, tags=first)
    except Exception as error:
        raise TrackingError(
            f"MLflow's store {store.address} takes no run: {reason(error)}"
        ) from None
    log.info("run %s of %s in %s", made.info.run_id, record.stage.address, store.address)
    return LiveRun(store, made.info.run_id)


def _describe(run: LiveRun, record: Record) -> None:
    """Write down all that is known before the work."""
    git = git_state(record.root)
    run.tags(_tags(record, git))
    run.params(_params(record))
    _keep_files(run, record, git)


def _tags(record: Record, git: GitState) -> dict[str, str]:
    values = json.dumps(record.start.params, sort_keys=True, ensure_ascii=False)
    return {
        names.COMMIT: git.commit,
        names.DIRTY: git.dirty,
        names.DIFF: git.diff_sha256,
        names.DECLARED: str(record.declared.known).lower(),
        names.CODE: combined(record.start.code),
        names.PARAMS: hashlib.sha256(values.encode()).hexdigest(),
        names.REQUIREMENTS: environment.requirements_sha256(record.root),
        **_prefixed(names.DEP, record.start.deps),
        **_prefixed(names.VERSION, environment.versions()),
        **_prefixed(names.MACHINE, environment.machine()),
    }


def _params(record: Record) -> dict[str, str]:
    model = record.stage.options.get("model")
    own = {"model": str(model), "seed": record.stage.seed} if model else {}
    return own | {key: text(value) for key, value in record.start.params.items()}


def _keep_files(run: LiveRun, record: Record, git: GitState) -> None:
    if git.diff:
        run.content(names.DIFF_FILE, git.diff)
    lines = [f"{digest}  {path}\n" for path, digest in sorted(record.start.code.items())]
    run.content(names.CODE_FILE, "".join(lines))
    run.content(names.FREEZE_FILE, environment.freeze())
    run.file(record.stage.params, names.PARAMS_FILE.partition("/")[0])


def _keep_results(run: LiveRun, record: Record) -> None:
    hashes = {path: dvc_hash(path, file_md5s(record.root, path)) for path in record.declared.outs}
    run.tags(_prefixed(names.OUT, {path: md5 or "missing" for path, md5 in hashes.items()}))
    try:
        found = results(record)
    except Exception as error:  # a record that lacks figures is better than a training lost
        log.warning("results not recorded in MLflow: %s", error)
        return
    run.metrics(found.metrics)
    run.params(found.params)
    run.tags(found.tags)
    for path, folder in found.files:
        run.file(path, folder)


def _live(run: LiveRun, record: Record) -> AbstractContextManager[None]:
    """Pass on the figures of a training by epoch; other stages write theirs to files."""
    if record.stage.name != "train":
        return nullcontext()
    return live_metrics(run, lambda: _link(run, record.stage.address))


def _link(run: LiveRun, address: str) -> None:
    """Tag a run that takes up a stopped training with the id of the run that began it."""
    try:
        query = f"tags.{names.STAGE} = '{address}' AND attributes.status != 'RUNNING'"
        order = ["attributes.start_time DESC"]
        found = run.store.client.search_runs(
            [run.store.experiment], query, order_by=order, max_results=1
        )
    except Exception as error:
        log.warning("the run that this one continues is not recorded in MLflow: %s", reason(error))
        return
    if found:
        run.tags({names.CONTINUES: found[0].info.run_id})


def _prefixed(prefix: str, values: dict[str, str]) -> dict[str, str]:
    return {prefix + key: value for key, value in values.items()}


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container whose user has no name
        return "unknown"
