"""The state of the git repository: which commit, and what differs from it."""

import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

# What can change a result. dvc.lock and reports/ change during any run and don't count.
CODE_AND_PARAMS = (
    "src",
    "pipeline",
    "params",
    "params.yaml",
    "dvc.yaml",
    "Snakefile",
    "pyproject.toml",
    "requirements.lock",
)


@dataclass(frozen=True)
class GitState:
    """What git says of the project's code and params.

    Args:
        commit: 40 hexadecimal digits, or in words why there is none.
        dirty: "true" or "false"; "unknown" without git.
        diff: the changes since the commit as a patch, new files included; empty when clean.
    """

    commit: str
    dirty: str
    diff: bytes = b""

    @property
    def diff_sha256(self) -> str:
        """SHA-256 of the patch; "" when there is none."""
        return hashlib.sha256(self.diff).hexdigest() if self.diff else ""


def git_state(root: Path) -> GitState:
    """Return the commit of the project's folder and the changes to code and params since.

    Never fails: without git, a repository or a commit the state says so in words. A repository
    that belongs to another user is read all the same. The index is not touched, so a commit
    made at the same time is not disturbed.
    """
    try:
        if run_git(root, "rev-parse", "--is-inside-work-tree").returncode:
            return GitState("no git: not in a repository", "unknown")
        head = run_git(root, "rev-parse", "--verify", "--quiet", "HEAD")
        if head.returncode:
            return GitState("no git: no commit yet", "unknown")
        diff = _diff(root)
    except OSError:
        return GitState("no git: the program is not installed", "unknown")
    return GitState(head.stdout.decode().strip(), "true" if diff else "false", diff)


def _diff(root: Path) -> bytes:
    """Return a patch that `git apply` takes, from the commit to the files as they are."""
    parts = [run_git(root, "diff", "HEAD", "--relative", *_PLAIN, "--", *CODE_AND_PARAMS).stdout]
    others = ("ls-files", "-z", "--others", "--exclude-standard", "--", *CODE_AND_PARAMS)
    new = run_git(root, *others).stdout
    for name in filter(None, new.split(b"\0")):
        file = os.fsdecode(name)
        parts.append(run_git(root, "diff", "--no-index", *_PLAIN, "--", "/dev/null", file).stdout)
    return b"".join(parts)


_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--binary")


# Set by git when it runs a hook: they would name another repository than the project's.
_OF_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


def run_git(root: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder, however it ends; it may be another user's, and its index stays.

    Raises:
        OSError: git is not installed.
    """
    # safe.directory: git else refuses to read a repository of another user's.
    command = ["git", "-c", "safe.directory=*", "-c", "core.quotepath=off", *arguments]
    environment = {key: value for key, value in os.environ.items() if key not in _OF_HOOKS}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    return subprocess.run(
        command, cwd=root, env=environment, input=stdin, capture_output=True, check=False
    )
