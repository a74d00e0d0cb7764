"""Are the files those that dvc.lock names? Every byte is hashed again."""

from nmt.audit.findings import Check, Link, Status
from nmt.audit.lock import LOCK, Entry
from nmt.audit.tree import Project


def check_outs(link: Link, entry: Entry, project: Project) -> None:
    """Compare what a stage made with the hashes in dvc.lock."""
    for path, digest in entry.outs.items():
        found = project.hash(path)
        if found == digest:
            n = len(project.md5s(path))
            files = f"its {n} files are" if n > 1 else "its bytes are"
            link.add(Check.BYTES, Status.OK, f"{path}: {files} those of {LOCK} ({short(digest)})")
        elif found is None:
            link.add(Check.BYTES, *_missing(path, digest, link.stage, project))
        else:
            link.add(Check.BYTES, Status.BROKEN, _differing(path, digest, found, project))


def _differing(path: str, digest: str, found: str, project: Project) -> str:
    where = project.differences(path, digest)
    return f"{path}: not what {LOCK} names ({short(digest)} there, {short(found)} here)" + (
        f"; differs in {where}" if where else ""
    )


def _missing(path: str, digest: str, stage: str, project: Project) -> tuple[Status, str]:
    if project.in_git(path):
        return Status.BROKEN, f"{path}: missing, though git has it; `git checkout -- {path}`"
    if project.cached(digest):
        return Status.UNKNOWN, f"{path}: not checked out; `dvc checkout {path}` would settle it"
    return (
        Status.UNKNOWN,
        f"{path}: not here, nor in DVC's cache; `dvc pull {path}` or "
        f"`nmt audit --replay {stage}` would settle it",
    )


def short(digest: str) -> str:
    """Return the first digits of a hash, enough to tell it by."""
    return digest[:10]
