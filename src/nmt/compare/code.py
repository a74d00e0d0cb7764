"""What differs between the code of two sides: files, the stages that they bear on, commits."""

from dataclasses import dataclass
from pathlib import Path

from nmt.compare.sides import Side
from nmt.history.revisions import git
from nmt.run.inputs import within

_CODE = ("src", "pipeline", "dvc.yaml", "Snakefile", "pyproject.toml")


@dataclass(frozen=True)
class CodeFile:
    """A file of code that differs.

    Args:
        path: of the file.
        change: added, removed or changed, from A to B.
        stages: names of the stages that depend on it.
    """

    path: str
    change: str
    stages: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """What differs in code.

    Args:
        files: that differ.
        only_a: commits (digits and subject) that B does not have.
        only_b: commits that A does not have.
        unknown: why this can't be told; "" if it can.
    """

    files: tuple[CodeFile, ...] = ()
    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    unknown: str = ""


def compare_code(root: Path, a: Side, b: Side) -> Code:
    """Compare the code of two sides.

    Args:
        root: the project's folder.
        a: a commit, the working tree, or a run.
        b: likewise.
    """
    if a.bare or b.bare:
        return Code(
            unknown="a run whose result is in no dvc.lock: its code is in no commit for sure"
        )
    if a.commit == b.commit:
        return Code()
    owners = _owners(a) + _owners(b)
    files = tuple(
        CodeFile(path, change, tuple(sorted({s for s, dep in owners if within(path, dep)})))
        for path, change in _changed(root, a.commit, b.commit)
    )
    tip_a, tip_b = a.commit or "HEAD", b.commit or "HEAD"
    return Code(files, _commits(root, tip_b, tip_a), _commits(root, tip_a, tip_b))


def _owners(side: Side) -> list[tuple[str, str]]:
    """Return pairs of stage and code that it depends on."""
    stages = side.files.lock.stages.items()
    return [
        (address.partition("@")[0], dep)
        for address, stage in stages
        for dep in stage.deps
        if dep.startswith(("src/", "pipeline/"))
    ]


_CHANGES = {"A": "added", "D": "removed", "M": "changed", "T": "changed"}


def _changed(root: Path, a: str, b: str) -> list[tuple[str, str]]:
    """Return path and change of each file of code, from commit A to B ("" for the working tree)."""
    options = ("--name-status", "--no-renames", "--relative", "--no-ext-diff", "-z")
    where = [a, b] if a and b else [a] if a else ["-R", b]
    parts = git(root, "diff", *options, *where, "--", *_CODE).split("\0")
    found = [
        (path, _CHANGES.get(kind, "changed"))
        for kind, path in zip(parts[::2], parts[1::2], strict=False)
    ]
    if not (a and b):  # files that git does not know yet
        others = ("ls-files", "-z", "--others", "--exclude-standard", "--", *_CODE)
        change = "removed" if not a else "added"
        found += [(path, change) for path in git(root, *others).split("\0") if path]
    return sorted(found)


def _commits(root: Path, without: str, tip: str) -> tuple[str, ...]:
    if without == tip:
        return ()
    lines = git(root, "log", "--format=%h %s", "--abbrev=8", f"{without}..{tip}").split("\n")
    return tuple(line for line in lines if line)
