"""Is this the file it should be? If not, what is it?"""

import gzip
import hashlib
import io
import zlib

from nmt.corpus.settings import FileSettings
from nmt.errors import DataError

_GZIP = b"\x1f\x8b"
_MOST_BYTES = 1 << 28
"""No text of the corpus comes near this; a small archive may claim to hold far more."""


class SourceError(DataError):
    """A source doesn't have a file, or what it has is not that file; another may have it."""


class AbsentError(SourceError):
    """As was to be expected, the source doesn't have the file: nothing to warn of."""


def check_archive(archive: bytes, expected: FileSettings, where: str) -> bytes:
    """Return the text in a gzip archive.

    Args:
        archive: what a source gave.
        expected: rows and hashes of the file.
        where: the archive's place and how it came there, for messages.

    Raises:
        SourceError: with the kind of thing it is, and the expected and the found hash.
    """
    text, kind = _unpack(archive)
    found = hashlib.sha256(archive).hexdigest()
    if text is None:
        raise SourceError(
            f"{where}: {kind}; SHA-256 of the archive: expected {expected.archive}, found {found}"
        )
    if found != expected.archive:
        raise SourceError(
            f"{where}: not the pinned archive; SHA-256: expected {expected.archive}, found {found}"
        )
    return check_text(text, expected, where)


def check_text(text: bytes, expected: FileSettings, where: str) -> bytes:
    r"""Return the text if its hash and its number of lines are as expected.

    Raises:
        SourceError: one of them is not, with both values.
    """
    found = hashlib.sha256(text).hexdigest()
    if found != expected.text:
        raise SourceError(
            f"{where}: not the pinned text; SHA-256 of the text: expected {expected.text}, "
            f"found {found}"
        )
    rows = count_rows(text)
    if rows != expected.rows:
        raise SourceError(f"{where}: expected {expected.rows} rows, found {rows}")
    return text


def count_rows(text: bytes) -> int:
    r"""Return the number of lines; the last may lack its "\n"."""
    return text.count(b"\n") + (not text.endswith(b"\n") and text != b"")


def _unpack(archive: bytes) -> tuple[bytes | None, str]:
    """Return the text in an archive, or None and the kind of thing that it is.

    Python's gzip takes no bytes at all for an empty text, and a doubly compressed text for a
    text: neither is an error there.
    """
    if not archive:
        return None, "0 bytes"
    if not archive.startswith(_GZIP):
        return None, _kind(archive)
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(archive)) as file:
            text = file.read(_MOST_BYTES + 1)
    except EOFError:
        return None, "cut short: the gzip archive ends in its middle"
    except (OSError, zlib.error) as error:
        return None, f"a damaged gzip archive ({error})"
    if len(text) > _MOST_BYTES:
        return None, f"an archive of more than {_MOST_BYTES} bytes of text"
    if text.startswith(_GZIP):
        return None, "doubly compressed: a gzip archive inside a gzip archive"
    return text, ""


def _kind(data: bytes) -> str:
    start = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith(b"<") and b"html" in start:
        return "HTML, not gzip (a page, maybe of an error or a login)"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "not gzip"
    return "plain text, not gzip"
