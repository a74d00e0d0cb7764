"""The hashes that DVC writes into dvc.lock, computed from the files themselves.

DVC hashes outputs after the stage has ended, so a stage that is to be recorded with them can't
ask DVC. A file's hash is the MD5 of its bytes; a folder's is the MD5 of the JSON list of its
files' paths and hashes, with ".dir" behind (dvc_data.hashfile.tree). A test compares both with
a dvc.lock.
"""

import hashlib
import json
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

IGNORED = ("__pycache__", "*.pyc", ".*.partial")  # as in .dvcignore


def file_md5s(root: Path, path: str) -> dict[str, str]:
    """Return the MD5 of a file, or of each file in a folder, by path relative to the root.

    What .dvcignore names is left out. A missing path gives {}.
    """
    if not (root / path).exists():
        return {}
    return {file.as_posix(): _md5(root / file) for file in _walk(root, Path(path))}


def dvc_hash(path: str, md5s: dict[str, str]) -> str | None:
    """Return the hash that stands in dvc.lock for a file or folder; None if it is missing.

    Args:
        path: of the file or folder, relative to the root.
        md5s: what `file_md5s` gave for it.
    """
    name = Path(path).as_posix()
    if not md5s or name in md5s:
        return md5s.get(name)
    entries = [
        {"md5": md5, "relpath": Path(file).relative_to(name).as_posix()}
        for file, md5 in md5s.items()
    ]
    entries.sort(key=lambda entry: entry["relpath"])
    return hashlib.md5(json.dumps(entries, sort_keys=True).encode()).hexdigest() + ".dir"


def _walk(root: Path, path: Path) -> Iterator[Path]:
    if not (root / path).is_dir():
        yield path
        return
    for item in sorted((root / path).iterdir()):
        if not any(fnmatch(item.name, pattern) for pattern in IGNORED):
            yield from _walk(root, path / item.name)


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()
