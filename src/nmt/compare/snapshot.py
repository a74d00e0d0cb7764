"""The files of one side, read from git, DVC's cache or the working tree: nothing is checked out."""

import json
import shutil
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from nmt.compare.cache import Cache
from nmt.history.locks import LOCK_FILE, Lock, read_lock
from nmt.history.revisions import git, prefix, read_blobs
from nmt.provenance.hashes import dvc_hash, file_md5s


class Snapshot:
    """What the project held at a commit, or holds now.

    Args:
        root: the project's folder.
        commit: 40 hexadecimal digits; "" for the working tree.
        cache: of the project.
        folder: of its own, where what is asked for is put.
        title: to name it in messages.
    """

    def __init__(self, root: Path, commit: str, cache: Cache, folder: Path, title: str) -> None:
        self.folder = folder
        self.title = title
        self._root = root
        self._commit = commit
        self._cache = cache
        self._outs: dict[str, tuple[bool, str]] = {}

    def read(self, path: str) -> bytes | None:
        """Return a file that git keeps (params.yaml, code); None if there is none."""
        if not self._commit:
            file = self._root / path
            return file.read_bytes() if file.is_file() else None
        return read_blobs(self._root, [f"{self._commit}:{self._prefix}{path}"])[0]

    @cached_property
    def lock(self) -> Lock:
        """What its dvc.lock says; empty without one.

        Raises:
            LockError: it can't be read, for instance for a merge conflict.
        """
        content = self.read(LOCK_FILE)
        if content is None:
            return Lock()
        return read_lock(content.decode("utf-8", "replace"), f"{LOCK_FILE} of {self.title}")

    def out(self, path: str) -> tuple[Path | None, str]:
        """Put an out of DVC into `folder`, at its own place in it, and return that place.

        Only bytes with the hash in dvc.lock are taken, wherever they lie: git, the working tree,
        DVC's cache, its remote. Without them None is returned, and why.
        """
        if path not in self._outs:
            self._outs[path] = self._get(path)
        found, reason = self._outs[path]
        return (self.folder / path if found else None), reason

    def filled(self, folder: str, outs: Iterable[str]) -> str | None:
        """Return the hash of a folder that these outs fill; None if DVC lacks a list of theirs."""
        md5s: dict[str, str] = {}
        for out in outs:
            data = self._cache.read(self.lock.outs[out])
            if data is None:
                return None
            md5s |= {f"{out}/{entry['relpath']}": entry["md5"] for entry in json.loads(data)}
        return dvc_hash(folder, md5s)

    def _get(self, path: str) -> tuple[bool, str]:
        digest = self.lock.outs.get(path)
        if digest is None:
            return False, f"{self.title}: dvc.lock knows no {path}"
        for files in (self._from_git(path), self._from_tree(path, digest)):
            if self._write(path, digest, files):
                return True, ""
        if self._write(path, digest, self._from_cache(path, digest)):
            return True, ""
        more = f" ({self._cache.note})" if self._cache.note else ""
        return False, (
            f"{self.title}: the {path} of dvc.lock ({digest[:8]}) is neither in git nor in DVC's "
            f"cache or remote{more}; `dvc fetch` or `dvc pull` may bring it"
        )

    def _write(self, path: str, digest: str, files: dict[str, bytes]) -> bool:
        """Write files in the place of others; tell whether together they have the out's hash."""
        shutil.rmtree(self.folder / path, ignore_errors=True)
        for name, data in files.items():
            target = self.folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        return bool(files) and dvc_hash(path, file_md5s(self.folder, path)) == digest

    def _from_git(self, path: str) -> dict[str, bytes]:
        if not self._commit:
            return {}
        top = self._prefix
        listed = git(
            self._root, "ls-tree", "-r", "-z", "--name-only", "--full-name", self._commit, path
        )
        names = [name for name in listed.split("\0") if name]
        contents = read_blobs(self._root, [f"{self._commit}:{name}" for name in names])
        pairs = zip(names, contents, strict=True)
        return {name.removeprefix(top): data for name, data in pairs if data is not None}

    def _from_tree(self, path: str, digest: str) -> dict[str, bytes]:
        md5s = file_md5s(self._root, path)
        if dvc_hash(path, md5s) != digest:
            return {}
        return {name: (self._root / name).read_bytes() for name in md5s}

    def _from_cache(self, path: str, digest: str) -> dict[str, bytes]:
        found = dict(self._cached(path, digest))
        return {name: data for name, data in found.items() if data is not None}

    def _cached(self, path: str, digest: str) -> Iterator[tuple[str, bytes | None]]:
        data = self._cache.read(digest)
        if not digest.endswith(".dir"):
            yield path, data
        elif data is not None:
            for entry in json.loads(data):
                yield f"{path}/{entry['relpath']}", self._cache.read(entry["md5"])

    @cached_property
    def _prefix(self) -> str:
        return prefix(self._root)
