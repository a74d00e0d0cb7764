"""Where files come from: a folder, files placed by hand; web.py has the third kind."""

from pathlib import Path
from typing import Protocol

from nmt.corpus.settings import FileSettings
from nmt.download.payload import AbsentError, SourceError, check_archive, check_text
from nmt.errors import DataError


class Source(Protocol):
    """Something that may have the files."""

    def text(self, name: str, expected: FileSettings) -> bytes:
        """Return the text of a file (such as "train.de") if it is what it must be.

        Raises:
            SourceError: this source can't give it; the next may.
            DataError: nothing else should be tried.
        """
        ...


class Folder:
    """A folder with NAME.gz, for instance a mirror on a shared disk."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def text(self, name: str, expected: FileSettings) -> bytes:
        """Return the text in NAME.gz."""
        path = self._path / f"{name}.gz"
        archive = _read(path)
        if archive is None:
            raise SourceError(f"{path}: no such file")
        return check_archive(archive, expected, f"{path} (copy in a folder)")


class Placed:
    """Files placed by hand: NAME.gz or the plain text NAME, the archive first.

    Whoever put a file there wants it used. So one that is not what it must be is an error, and
    no other source is asked.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def text(self, name: str, expected: FileSettings) -> bytes:
        """Return the text of NAME.gz or NAME."""
        for path, check in (
            (self._path / f"{name}.gz", check_archive),
            (self._path / name, check_text),
        ):
            try:
                data = _read(path)
                if data is not None:
                    return check(data, expected, f"{path} (placed by hand)")
            except SourceError as error:
                raise DataError(
                    f"{error}; put the right file there, or remove it to have it downloaded"
                ) from None
        raise AbsentError(f"{self._path}: neither {name}.gz nor {name} placed there")


def _read(path: Path) -> bytes | None:
    """Return a file's bytes; None if there is no such file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SourceError(f"{path}: can't be read ({error.strerror})") from None
