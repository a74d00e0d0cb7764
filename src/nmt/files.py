r"""Reading and writing: UTF-8, lines that end at "\n" and nowhere else, whole files or none."""

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nmt.errors import DataError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; move it there when the block ends well.

    Works for a file and for a folder (the block makes either). What stood at `path` stays
    until the new one is whole; after an error the temporary one is removed. A new file takes
    the place of the old one instead of being written into it, so links into a cache stay true.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.partial")
    _remove(temporary)
    try:
        yield temporary
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        temporary.replace(path)
    finally:
        _remove(temporary)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def read_text(path: Path) -> str:
    """Return the whole file as text.

    Raises:
        DataError: the file is missing, or is not UTF-8 (naming the line and the byte).
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise _missing(path) from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _not_utf8(path, data.count(b"\n", 0, error.start) + 1, data[error.start]) from None


def read_lines(path: Path) -> list[str]:
    r"""Return the lines of a UTF-8 file without their ends; a missing last "\n" is no matter."""
    lines = read_text(path).split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def stream_lines(path: Path) -> Iterator[str]:
    """Yield the lines that `read_lines` returns, holding one at a time in memory."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise _missing(path) from None
    with file:
        for number, line in enumerate(file, 1):
            try:
                yield line.removesuffix(b"\n").decode("utf-8")
            except UnicodeDecodeError as error:
                raise _not_utf8(path, number, line[error.start]) from None


def _missing(path: Path) -> DataError:
    return DataError(f"{path}: no such file; run the stage that makes it first")


def _not_utf8(path: Path, number: int, byte: int) -> DataError:
    return DataError(
        f"{path}, line {number}: byte 0x{byte:02X} is not UTF-8; "
        "convert the file to UTF-8 (for Latin-1: iconv -f latin1 -t utf-8)"
    )


def write_text(path: Path, text: str) -> None:
    """Write `text` whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write one line for each item; an item may not hold a line end."""
    write_text(path, "".join(f"{line}\n" for line in lines))


def read_json(path: Path) -> Any:
    """Return what a strict JSON file holds (NaN and Infinity are refused)."""
    return _parse_json(read_text(path), str(path))


def write_json(path: Path, value: Any) -> None:
    """Write strict JSON with sorted keys and a final newline."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2, sort_keys=True)
    write_text(path, text + "\n")


def read_jsonl(path: Path) -> list[Any]:
    """Return the values of a file that holds one JSON value a line."""
    return list(stream_jsonl(path))


def stream_jsonl(path: Path) -> Iterator[Any]:
    """Yield the values of a file that holds one JSON value a line, one at a time."""
    for number, line in enumerate(stream_lines(path), 1):
        yield _parse_json(line, f"{path}, line {number}")


def write_jsonl(path: Path, values: Iterable[Any]) -> None:
    """Write one JSON value a line, keys sorted."""
    write_lines(
        path,
        (json.dumps(v, ensure_ascii=False, allow_nan=False, sort_keys=True) for v in values),
    )


def _parse_json(text: str, where: str) -> Any:
    def refuse(constant: str) -> None:
        raise DataError(f"{where}: {constant} is not a JSON number; the file is not strict JSON")

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise DataError(f"{where}: not JSON ({error}); run the stage that makes it again") from None


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
