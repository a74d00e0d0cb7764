"""A stage run again in a copy of the project, and its result compared byte by byte.

The copy holds what git has or would take, and the results of earlier stages that the stage
reads; it runs its own code, and records nothing.
"""

import json
import logging
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from nmt.audit.findings import AuditError, Check, Finding, Link, Status
from nmt.audit.lock import Entry
from nmt.audit.outs import short
from nmt.audit.source import ARCHIVES, MIRROR
from nmt.audit.stale import Graph
from nmt.dag import Stage
from nmt.ensembles import split_address
from nmt.provenance.git import run_git
from nmt.provenance.hashes import dvc_hash, file_md5s
from nmt.run.inputs import flatten, within

SCORED = (("train", "translate", "evaluate"), ("translate_ensemble", "evaluate_ensemble"))
"""Stages whose result can be judged by its scores, each after those before it."""

_NOT_SCORES = ("sentences", "empty", "cut", "with_unknown", "unknown_tokens", "source_unknown_rate")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Replay:
    """What to run again.

    Args:
        stages: addresses; run in the order of the graph, each on the results of those before.
        band: greatest difference of a score, in points of 100, that counts as the same result
            where bytes differ; None: bytes must be equal.
    """

    stages: tuple[str, ...]
    band: float | None = None


def check_known(replay: Replay, graph: Graph) -> None:
    """Check that the stages exist and were run.

    Raises:
        AuditError: one is not in dvc.yaml, or dvc.lock has nothing to compare it with.
    """
    for address in replay.stages:
        if address not in graph.stages:
            raise AuditError(
                f"--replay {address}: no such stage; stages: {', '.join(graph.stages)}"
            )
        if address not in graph.lock:
            raise AuditError(
                f"--replay {address}: dvc.lock has no entry of it, so there is nothing to compare "
                f"with; `dvc repro {address}`"
            )


def run_again(replay: Replay, graph: Graph, links: Mapping[str, Link]) -> None:
    """Run stages again in one temporary copy, and add what comes of it to their links.

    What could not be told of a link is settled if all its bytes come out again.

    Args:
        replay: what to run.
        graph: the project.
        links: by address of the stage.
    """
    with TemporaryDirectory(prefix="nmt-replay-") as temporary:
        copy = Copy(Path(temporary).resolve() / "project", graph)
        for address in graph.stages:
            if address in replay.stages:
                finding = _replayed(copy, address, replay.band)
                if finding.status == Status.OK:
                    _settle(links[address])
                links[address].findings.append(finding)


def _settle(link: Link) -> None:
    link.findings = [
        Finding(f.check, Status.OK, f"settled by the replay: {f.text.partition(';')[0]}")
        if f.status == Status.UNKNOWN and f.check != Check.RUN
        else f
        for f in link.findings
    ]


def _replayed(copy: "Copy", address: str, band: float | None) -> Finding:
    log.info("running %s again in a copy", address)
    entry = copy.graph.lock[address]
    problem = copy.run(address)
    if problem:
        return Finding(Check.REPLAY, Status.UNKNOWN, f"run again, it did not end well: {problem}")
    differing = list(copy.differences(entry))
    if not differing:
        return Finding(
            Check.REPLAY, Status.OK, f"run again: the same bytes ({', '.join(entry.outs)})"
        )
    told = f"run again, other bytes: {'; '.join(differing)}"
    name = address.partition("@")[0]
    then = next((row[row.index(name) + 1 :] for row in SCORED if name in row), None)
    if band is None or then is None:
        return Finding(Check.REPLAY, Status.BROKEN, told)
    return _by_scores(copy, address, then, band, told)


def _by_scores(copy: "Copy", address: str, then: Sequence[str], band: float, told: str) -> Finding:
    """Judge a result by the scores that come of it, through the stages in `then`."""
    item = address.partition("@")[2]
    for later in then:
        problem = copy.run(f"{later}@{item}")
        if problem:
            return Finding(Check.REPLAY, Status.UNKNOWN, f"{told}; {later}@{item}: {problem}")
    path = f"reports/scores/{'-'.join(split_address(address))}.json"
    try:
        most, where = _greatest(copy.graph.project.root / path, copy.root / path)
    except (OSError, ValueError, KeyError) as error:
        return Finding(Check.REPLAY, Status.UNKNOWN, f"{told}; {path} can't be compared: {error}")
    status = Status.OK if most <= band else Status.BROKEN
    inside = "within" if status == Status.OK else "outside"
    return Finding(
        Check.REPLAY,
        status,
        f"{told}. Scores differ by at most {most:.2f} points ({where}), {inside} the band of "
        f"{band:g}",
    )


def _greatest(old: Path, new: Path) -> tuple[float, str]:
    """Return the greatest difference between two score files in points of 100, and where it is."""
    then, now = _scores(old), _scores(new)
    if then.keys() != now.keys():
        raise ValueError("other test sets or metrics")
    return max((abs(now[key] - then[key]), key) for key in then)


def _scores(path: Path) -> dict[str, float]:
    values = flatten("", json.loads(path.read_text(encoding="utf-8"))["tests"])
    found: dict[str, float] = {}
    for key, value in values.items():
        if key.rpartition(".")[2] not in _NOT_SCORES:
            share = key.endswith("token_accuracy")
            found[key] = float(value) * (100 if share else 1)
    return found


class Copy:
    """A copy of the project in which stages are run.

    Args:
        root: folder to make.
        graph: of the project that is copied.

    Raises:
        AuditError: git can't tell what belongs to the project.
    """

    def __init__(self, root: Path, graph: Graph) -> None:
        self.root = root
        self.graph = graph
        self._there: set[str] = set()  # results that were copied or made here
        source = graph.project.root
        for name in _files(source):
            if (source / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source / name, root / name)
        if (source / ARCHIVES).is_dir():  # placed by hand, so that git does not list it
            _copy(source / ARCHIVES, root / ARCHIVES)

    def run(self, address: str) -> str:
        """Run a stage without any record; return what went wrong, or ""."""
        stage = self.graph.stages[address]
        lacking = self._take(stage)
        if lacking:
            return (
                f"it reads {', '.join(lacking)}, not here; `dvc pull`, or replay the stages that "
                "make it too"
            )
        for out in stage.outs:
            _remove(self.root / out)
        self._there.update(stage.outs)
        done = subprocess.run(
            _command(stage),
            cwd=self.root,
            env=_environment(self.graph.project.root),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if not done.returncode:
            return ""
        lines = done.stdout.decode(errors="replace").strip().split("\n")
        return f"exit code {done.returncode}: {lines[-1][-500:]}"

    def differences(self, entry: Entry) -> Iterator[str]:
        """Yield what an entry of dvc.lock names otherwise than it came out here."""
        for path, digest in entry.outs.items():
            now = file_md5s(self.root, path)
            found = dvc_hash(path, now)
            if found == digest:
                continue
            project = self.graph.project
            if project.hash(path) != digest:
                yield f"{path} is {short(str(found))}, in dvc.lock {short(digest)}"
                continue
            old = project.md5s(path)
            yield ", ".join(f for f in sorted(old.keys() | now.keys()) if old.get(f) != now.get(f))

    def _take(self, stage: Stage) -> list[str]:
        """Copy what a stage reads of other stages' results; return what is nowhere."""
        for path in stage.deps:
            for out, _ in self.graph.makers(path):
                part = path if within(path, out) else out
                source = self.graph.project.root / part
                if not {out, part} & self._there and source.exists():
                    _copy(source, self.root / part)
                    self._there.add(part)
        return [path for path in stage.deps if not (self.root / path).exists()]


def _command(stage: Stage) -> Sequence[str]:
    """Return the command of a stage's own script, which records nothing."""
    words = shlex.split(stage.command)
    name, *options = words[words.index("pipeline.run") + 1 :]
    return [sys.executable, "-m", f"pipeline.{name}", *options]


def _environment(project: Path) -> dict[str, str]:
    """Return the variables of a stage that runs in a copy of a project."""
    found = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "DVC_STAGE")}
    mirror = found.get(MIRROR)
    if mirror and (project / mirror).is_dir():
        found[MIRROR] = str((project / mirror).resolve())
    return found


def _files(root: Path) -> list[str]:
    options = ("-z", "--cached", "--others", "--exclude-standard")
    try:
        listed = run_git(root, "ls-files", *options)
    except OSError:
        listed = None
    if listed is None or listed.returncode:
        raise AuditError("--replay needs git to tell which files belong to the project")
    return sorted({name.decode() for name in listed.stdout.split(b"\0") if name})


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        shutil.copy(source, target)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
