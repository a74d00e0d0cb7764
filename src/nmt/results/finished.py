"""The finished run in the working tree: is it whole and up to date, and what are its rows?"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt import dag
from nmt.audit.findings import Link, Status
from nmt.audit.lock import LOCK, PARAMS, Entry, lock_here
from nmt.audit.outs import check_outs
from nmt.audit.stale import Graph, check_stale
from nmt.audit.tree import Project, changed_since
from nmt.errors import DataError, NmtError
from nmt.files import read_json, read_jsonl
from nmt.history.runs import read_runs
from nmt.params import Params
from nmt.params_files import chain, read_params
from nmt.provenance.git import CODE_AND_PARAMS, git_state
from nmt.report.tables import SCORE_COLUMNS, TEST_COLUMNS
from nmt.results.minutes import Training, training
from nmt.results.rows import PairedTest, Result, read_cells, row_of
from nmt.run.inputs import flatten, text

BLEU, SIGNIFICANCE = Path("reports/bleu.csv"), Path("reports/significance.csv")


class StaleError(NmtError):
    """The working tree holds no finished run of the params file."""


@dataclass(frozen=True)
class Finished:
    """The rows of a finished run."""

    results: list[Result]
    paired: list[PairedTest]


def read_finished(root: Path, params_file: Path, note: str) -> Finished:
    """Check the run in the working tree, and return its rows.

    Args:
        root: the project's folder.
        params_file: that the run was made with; `params.yaml` must hold the same values.
        note: kept with each row.

    Raises:
        StaleError: the run is of other params, not whole or not up to date.
        NmtError: dvc.lock, the tables or the store of runs can't be read.
    """
    root = root.resolve()
    name = _relative(root, params_file)
    again = repeat(name)
    _check_params(root, name, again)
    lock = lock_here(root)
    project = Project(root)
    graph = Graph(dag.stages(root), lock, project, Params.read(root / PARAMS))
    _check_stages(graph, again)
    facts = Facts(root, lock)
    common = {"params_file": name, "commit": _commit(root, name), "note": " ".join(note.split())}
    results = [
        row_of(Result, {**cells, **facts.of(cells["model"], cells["seed"]), **common}, f"{BLEU}")
        for cells in read_cells(root / BLEU, SCORE_COLUMNS)
    ]
    paired = [
        row_of(PairedTest, {**cells, "params_file": name}, f"{SIGNIFICANCE}")
        for cells in read_cells(root / SIGNIFICANCE, TEST_COLUMNS)
    ]
    return Finished(results, paired)


def repeat(params_file: str) -> str:
    """Return the command that makes the run of a params file."""
    return "make repro" if params_file == PARAMS else f"make repro PARAMS={params_file}"


def _relative(root: Path, params_file: Path) -> str:
    path = (root / params_file).resolve()
    if not path.is_relative_to(root):
        raise StaleError(
            f"{params_file}: lies outside the project {root}, so nobody else has it; "
            "put it into params/ and commit it"
        )
    return path.relative_to(root).as_posix()


def _check_params(root: Path, name: str, again: str) -> None:
    """Check that a params file has the values of the one that the stages read."""
    wanted, found = (_values(read_params(root / file)) for file in (name, PARAMS))
    for key in sorted(wanted.keys() | found.keys()):
        if wanted.get(key) != found.get(key):
            said, here = (text(v[key]) if key in v else "missing" for v in (wanted, found))
            raise StaleError(
                f"{name}: {key} is {said}, and {here} in {PARAMS}, which the run here is of; "
                f"run `{again}` first"
            )


def _values(params: Params) -> dict[str, Any]:
    return flatten("", {name: params.value(name) for name in params.names()})


def _check_stages(graph: Graph, again: str) -> None:
    """Check that each stage was run, on what is here now, and that what it made is here."""
    problems = [problem for stage in graph.stages.values() for problem in _problems(stage, graph)]
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise StaleError(
            f"the run here is not whole or not up to date: {problems[0]}{more}; run `{again}` first"
        )


def _problems(stage: dag.Stage, graph: Graph) -> Iterator[str]:
    entry = graph.lock.get(stage.address)
    if entry is None:
        yield f"{stage.address}: {LOCK} has no entry of it: it was never run"
        return
    link = Link("stage", stage.address, stage.address)
    check_outs(link, entry, graph.project)
    check_stale(link, stage, graph)
    for finding in link.findings:
        if finding.status > Status.MARKED:
            yield f"{stage.address}: {finding.text}"


class Facts:
    """What is known of each model and ensemble beside its scores.

    Args:
        root: the project's folder.
        lock: with the hashes of the models.
    """

    def __init__(self, root: Path, lock: Mapping[str, Entry]) -> None:
        self._root = root
        self._lock = lock
        self._runs = read_runs(root)

    def of(self, model: str, seed: str) -> dict[str, Any]:
        """Return the cells of a row that hang on model and seed.

        Args:
            model: its name.
            seed: as in reports/bleu.csv: of an ensemble, the word in the name of its score file.
        """
        scores = read_json(self._root / "reports" / "scores" / f"{model}-{seed}.json")
        alone = isinstance(scores["seed"], int)
        seeds = [scores["seed"]] if alone else scores["seed"]
        trainings = [self._training(model, each) for each in seeds]
        return {
            "parameters": scores["parameters"],
            "minutes": _sum([each.minutes for each in trainings]),
            "device": "; ".join(sorted({each.device or "" for each in trainings} - {""})),
            "members": len(seeds),
            **(self._epochs(model, seed) if alone else {"epochs": None, "validation_bleu": None}),
        }

    def _training(self, model: str, seed: int) -> Training:
        path = f"models/{model}/{seed}"
        return training(self._runs, path, self._lock[f"train@{model}-{seed}"].outs[path])

    def _epochs(self, model: str, seed: str) -> dict[str, Any]:
        folder = self._root / "models" / model / seed
        config = read_json(folder / "config.json")
        for row in read_jsonl(folder / "history.jsonl"):
            if row["epoch"] == config["best_epoch"]:
                return {
                    "epochs": config["epochs"],
                    "validation_bleu": round(row["validation_bleu"], 4),
                }
        raise DataError(
            f"{folder}: history.jsonl lacks the epoch kept, {config['best_epoch']}; "
            f"run `dvc repro --force train@{model}-{seed}`"
        )


def _sum(minutes: Sequence[float | None]) -> float | None:
    known = [value for value in minutes if value is not None]
    return round(sum(known), 1) if len(known) == len(minutes) else None


def _commit(root: Path, params_file: str) -> str:
    """Name the commit of the code, of a params file and of those that it builds on.

    params.yaml itself counts only if it is that file: a run of another one may have put its
    values there.
    """
    commit = git_state(root).commit
    paths = [path for path in CODE_AND_PARAMS if path not in (PARAMS, "params")]
    files = [os.path.relpath(file, root) for file in chain(root / params_file)]
    changed = any(changed_since(root, "HEAD", path) for path in [*paths, *files])
    return f"{commit}-dirty" if changed and len(commit) == 40 else commit
