"""Files that DVC keeps, by their hash: from its cache, else from its remote."""

import hashlib
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from nmt.errors import NmtError
from nmt.provenance.cache import cache_folder
from nmt.provenance.database import without_password


class Cache:
    """The cache of a project and, for what it lacks, the default remote.

    Args:
        root: the project's folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.note = ""
        """Why the remote could not be read; "" while it was not needed or could."""

    def read(self, digest: str) -> bytes | None:
        """Return the content with that hash (32 digits, ".dir" behind for a folder's list).

        None if it is nowhere, or damaged.
        """
        for source in (self._local, self._remote):
            data = source(digest)
            if data is not None and _md5(data) == digest.removesuffix(".dir"):
                return data
        return None

    @cached_property
    def _folder(self) -> Path:
        return cache_folder(self._root)

    def _local(self, digest: str) -> bytes | None:
        path = self._folder / digest[:2] / digest[2:]
        return path.read_bytes() if path.is_file() else None

    @cached_property
    def _fetch(self) -> Callable[[str], bytes | None]:
        from nmt.dag import remote_reader  # slow: it imports dvc

        return remote_reader(self._root)

    def _remote(self, digest: str) -> bytes | None:
        if self.note:
            return None
        try:
            return self._fetch(digest)
        except NmtError as error:
            self.note = without_password(str(error))
            return None


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
