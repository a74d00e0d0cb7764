"""Pages written by hand, with parts between two marks that a command keeps."""

from pathlib import Path

from nmt.errors import DataError


def marks(name: str) -> tuple[str, str]:
    """Return the lines between which a part stands."""
    return f"<!-- {name} -->", f"<!-- end of {name} -->"


def filled(text: str, name: str, content: str, page: Path) -> str:
    """Return a page with another content between its marks.

    Args:
        text: of the page.
        name: of the part.
        content: what shall stand there.
        page: to name it in an error.

    Raises:
        DataError: the page lacks a mark.
    """
    first, last = marks(name)
    before, begin, rest = text.partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end:
        raise DataError(f"{page}: the line {first} or {last} is missing; put both back")
    return f"{before}{first}\n\n{content}\n\n{last}{after}"
