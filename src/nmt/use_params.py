"""Another params file put in the place of params.yaml, which the stages read."""

import shutil
from pathlib import Path

from nmt.errors import ParamsError
from nmt.files import replacing
from nmt.params import Params
from nmt.provenance.git import run_git
from nmt.settings import check

PARAMS = "params.yaml"


def use_params(root: Path, file: Path) -> bool:
    """Copy a whole params file over params.yaml; return whether that changed anything.

    Raises:
        ParamsError: the file is not in order, or params.yaml holds what git does not.
    """
    check(Params.read(file))
    path = root / PARAMS
    if path.is_file() and path.read_bytes() == file.read_bytes():
        return False
    if path.exists() and not _held(root):
        raise ParamsError(
            f"{path}: holds changes that are in no commit, and {file.name} would take their place; "
            f"commit them, or drop them by `git restore {PARAMS}`"
        )
    with replacing(path) as copy:
        shutil.copyfile(file, copy)
    return True


def _held(root: Path) -> bool:
    """Tell whether the last commit holds params.yaml as it is.

    It may be there as another file: then params.yaml is a copy of that one.
    """
    try:
        own = run_git(root, "hash-object", "--", PARAMS)
        tree = run_git(root, "ls-tree", "-r", "-z", "HEAD")
    except OSError:  # no git
        return False
    entries = tree.stdout.split(b"\0")  # mode, kind, hash, tab, path
    hashes = {entry.partition(b"\t")[0].split()[-1] for entry in entries if entry}
    return own.returncode == 0 and own.stdout.strip() in hashes
