"""A folder of pictures with their captions, written whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from matplotlib.figure import Figure

from nmt.files import replacing, write_json

CAPTIONS_FILE = "captions.json"
"""Beside the pictures: file name to title and alternative text."""


class Gallery:
    """Takes pictures into a folder.

    Args:
        folder: exists and is empty.
        dpi: pixels an inch.
    """

    def __init__(self, folder: Path, dpi: int) -> None:
        self.folder = folder
        self.captions: dict[str, dict[str, str]] = {}
        self._dpi = dpi

    def add(self, name: str, figure: Figure, title: str, alt: str) -> None:
        """Save a figure as NAME.png, without date or version.

        Args:
            name: of the file, without ending.
            figure: is not changed.
            title: what stands under the picture.
            alt: what it shows, for those who don't see it.
        """
        file = f"{name}.png"
        self.captions[file] = {"title": title, "alt": alt}
        figure.savefig(self.folder / file, dpi=self._dpi, format="png", metadata={"Software": None})


@contextmanager
def gallery(folder: Path, dpi: int) -> Iterator[Gallery]:
    """Yield a gallery that takes the place of `folder` when the block ends well."""
    with replacing(folder) as temporary:
        temporary.mkdir()
        pictures = Gallery(temporary, dpi)
        yield pictures
        write_json(temporary / CAPTIONS_FILE, pictures.captions)
