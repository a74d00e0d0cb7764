"""Runs whose process has died without a word are closed as KILLED."""

import logging

from mlflow.entities import Run

from nmt.provenance import names
from nmt.provenance.environment import is_gone
from nmt.tracking.run import LiveRun
from nmt.tracking.store import Store, reason

log = logging.getLogger(__name__)


def sweep(store: Store) -> list[str]:
    """Close the project's runs that still say RUNNING though their process is gone.

    Only runs of this machine can be told; those of others stay as they are. Returns the names
    of those closed.
    """
    closed = []
    try:
        found = running(store)
    except Exception as error:  # sweeping is no reason to stop a stage
        log.warning("runs that died are not looked for in MLflow: %s", reason(error))
        return []
    for run in found:
        if abandoned(run):
            live = LiveRun(store, run.info.run_id)
            live.tags({names.ENDED_BY: "sweep"})
            live.end("KILLED")
            closed.append(str(run.info.run_name))
            log.info("%s (run %s) had died: closed as KILLED", run.info.run_name, run.info.run_id)
    return closed


def running(store: Store) -> list[Run]:
    """Return the runs that say RUNNING."""
    return list(
        store.client.search_runs(
            [store.experiment], "attributes.status = 'RUNNING'", max_results=1000
        )
    )


def abandoned(run: Run) -> bool:
    """Tell whether a run says RUNNING though its process is gone; False if that can't be told."""
    tags = run.data.tags
    try:
        host = tags[names.PROCESS + "host"]
        pid = int(tags[names.PROCESS + "pid"])
        started = float(tags[names.PROCESS + "started"])
    except (KeyError, ValueError):
        return False
    return run.info.status == "RUNNING" and is_gone(host, pid, started)
