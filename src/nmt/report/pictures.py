"""Pictures of the plot stage, put into the page itself."""

import binascii
from dataclasses import dataclass
from pathlib import Path

from nmt.errors import DataError
from nmt.files import read_json

CAPTIONS_FILE = "captions.json"
"""Beside the pictures: file name to title and alternative text. What it lacks is a left-over."""

_AGAIN = "run `dvc repro plot`"


@dataclass(frozen=True)
class Picture:
    """One picture.

    Args:
        title: shown under it.
        alt: what it shows, for those who don't see it.
        data: its bytes as a data: address.
        width: in pixels.
        height: in pixels.
    """

    title: str
    alt: str
    data: str
    width: int
    height: int


def read_pictures(folder: Path) -> list[Picture]:
    """Read the PNG pictures that the captions in `folder` name, in the order of their names.

    Raises:
        DataError: a picture or its caption is missing, or it is no PNG.
    """
    path = folder / CAPTIONS_FILE
    if not path.is_file():
        raise DataError(f"{path}: no such file; {_AGAIN}")
    captions = read_json(path)
    if not isinstance(captions, dict):
        raise DataError(f"{path}: expected file names and captions; {_AGAIN}")
    return [_read(folder / name, captions[name], path) for name in sorted(captions)]


def _read(picture: Path, caption: object, captions: Path) -> Picture:
    match caption:
        case {"title": str(title), "alt": str(alt)} if title and alt:
            pass
        case _:
            raise DataError(
                f"{captions}: {picture.name}: expected a title and an alt text, got {caption!r}; "
                f"{_AGAIN}"
            )
    if not picture.is_file():
        raise DataError(f"{picture}: no such file, though {captions} names it; {_AGAIN}")
    data = picture.read_bytes()
    if data[:8] != b"\x89PNG\r\n\x1a\n" or len(data) < 24:
        raise DataError(f"{picture}: not a PNG picture; {_AGAIN}")
    width, height = (int.from_bytes(data[i : i + 4], "big") for i in (16, 20))
    encoded = binascii.b2a_base64(data, newline=False).decode("ascii")
    return Picture(title, alt, f"data:image/png;base64,{encoded}", width, height)
