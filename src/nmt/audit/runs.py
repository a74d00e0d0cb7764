"""Is there a run in MLflow that made what dvc.lock names, and does it say the same?"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from nmt.audit.findings import Check, Finding, Link, Status
from nmt.audit.lock import LOCK, Entry
from nmt.audit.outs import short
from nmt.audit.recorded import History, Recorded
from nmt.audit.tree import Project
from nmt.history.runs import Run
from nmt.provenance import names
from nmt.provenance.code import combined
from nmt.provenance.git import run_git
from nmt.run.inputs import text, within

CODE = ("src/", "pipeline/")


def check_store(history: History, root: Path) -> Link:
    """Return the link for the store itself."""
    link = Link("record of runs", history.where.replace(f"{root}/", "") or "MLflow")
    if history.problem:
        link.add(Check.RUN, Status.UNKNOWN, history.problem)
    elif not history.runs:
        link.add(
            Check.RUN,
            Status.MARKED,
            "no run of this project is recorded here: its results come from a cache or another "
            "machine",
        )
    else:
        n = sum(map(len, history.runs.values()))
        link.add(Check.RUN, Status.OK, f"{n} runs of this project")
    return link


def check_run(link: Link, entry: Entry, history: History, project: Project) -> None:
    """Find the run that made a stage's outs, and compare it with dvc.lock.

    The best of several is taken, the newest of the best.
    """
    if history.problem:
        link.add(Check.RUN, Status.UNKNOWN, "not looked up: MLflow's store can't be read")
        return
    found = history.made(link.stage, entry)
    checked = [(list(_problems(each, entry, project)), each.run) for each in found]
    problems, run = min(checked, key=lambda item: _bad(item[0]), default=([], None))
    if run is None or _bad(problems):
        link.findings += _refused(history.runs.get(link.stage, []), entry)
    if run is None:
        link.add(
            Check.RUN,
            Status.MARKED,
            "no run in MLflow made this: it comes from a cache, another machine or another store",
        )
        return
    link.environment = _environment(run)
    link.findings += problems if _bad(problems) else [_right(run), *problems]


def _bad(findings: list[Finding]) -> int:
    return sum(finding.status > Status.MARKED for finding in findings)


def _right(run: Run) -> Finding:
    return Finding(
        Check.RUN,
        Status.OK,
        f"run {run.id[:8]} made it and finished: the same params, deps, outs and code; "
        + ("tree clean" if run.tags.get(names.DIRTY) == "false" else "changes kept as a patch")
        + f" at commit {short(run.tags.get(names.COMMIT, 'not recorded'))}",
    )


def _problems(found: Recorded, entry: Entry, project: Project) -> Iterator[Finding]:
    for problem in _record(found.run, entry):
        yield Finding(Check.RUN, Status.BROKEN, f"{found.name}: {problem}")
    yield from _commit(found, project)
    yield from _code(found, entry, project)


def _record(run: Run, entry: Entry) -> Iterator[str]:
    """Yield what a run says otherwise than dvc.lock."""
    if run.status != "FINISHED":
        yield f"it made this, but is {run.status}"
    for path, md5 in entry.deps.items():
        if not path.startswith(CODE) and (tag := run.tags.get(names.DEP + path)) != md5:
            yield f"it read {path} {short(tag or 'nothing')}; {LOCK} has {short(md5)}"
    for key, value in entry.params.items():
        if not _same(run.params.get(key), text(value)):
            yield f"its param {key} is {run.params.get(key, 'missing')}; {LOCK} has {text(value)}"
    values = json.dumps(entry.params, sort_keys=True, ensure_ascii=False)
    if run.tags.get(names.PARAMS) != hashlib.sha256(values.encode()).hexdigest():
        yield f"the digest of its params is not that of the params in {LOCK}"


def _same(recorded: str | None, value: str) -> bool:
    """Compare a param with its value; a long one is recorded by its hash."""
    if recorded is not None and recorded.startswith("sha256 "):
        return recorded.split()[1].rstrip(",") == hashlib.sha256(value.encode()).hexdigest()[:16]
    return recorded == value


def _commit(found: Recorded, project: Project) -> Iterator[Finding]:
    """Tell whether the code of a run can be got back: from its commit, and the patch kept."""
    where, commit = found.name, found.run.tags.get(names.COMMIT, "not recorded")
    if len(commit) != 40:
        yield Finding(Check.RUN, Status.MARKED, f"{where} tells no commit ({commit})")
    elif not _known(project.root, commit):
        yield Finding(
            Check.RUN,
            Status.UNKNOWN,
            f"{where} was made at commit {short(commit)}, which is not in this repository; "
            "`git fetch --unshallow`, or fetching the branch that has it, would settle it",
        )
    if found.run.tags.get(names.DIRTY) == "true" and found.diff != found.run.tags.get(names.DIFF):
        yield Finding(
            Check.RUN,
            Status.BROKEN,
            f"{where} ran with uncommitted changes, and the patch kept of them "
            + ("is missing" if found.diff is None else "is another"),
        )


def _known(root: Path, commit: str) -> bool:
    try:
        return not run_git(root, "cat-file", "-e", f"{commit}^{{commit}}").returncode
    except OSError:
        return False


def _code(found: Recorded, entry: Entry, project: Project) -> Iterator[Finding]:
    """Compare the code at a run's start with that of dvc.lock, file by file where it can be."""
    where = found.name
    for path, md5 in entry.deps.items():
        tag = found.run.tags.get(names.DEP + path)
        if path.startswith(CODE) and tag != md5:
            files = ", ".join(_other_files(found, path, project))
            yield Finding(
                Check.EDITED,
                Status.BROKEN,
                f"{where} began with another {path} than {LOCK} names"
                + (f" (now other: {files})" if files else "")
                + ": it was changed while the stage ran, or the result was accepted with "
                "`dvc commit`",
            )
    if found.code is None:
        yield Finding(Check.EDITED, Status.MARKED, f"{where} kept no list of its code")
        return
    if combined(found.code) != found.run.tags.get(names.CODE):
        yield Finding(
            Check.EDITED, Status.BROKEN, f"{where}: its list of code is not that of its digest"
        )
    for path, file in _unlike(found, entry, project):
        yield Finding(
            Check.EDITED,
            Status.BROKEN,
            f"{where} began with another {file} than the {path} that {LOCK} names",
        )
    if found.run.tags.get(names.DIRTY) == "false":
        yield from _unlike_commit(found, project)


def _other_files(found: Recorded, path: str, project: Project) -> list[str]:
    code = {f: d for f, d in (found.code or {}).items() if within(f, path)}
    return [file for file, digest in sorted(code.items()) if project.sha256(file) != digest]


def _unlike(found: Recorded, entry: Entry, project: Project) -> Iterator[tuple[str, str]]:
    """Yield files of which a run lists other bytes, though path and dvc.lock agree otherwise."""
    for path, md5 in entry.deps.items():
        if found.run.tags.get(names.DEP + path) == md5 == project.hash(path):
            for file in _other_files(found, path, project):
                yield path, file


def _unlike_commit(found: Recorded, project: Project) -> Iterator[Finding]:
    """Yield files of a run that says its tree was clean, which its commit has otherwise."""
    commit = found.run.tags.get(names.COMMIT, "")
    for file, digest in sorted((found.code or {}).items()):
        if project.sha256(file) == digest and file not in project.changed(commit):
            continue
        content = project.committed(file, commit)
        if content is not None and hashlib.sha256(content).hexdigest() != digest:
            yield Finding(
                Check.EDITED,
                Status.BROKEN,
                f"{found.name} says that its tree was clean, but commit "
                f"{short(commit)} has another {file}",
            )


def _refused(runs: list[Run], entry: Entry) -> Iterator[Finding]:
    """Tell of the newest run if it was refused because something was edited while it ran."""
    if not runs or "changed while the stage ran" not in runs[0].tags.get(names.ERROR, ""):
        return
    run = runs[0]
    other = any(
        run.tags.get(names.DEP + path) != md5
        for path, md5 in entry.deps.items()
        if path.startswith(CODE)
    )
    yield Finding(
        Check.EDITED,
        Status.BROKEN if other else Status.UNKNOWN,
        f"the newest run in MLflow, {run.id[:8]}, was refused: {run.tags[names.ERROR]}"
        + ("" if other else "; a replay would tell whether this is its result"),
    )


def _environment(run: Run) -> dict[str, str]:
    kept = (names.COMMIT, names.DIRTY, names.DEVICE, names.THREADS, names.REQUIREMENTS)
    found = {key: run.tags[key] for key in kept if key in run.tags}
    for prefix in (names.VERSION, names.MACHINE):
        found |= {key: value for key, value in run.tags.items() if key.startswith(prefix)}
    return {"run": run.id, **found}
