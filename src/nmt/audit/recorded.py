"""All runs of the project, and what is kept with those that made what dvc.lock names."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nmt.audit.lock import Entry
from nmt.history.runs import HistoryError, Run, read_runs
from nmt.provenance import names
from nmt.provenance.database import VARIABLE, project_name, store_folder

ARTIFACTS = "mlartifacts"


@dataclass(frozen=True)
class Recorded:
    """A run, and what is kept with it.

    Args:
        run: as MLflow has it.
        code: SHA-256 of each file of the stage's code at its start, by path; None: not kept.
        diff: SHA-256 of the patch that was kept; None: none was.
    """

    run: Run
    code: dict[str, str] | None = None
    diff: str | None = None

    @property
    def name(self) -> str:
        """Name it in a sentence."""
        return f"run {self.run.id[:8]} in MLflow"


@dataclass(frozen=True)
class History:
    """All runs of the project, or why they can't be told.

    Args:
        root: the project's folder.
        runs: by address of the stage, the newest first.
        where: address of the store.
        problem: why it can't be read; "" if it was.
    """

    root: Path
    runs: dict[str, list[Run]] = field(default_factory=dict)
    where: str = ""
    problem: str = ""

    def made(self, stage: str, entry: Entry) -> list[Recorded]:
        """Return the runs of a stage that made the outs of an entry of dvc.lock."""
        found = [run for run in self.runs.get(stage, []) if made(run, entry.outs)]
        return [self._recorded(run) for run in found]

    def _recorded(self, run: Run) -> Recorded:
        listed = self._artifact(run, names.CODE_FILE)
        patch = self._artifact(run, names.DIFF_FILE) if run.tags.get(names.DIFF) else None
        return Recorded(
            run,
            None if listed is None else _parse_list(listed),
            None if patch is None else hashlib.sha256(patch).hexdigest(),
        )

    def _artifact(self, run: Run, name: str) -> bytes | None:
        if VARIABLE in os.environ:
            from nmt.tracking.reading import download, reading  # slow: they import mlflow

            with reading(self.root) as store:
                return download(store, run.id, name) if store else None
        folder = store_folder(self.root) / ARTIFACTS / project_name(self.root)
        path = folder / run.id / "artifacts" / name
        return path.read_bytes() if path.is_file() else None


def read_history(root: Path) -> History:
    """Read all runs of the project; a store that can't be read is told in `problem`."""
    try:
        found = read_runs(root)
    except HistoryError as error:
        return History(root, problem=str(error))
    by_stage: dict[str, list[Run]] = {}
    for run in reversed(found.runs):
        by_stage.setdefault(run.stage, []).append(run)
    return History(root, by_stage, found.address)


def made(run: Run, outs: Mapping[str, str]) -> bool:
    """Tell whether a run made outs of these hashes."""
    return all(run.outs.get(path) == md5 for path, md5 in outs.items())


def _parse_list(content: bytes) -> dict[str, str]:
    """Return what a list as of `sha256sum` says, by path."""
    lines = (line.partition("  ") for line in content.decode().split("\n") if line)
    return {path: digest for digest, _, path in lines}
