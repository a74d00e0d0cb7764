"""One run, written to without ever stopping the work that it records."""

import hashlib
import logging
import math
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mlflow.entities import Metric, Param, RunTag

from nmt.provenance import names
from nmt.tracking.store import Store, reason

log = logging.getLogger(__name__)

_LONGEST_PARAM = 6000  # characters, of MLflow
_LONGEST_TAG = 5000  # likewise, in its older versions too
_BATCH = 100  # params or tags in one call


class LiveRun:
    """A run that is being written.

    A failing call becomes a warning in the log: a training is never lost through its record.
    """

    def __init__(self, store: Store, run_id: str) -> None:
        self.store = store
        self.id = run_id

    def tags(self, values: dict[str, str]) -> None:
        """Set tags; long values are cut."""
        tags = [RunTag(key, value[:_LONGEST_TAG]) for key, value in values.items()]
        self._in_batches("tags", tags)

    def params(self, values: dict[str, str]) -> None:
        """Log params; one that is too long is kept as a file, with its hash as the value."""
        self._in_batches("params", [Param(k, self._short(k, v)) for k, v in values.items()])

    def metrics(self, values: dict[str, float], step: int = 0) -> None:
        """Log figures; what is no finite number is left out and the run tagged as diverged."""
        self.write(self.finite(values, step))

    def finite(self, values: dict[str, float], step: int) -> list[Metric]:
        """Return the finite ones of some figures; for others tag the run as diverged."""
        bad = [name for name, value in values.items() if not math.isfinite(value)]
        if bad:
            log.warning("not a finite number at step %d: %s", step, ", ".join(bad))
            self.tags({names.DIVERGED: "true"})
        now = int(time.time() * 1000)
        return [Metric(k, float(v), now, step) for k, v in values.items() if k not in bad]

    def write(self, metrics: Sequence[Metric]) -> bool:
        """Write figures; tell whether it worked."""
        done = True
        for i in range(0, len(metrics), 1000):
            done &= self._tried("metrics", "log_batch", metrics=list(metrics[i : i + 1000]))
        return done

    def content(self, name: str, content: str | bytes) -> None:
        """Keep some text or bytes as an artifact of that name (FOLDER/FILE)."""
        folder, _, file = name.rpartition("/")
        with TemporaryDirectory() as temporary:
            path = Path(temporary) / file
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            self.file(path, folder)

    def file(self, path: Path, folder: str) -> None:
        """Keep a copy of a file as an artifact in that folder."""
        self._tried(path.name, "log_artifact", str(path), folder)

    def end(self, status: str) -> None:
        """Close the run: FINISHED, FAILED or KILLED."""
        self._tried(status, "set_terminated", status)

    def _short(self, key: str, value: str) -> str:
        if len(value) <= _LONGEST_PARAM:
            return value
        name = f"params/{key.replace('/', '_')}.txt"
        self.content(name, value)
        digest = hashlib.sha256(value.encode()).hexdigest()[:16]
        return f"sha256 {digest}, {len(value)} characters, in {name}"

    def _in_batches(self, kind: str, items: Sequence[Param | RunTag]) -> None:
        """Write params or tags many at a time; if that fails, one at a time, to save the rest."""
        for i in range(0, len(items), _BATCH):
            part = list(items[i : i + _BATCH])
            if not self._tried(None, "log_batch", **{kind: part}):
                for item in part:
                    self._tried(item.key, "log_batch", **{kind: [item]})

    def _tried(self, what: str | None, method: str, *arguments: Any, **named: Any) -> bool:
        """Call the client and tell whether it worked; a failure is logged with `what`, if any."""
        try:
            getattr(self.store.client, method)(self.id, *arguments, **named)
        except Exception as error:  # whatever it is, the work goes on
            if what is not None:
                log.warning("not recorded in MLflow: %s: %s", what, reason(error))
            return False
        return True
