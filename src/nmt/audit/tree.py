"""The files as they are now: hashed once each, and compared with copies that are kept of them."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nmt.files import sha256
from nmt.provenance.cache import cache_folder
from nmt.provenance.git import run_git
from nmt.provenance.hashes import dvc_hash, file_md5s

_SHOWN = 3  # files that are named when many differ


@dataclass(frozen=True)
class Project:
    """The project's folder, whose files are hashed at most once."""

    root: Path

    @cached_property
    def _known(self) -> dict[str, dict[str, str]]:
        return {}

    @cached_property
    def _sha256s(self) -> dict[str, str]:
        return {}

    @cached_property
    def _cache(self) -> Path:
        return cache_folder(self.root)

    @cached_property
    def _since(self) -> dict[str, set[str]]:
        return {}

    def md5s(self, path: str) -> dict[str, str]:
        """Return the MD5 of a file, or of each file in a folder; {} if there is none."""
        top = Path(path).parts[0]
        if top not in self._known:
            self._known[top] = file_md5s(self.root, top)
        below = f"{path}/"
        return {f: md5 for f, md5 in self._known[top].items() if f == path or f.startswith(below)}

    def hash(self, path: str) -> str | None:
        """Return what dvc.lock would say of a file or folder; None if it is missing."""
        return dvc_hash(path, self.md5s(path))

    def sha256(self, path: str) -> str | None:
        """Return the SHA-256 of a file; None if it is missing."""
        if path not in self._sha256s and (self.root / path).is_file():
            self._sha256s[path] = sha256(self.root / path)
        return self._sha256s.get(path)

    def cached(self, digest: str) -> Path | None:
        """Return the file of that hash in DVC's cache, if the cache has it whole."""
        path = self._cache / digest[:2] / digest[2:]
        if not path.is_file():
            return None
        md5 = hashlib.md5(path.read_bytes()).hexdigest()
        return path if md5 == digest.removesuffix(".dir") else None

    def committed(self, path: str, commit: str = "HEAD") -> bytes | None:
        """Return a file's content in a commit; None if it is not in it."""
        try:
            shown = run_git(self.root, "show", f"{commit}:./{path}")
        except OSError:
            return None
        return None if shown.returncode else shown.stdout

    def changed(self, commit: str) -> set[str]:
        """Return the files of the project that differ from a commit, or are new."""
        if commit not in self._since:
            self._since[commit] = set(changed_since(self.root, commit, "."))
        return self._since[commit]

    def in_git(self, path: str) -> bool:
        """Tell whether the last commit has the file or folder."""
        try:
            return not run_git(self.root, "cat-file", "-e", f"HEAD:./{path}").returncode
        except OSError:
            return False

    def differences(self, path: str, digest: str) -> str:
        """Name the files that differ from those of a hash, as far as it can be told.

        By the list in DVC's cache, else by the last commit; "" if neither is at hand.
        """
        found = list(self._from_cache(path, digest)) or list(self._from_git(path))
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        return ", ".join(found[:_SHOWN]) + more

    def _from_cache(self, path: str, digest: str) -> Iterator[str]:
        kept = self.cached(digest)
        if kept is None:
            return
        if not digest.endswith(".dir"):
            yield _changed(path, self.root / path, kept.read_bytes())
            return
        wanted = {f"{path}/{e['relpath']}": e["md5"] for e in json.loads(kept.read_bytes())}
        now = self.md5s(path)
        for name in sorted(wanted.keys() | now.keys()):
            if name not in now:
                yield f"{name} (missing)"
            elif name not in wanted:
                yield f"{name} (not one of them)"
            elif now[name] != wanted[name]:
                old = self.cached(wanted[name])
                yield _changed(name, self.root / name, old.read_bytes() if old else None)

    def _from_git(self, path: str) -> Iterator[str]:
        for name in changed_since(self.root, "HEAD", path):
            if not (self.root / name).is_file():
                yield f"{name} (missing)"
            elif (old := self.committed(name)) is None:
                yield f"{name} (not in git)"
            else:
                yield _changed(name, self.root / name, old)


def changed_since(root: Path, commit: str, path: str) -> list[str]:
    """Return the files below a path that differ from a commit or are new, git's ignored ones aside.

    Args:
        root: the project's folder, to which paths are relative.
        commit: to compare with.
        path: file or folder.
    """
    try:
        told = run_git(root, "diff", "--name-only", "-z", "--relative", commit, "--", path).stdout
        new = run_git(root, "ls-files", "-z", "--others", "--exclude-standard", "--", path).stdout
    except OSError:
        return []
    return sorted({name.decode() for name in (told + new).split(b"\0") if name})


def _changed(name: str, file: Path, old: bytes | None) -> str:
    """Name a changed file, and in a text the first line that differs."""
    new = file.read_bytes()
    if old is None or b"\0" in old or b"\0" in new:
        return name
    pairs = zip(old.split(b"\n"), new.split(b"\n"), strict=False)
    line = next((n for n, (a, b) in enumerate(pairs, 1) if a != b), None)
    return f"{name}, line {line}" if line else name
