"""Figures of a stage that is running, as it logs them, passed on to its run."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mlflow.entities import Metric

from nmt.tracking.run import LiveRun

LOGGER = "nmt.metrics"
EVERY = 5.0  # seconds between two writes
AFTER_FAILURE = 60.0  # seconds before the next try when a server is away: training does not wait


class LiveMetrics(logging.Handler):
    """Takes records that carry `step` and `metrics`, and writes them to a run now and then.

    Args:
        run: written to.
        resumed: called once if the first step is not 1, for then an earlier run is continued.
    """

    def __init__(self, run: LiveRun, resumed: Callable[[], None]) -> None:
        super().__init__(logging.INFO)
        self._run = run
        self._resumed = resumed
        self._waiting: list[Metric] = []
        self._next = 0.0
        self._seen = False

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record's figures; write if it is time."""
        try:
            self._take(int(getattr(record, "step", 0)), getattr(record, "metrics", {}))
        except Exception:  # a figure that is none must not end a training
            self.handleError(record)

    def write(self) -> None:
        """Write what is waiting; keep it for later if that fails."""
        if self._waiting and self._run.write(self._waiting):
            self._waiting = []
            self._next = time.monotonic() + EVERY
        elif self._waiting:
            self._next = time.monotonic() + AFTER_FAILURE

    def _take(self, step: int, values: dict[str, float]) -> None:
        if not self._seen and step > 1:
            self._resumed()
        self._seen = True
        self._waiting += self._run.finite(values, step)
        if time.monotonic() >= self._next:
            self.write()


@contextmanager
def live_metrics(run: LiveRun, resumed: Callable[[], None]) -> Iterator[None]:
    """Pass on what is logged while the block runs."""
    logger = logging.getLogger(LOGGER)
    handler = LiveMetrics(run, resumed)
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.write()
