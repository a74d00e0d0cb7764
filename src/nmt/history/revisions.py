"""Every revision that changed dvc.lock, and every experiment of DVC, read in one call of git."""

from dataclasses import dataclass
from pathlib import Path

from nmt.history.locks import LOCK_FILE, Lock, LockError, read_lock
from nmt.history.runs import HistoryError
from nmt.provenance.git import run_git

EXPERIMENTS = "refs/exps/"
_NO_EXPERIMENTS = ("refs/exps/exec/", "refs/exps/stash", "refs/exps/celery/")
WORKSPACE = "workspace"


@dataclass(frozen=True)
class Revision:
    """A commit or experiment, or the workspace.

    Args:
        commit: 40 hexadecimal digits; "" for the workspace.
        name: to show: an experiment's name, else the first digits of the commit.
        kind: "commit", "experiment" or "workspace".
        subject: first line of the commit's message.
        lock: what its dvc.lock says; None if it has none or it can't be read.
        problem: why it can't.
    """

    commit: str
    name: str
    kind: str
    subject: str
    lock: Lock | None
    problem: str = ""


def read_revisions(root: Path) -> list[Revision]:
    """Return the workspace, then experiments, then commits that changed dvc.lock, newest first.

    Raises:
        HistoryError: the folder is in no git repository, or git is not installed.
    """
    commits = dict(_log(root))
    named = experiments(root)
    wanted = [(commit, name, "experiment") for name, commit in named]
    tips = {commit for _, commit in named}
    wanted += [(commit, commit[:8], "commit") for commit in commits if commit not in tips]
    texts = read_blobs(root, [f"{commit}:{prefix(root)}{LOCK_FILE}" for commit, _, _ in wanted])
    found = [
        _revision(commit, name, kind, commits.get(commit, ""), content)
        for (commit, name, kind), content in zip(wanted, texts, strict=True)
    ]
    path = root / LOCK_FILE
    here = path.read_bytes() if path.is_file() else None
    return [_revision("", WORKSPACE, WORKSPACE, "", here), *found]


def experiments(root: Path) -> list[tuple[str, str]]:
    """Return name and commit of each experiment of DVC."""
    lines = git(root, "for-each-ref", "--format=%(objectname) %(refname)", EXPERIMENTS)
    pairs = (line.split(" ", 1) for line in lines.split("\n") if line)
    return [
        (ref.rpartition("/")[2], commit)
        for commit, ref in pairs
        if not ref.startswith(_NO_EXPERIMENTS)
    ]


def read_blobs(root: Path, objects: list[str]) -> list[bytes | None]:
    """Return the contents of files in git (COMMIT:PATH from the repository's top), in one call.

    None stands for what git doesn't have.
    """
    if not objects:
        return []
    done = run_git(root, "cat-file", "--batch", stdin="".join(f"{o}\n" for o in objects).encode())
    data, at, found = done.stdout, 0, list[bytes | None]()
    for _ in objects:
        end = data.index(b"\n", at)
        head, at = data[at:end].split(b" "), end + 1
        if len(head) == 3 and head[1] == b"blob":
            size = int(head[2])
            found.append(data[at : at + size])
            at += size + 1
        elif len(head) == 3 and head[1] in (b"tree", b"commit", b"tag"):
            found.append(None)
            at += int(head[2]) + 1
        else:  # "… missing", or "… ambiguous"
            found.append(None)
    return found


def prefix(root: Path) -> str:
    """Return the project's folder from the repository's top, with "/" behind; "" for the top."""
    return git(root, "rev-parse", "--show-prefix").removesuffix("\n")


def git(root: Path, *arguments: str) -> str:
    """Return what git says.

    Raises:
        HistoryError: it fails.
    """
    try:
        done = run_git(root, *arguments)
    except OSError:
        raise HistoryError("git is not installed; revisions are read with it") from None
    if done.returncode:
        reason = " ".join(done.stderr.decode(errors="replace").split())[:300]
        raise HistoryError(f"git {arguments[0]} in {root} failed: {reason}")
    return done.stdout.decode("utf-8", errors="surrogateescape")


def _log(root: Path) -> list[tuple[str, str]]:
    """Return commit and subject of what changed dvc.lock on any branch, the newest first."""
    excluded = [f"--exclude={ref}*" for ref in (*_NO_EXPERIMENTS, "refs/stash")]
    command = ("log", "--full-history", "--format=%H %s", *excluded, "--all", "--", LOCK_FILE)
    lines = [line for line in git(root, *command).split("\n") if line]
    return [(line[:40], line[41:]) for line in lines]


def _revision(commit: str, name: str, kind: str, subject: str, content: bytes | None) -> Revision:
    if content is None:
        return Revision(commit, name, kind, subject, None)
    try:
        where = LOCK_FILE if kind == WORKSPACE else f"{LOCK_FILE} of {name}"
        lock = read_lock(content.decode("utf-8", errors="replace"), where)
    except LockError as error:
        return Revision(commit, name, kind, subject, None, str(error))
    return Revision(commit, name, kind, subject, lock)
