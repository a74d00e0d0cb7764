"""What A and B may be: commit, tag, branch, experiment of DVC, run of MLflow, workspace."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nmt.compare.cache import Cache
from nmt.compare.snapshot import Snapshot
from nmt.ensembles import ENSEMBLE, Seed
from nmt.errors import NmtError
from nmt.history.locks import Lock, LockedStage
from nmt.history.revisions import WORKSPACE, experiments, git, read_revisions
from nmt.history.runs import HistoryError, Run, Runs, read_runs
from nmt.provenance.git import run_git


class CompareError(NmtError):
    """What was asked for can't be compared."""


@dataclass(frozen=True)
class Side:
    """One side of a comparison.

    Args:
        title: to show, such as "commit 1a2b3c4d (main)".
        commit: 40 hexadecimal digits; "" for the workspace, or a run that no commit has.
        files: its files.
        run: the run that was named, if one was.
        only: model and seed of that run, all seeds if it is of an ensemble; None for all of the
            grid.
    """

    title: str
    commit: str
    files: Snapshot
    run: Run | None = None
    only: tuple[str, Seed] | None = None

    @property
    def bare(self) -> bool:
        """Whether nothing but the run's own record is known."""
        return isinstance(self.files, _Recorded)


class _Recorded(Snapshot):
    """A run whose result is in no dvc.lock: its hashes are known, its files are not."""

    def __init__(self, root: Path, run: Run, cache: Cache, folder: Path, title: str) -> None:
        super().__init__(root, "", cache, folder, title)
        stage = LockedStage(run.deps, run.outs, dict(run.params))
        self.lock = Lock({run.stage.rpartition(":")[2]: stage})

    def read(self, path: str) -> bytes | None:
        return None


@dataclass(frozen=True)
class Project:
    """Where sides are looked for.

    Args:
        root: the project's folder.
        runs: of MLflow; None if the store can't be read.
        problem: why it can't.
        cache: of DVC.
    """

    root: Path
    runs: Runs | None
    problem: str
    cache: Cache

    @classmethod
    def at(cls, root: Path) -> "Project":
        """Open a project; a store of runs that can't be read is no error yet."""
        try:
            return cls(root, read_runs(root), "", Cache(root))
        except HistoryError as error:
            return cls(root, None, str(error), Cache(root))


def find(project: Project, name: str, folder: Path) -> Side:
    """Return the side of that name.

    Args:
        project: where to look.
        name: as the user gave it.
        folder: for its files.

    Raises:
        CompareError: nothing has that name, or more than one thing has it, or it is a run that
            left nothing to compare.
    """
    if name == WORKSPACE:
        return Side(WORKSPACE, "", Snapshot(project.root, "", project.cache, folder, WORKSPACE))
    found = dict(_candidates(project, name))
    if len(set(found.values())) > 1:
        raise CompareError(
            f"{name} is more than one thing: {', '.join(found)}; "
            "give the full name (refs/heads/…, refs/tags/…, refs/exps/…)"
        )
    if found:
        title, commit = next(iter(found.items()))
        return Side(title, commit, Snapshot(project.root, commit, project.cache, folder, title))
    return _run(project, name, folder)


def _candidates(project: Project, name: str) -> Iterator[tuple[str, str]]:
    """Yield title and commit of whatever git or DVC has under that name."""
    for experiment, commit in experiments(project.root):
        if experiment == name:
            base = git(project.root, "rev-parse", "--short=8", f"{commit}^").strip()
            yield f"experiment {name} (commit {commit[:8]}, on {base})", commit
    revision = f"{name}^{{commit}}"
    done = run_git(project.root, "rev-parse", "--verify", "--quiet", "--end-of-options", revision)
    commit = done.stdout.decode().strip()
    if done.returncode == 0 and re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", commit):
        called = "" if commit.startswith(name) else f" ({name})"
        yield f"commit {commit[:8]}{called}", commit


def _run(project: Project, name: str, folder: Path) -> Side:
    """Return the side of a run, by its id or the first digits of it."""
    runs = project.runs
    looks_like_run = re.fullmatch(r"[0-9a-f]{6,32}", name) is not None
    if runs is None and looks_like_run:
        raise CompareError(
            f"{name} is no commit or experiment here, and whether it is a run can't be told: "
            f"{project.problem}"
        )
    known = runs.runs if runs and looks_like_run else ()
    found = [run for run in known if run.id.startswith(name)]
    if len(found) > 1:
        raise CompareError(f"{name} begins the ids of {len(found)} runs; give more digits")
    if found:
        return _side_of_run(project, found[0], folder)
    if runs and looks_like_run and any(run.startswith(name) for run in runs.foreign):
        raise CompareError(
            f"{name} is a run of another experiment or a deleted one, not of this project's"
        )
    raise CompareError(
        f"{name}: no commit, tag, branch, experiment or run of that name; "
        "`git log --all`, `dvc exp list --all` and `nmt runs` show what there is"
    )


def _side_of_run(project: Project, run: Run, folder: Path) -> Side:
    """Return the commit, experiment or workspace whose dvc.lock has what the run made."""
    title = f"run {run.id[:8]} ({run.stage}"
    if run.status != "FINISHED":
        raise CompareError(f"{title}) is {run.status}: it left nothing to compare")
    if not re.match(r"(train|evaluate|evaluate_ensemble)@", run.stage.rpartition(":")[2]):
        raise CompareError(f"{title}): only runs of train and evaluate can be compared")
    only = (run.params["model"], _seed(run))
    path, made = next(iter(run.outs.items()), ("", ""))
    revisions = read_revisions(project.root)
    there = [r for r in revisions if made and r.lock and r.lock.outs.get(path) == made]
    if not there:
        title += "; its result is in no dvc.lock)"
        files: Snapshot = _Recorded(project.root, run, project.cache, folder, title)
        return Side(title, "", files, run, only)
    best = next((r for r in there if r.commit), there[0])
    title += f"; {best.kind} {best.name})" if best.commit else "; workspace)"
    files = Snapshot(project.root, best.commit, project.cache, folder, title)
    return Side(title, best.commit, files, run, only)


def _seed(run: Run) -> Seed:
    seed = run.params["seed"]
    return tuple(json.loads(run.params["grid.seeds"])) if seed == ENSEMBLE else int(seed)
