"""Runs and revisions joined on hashes: one row for each training and each scoring of it.

An ensemble, which is no training, has a row for each scoring.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nmt.ensembles import ENSEMBLE
from nmt.history.locks import Lock, LockedStage
from nmt.history.revisions import WORKSPACE, Revision, prefix, read_blobs
from nmt.history.runs import Run, Runs
from nmt.provenance import names
from nmt.run.inputs import flatten, text

FINISHED = "FINISHED"
NO_RUN = "no run"
"""Status of a result that no run is known of: restored from a cache, or made elsewhere."""


@dataclass(frozen=True)
class Row:
    """A training with its scores, or a run that can't be joined to one.

    Args:
        stage: such as "train@additive-1".
        model: its name; "" for a stage without one.
        seed: likewise; "ensemble" for all seeds at once.
        status: the run's, or NO_RUN.
        run: id in MLflow; "" without a run.
        started: milliseconds since 1970; 0 without a run.
        result: hash of what was made; "" if nothing was.
        revisions: names of revisions whose dvc.lock has this result, the newest first.
        marks: what to beware of, such as "dirty".
        params: by dotted key, as text.
        metrics: figures of the training, and of the tests as TEST.METRIC.
        setting: the same for runs that differ in nothing but the seed; "" if unknown.
    """

    stage: str
    model: str
    seed: str
    status: str
    run: str = ""
    started: int = 0
    result: str = ""
    revisions: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    params: dict[str, str] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    setting: str = ""


@dataclass(frozen=True)
class _Found:
    """A result in a dvc.lock: the weights, what scored them, and where.

    An ensemble has no weights of its own: its result is the score file.
    """

    model: str
    seed: str
    weights: str
    scores: str  # hash of the score file; "" if there is none of these weights
    params: dict[str, str]
    revisions: tuple[str, ...]

    @property
    def path(self) -> str:
        return self.score_file if self.seed == ENSEMBLE else f"models/{self.model}/{self.seed}"

    @property
    def score_file(self) -> str:
        return f"reports/scores/{self.model}-{self.seed}.json"

    @property
    def stage(self) -> str:
        if self.seed == ENSEMBLE:
            return f"evaluate_ensemble@{self.model}"
        return f"train@{self.model}-{self.seed}"


def join(root: Path, runs: Runs, revisions: Iterable[Revision]) -> list[Row]:
    """Return the rows, the oldest run first, then the results without a run."""
    revisions = list(revisions)
    found = _results(revisions)
    scores = _scores(root, found, revisions)
    by_scores = {md5: run for run in runs.runs for md5 in _made(run, "evaluate")}
    rows: list[Row] = []
    first: dict[tuple[str, str], str] = {}
    used: set[str] = set()
    for run in runs.runs:
        if run.stage.rpartition(":")[2].startswith("train"):
            rows += _of_training(run, found, first)
        elif run.status == FINISHED:
            first |= {item: run.id for item in run.outs.items() if item not in first}
    rows += _without_run(found, first)
    for number, row in enumerate(rows):
        md5 = row.params.pop(_SCORES, "")
        evaluation = by_scores.get(md5)
        metrics = scores.get(md5) or (_test_metrics(evaluation) if evaluation else {})
        rows[number] = replace(row, metrics={**row.metrics, **metrics})
        used.update([md5] if md5 else [])
    rows += [
        _of_other(run, revisions)
        for run in runs.runs
        if not run.stage.rpartition(":")[2].startswith("train")
        and not (run.status == FINISHED and used & set(_made(run, "evaluate")))
    ]
    return sorted(rows, key=lambda row: (not row.run, row.started, row.stage, row.run))


_SCORES = "\0scores"  # carries the hash of a row's score file until its metrics are read


def _results(revisions: list[Revision]) -> list[_Found]:
    """Return each pair of weights and scores once, with all revisions that have it."""
    merged: dict[tuple[str, str, str, str], _Found] = {}
    for revision in revisions:
        for one in _in_lock(revision.lock, revision.name) if revision.lock else ():
            key = (one.model, one.seed, one.weights, one.scores)
            before = merged.get(key)
            there = before.revisions if before else ()
            merged[key] = replace(before or one, revisions=(*there, revision.name))
    scored = {(f.path, f.weights) for f in merged.values() if f.scores}
    return [f for f in merged.values() if f.scores or (f.path, f.weights) not in scored]


def _in_lock(lock: Lock, name: str) -> Iterator[_Found]:
    for model, seed, weights in lock.trained():
        chain = lock.chain(model, seed)
        scored = chain if lock.scored(model, seed) else chain[:1]  # what came of the same weights
        scores = scored[-1].outs.get(f"reports/scores/{model}-{seed}.json", "")
        yield _Found(model, str(seed), weights, scores, _params(scored), (name,))
    for model, seeds in lock.ensembles():
        if lock.scored(model, seeds):
            both = lock.chain(model, seeds)[-2:]
            scores = both[-1].outs.get(f"reports/scores/{model}-{ENSEMBLE}.json", "")
            yield _Found(model, ENSEMBLE, scores, scores, _params(both), (name,))


def _params(stages: list[LockedStage]) -> dict[str, str]:
    return {key: text(value) for stage in stages for key, value in stage.params.items()}


def _scores(
    root: Path, found: list[_Found], revisions: list[Revision]
) -> dict[str, dict[str, float]]:
    """Return the figures of each score file by its hash, where git or the workspace has it."""
    commits = {revision.name: revision.commit for revision in revisions}
    top = prefix(root)
    wanted = [
        (f.scores, f"{commits[name]}:{top}{f.score_file}")
        for f in found
        for name in f.revisions
        if f.scores and name != WORKSPACE
    ]
    contents = read_blobs(root, [place for _, place in wanted])
    here = [(f.scores, root / f.score_file) for f in found if f.scores]
    known = [(md5, data) for (md5, _), data in zip(wanted, contents, strict=True) if data]
    known += [(md5, path.read_bytes()) for md5, path in here if path.is_file()]
    return {
        md5: _figures(data)
        for md5, data in known
        if hashlib.md5(data, usedforsecurity=False).hexdigest() == md5
    }


def _figures(data: bytes) -> dict[str, float]:
    values: dict[str, Any] = flatten("", json.loads(data).get("tests", {}))
    return {key: float(value) for key, value in values.items() if isinstance(value, int | float)}


def _of_training(run: Run, found: list[_Found], first: dict[tuple[str, str], str]) -> Iterator[Row]:
    """Yield a row for each scoring of what a run made; one row if there is none."""
    path, weights = next(iter(run.outs.items()), ("", "")) if run.status == FINISHED else ("", "")
    row = _row(run, weights)
    if not weights or weights == "missing":
        yield row
        return
    marks = list(row.marks)
    if (path, weights) in first:
        marks.append(f"duplicate of {first[path, weights][:8]}")
    first.setdefault((path, weights), run.id)
    there = [f for f in found if (f.path, f.weights) == (path, weights)]
    if not there:
        yield replace(row, marks=(*marks, "in no revision"))
    for f in there:
        params = {**f.params, **row.params, _SCORES: f.scores}
        yield replace(row, marks=tuple(marks), params=params, revisions=f.revisions)


def _without_run(found: list[_Found], first: dict[tuple[str, str], str]) -> Iterator[Row]:
    for f in found:
        if (f.path, f.weights) not in first:
            yield Row(
                f.stage, f.model, f.seed, NO_RUN, result=f.weights,
                revisions=f.revisions, marks=(NO_RUN,), params={**f.params, _SCORES: f.scores},
            )  # fmt: skip


def _of_other(run: Run, revisions: list[Revision]) -> Row:
    """Return the row of a run that is no training, with the revisions that have its result."""
    path, made = next(iter(run.outs.items()), ("", "")) if run.status == FINISHED else ("", "")
    there = tuple(r.name for r in revisions if made and r.lock and r.lock.outs.get(path) == made)
    metrics = _test_metrics(run) if run.stage.rpartition(":")[2].startswith("evaluate") else {}
    row = _row(run, made)
    return replace(row, revisions=there, metrics={**row.metrics, **metrics})


def _row(run: Run, result: str) -> Row:
    return Row(
        run.stage, run.params.get("model", ""), run.params.get("seed", ""), run.status, run.id,
        run.started, result, marks=tuple(_marks(run)), params=dict(run.params),
        metrics=dict(run.metrics), setting=_setting(run),
    )  # fmt: skip


def _marks(run: Run) -> Iterator[str]:
    if run.status == "FAILED":
        yield "failed"
    elif run.status == "KILLED":
        yield f"interrupted ({run.tags.get(names.ENDED_BY, 'unknown')})"
    elif run.status != FINISHED:
        yield "died" if run.dead else "running"
    if run.tags.get(names.DIRTY) != "false":
        yield "dirty" if run.tags.get(names.DIRTY) == "true" else "commit unknown"
    if run.tags.get(names.DIVERGED) == "true":
        yield "diverged"
    if names.CONTINUES in run.tags:
        yield f"continues {run.tags[names.CONTINUES][:8]}"


def _setting(run: Run) -> str:
    """Return a digest of all that a training read but its seed: code, params and data."""
    params = sorted((k, v) for k, v in run.params.items() if k != "seed")
    return hashlib.sha256(
        json.dumps([params, run.tags.get(names.CODE), sorted(run.deps.items())]).encode()
    ).hexdigest()


def _made(run: Run, stage: str) -> list[str]:
    named = run.stage.rpartition(":")[2].startswith(stage)
    return list(run.outs.values()) if named and run.status == FINISHED else []


def _test_metrics(run: Run) -> dict[str, float]:
    return {key: value for key, value in run.metrics.items() if "." in key}
