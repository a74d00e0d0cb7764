"""dvc.lock of the tree and of the last commit."""

from pathlib import Path

from nmt.audit.findings import AuditError
from nmt.history.locks import LOCK_FILE as LOCK
from nmt.history.locks import LockedStage as Entry
from nmt.history.locks import LockError, read_lock
from nmt.provenance.git import run_git

__all__ = ["LOCK", "PARAMS", "Entry", "committed_lock", "lock_here"]

PARAMS = "params.yaml"


def lock_here(root: Path) -> dict[str, Entry]:
    """Return the entries of the project's dvc.lock by address.

    Raises:
        AuditError: there is none, it holds marks of a merge conflict, or is no dvc.lock.
    """
    try:
        return read_lock((root / LOCK).read_text(encoding="utf-8"), LOCK).stages
    except FileNotFoundError:
        raise AuditError(
            f"{LOCK}: no such file: nothing was run here, so there is nothing to audit; "
            "run `dvc repro`, or get the file with git"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise AuditError(f"{LOCK}: can't be read: {error}; `git checkout -- {LOCK}`") from None
    except LockError as error:
        raise AuditError(str(error)) from None


def committed_lock(root: Path) -> dict[str, Entry] | None:
    """Return the entries of dvc.lock in the last commit; None if there is none to be read."""
    try:
        shown = run_git(root, "show", f"HEAD:./{LOCK}")
        return None if shown.returncode else read_lock(shown.stdout.decode(), LOCK).stages
    except (OSError, UnicodeDecodeError, LockError):
        return None
