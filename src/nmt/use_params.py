"""Another params file put in the place of params.yaml, which the stages read."""

from pathlib import Path

from nmt.errors import ParamsError
from nmt.files import read_text, write_text
from nmt.params_files import made_of, read_params, whole_text
from nmt.provenance.git import run_git
from nmt.settings import check

PARAMS = "params.yaml"


def use_params(root: Path, file: Path) -> bool:
    """Put a params file in the place of params.yaml; return whether that changed anything.

    Raises:
        ParamsError: the file is not in order, or params.yaml holds what git does not.
    """
    check(read_params(file))
    path = root / PARAMS
    text = whole_text(file, _name(root, file))
    old = read_text(path) if path.is_file() else None
    if old == text:
        return False
    if old is not None and not (_held(root) or _made(root, old)):
        raise ParamsError(
            f"{path}: holds changes that are in no commit, and {file.name} would take their place; "
            f"commit them, or drop them by `git restore {PARAMS}`"
        )
    write_text(path, text)
    return True


def _name(root: Path, file: Path) -> str:
    path, root = file.resolve(), root.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _made(root: Path, text: str) -> bool:
    """Tell whether a text was made of a short file that is still there."""
    name = made_of(text)
    return name is not None and (root / name).is_file()


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
