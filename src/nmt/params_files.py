"""Params files: whole ones, and short ones that name another as their base and change some keys.

A stage reads params.yaml alone, which is always whole; `nmt use-params` puts it in place.
"""

import hashlib
import re
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter

from nmt.errors import ParamsError
from nmt.files import read_text
from nmt.params import Params, override

BASE = "base"
"""Key of a short file: the file beside it whose values it changes. Its other keys are sections."""

_MADE = "# Made of {}: change that file, not this one (SHA-256 of the rest: {})."
_WIDTH = 100  # of a line
_DIGITS = 12  # of the hash in the first line


def read_params(path: Path) -> Params:
    """Read a params file, whole or short.

    Raises:
        ParamsError: it, or a file that it builds on, is not to be read or in no order.
    """
    values: dict[str, Any] = {}
    for file in reversed(chain(path)):
        values = override(values, _sections(file))
    return Params(values, path)


def chain(path: Path) -> list[Path]:
    """Return a params file and those that it builds on, the whole one last."""
    if path.is_dir():
        raise ParamsError(f"{path}: is a folder; name a params file")
    files = [path]
    while BASE in (found := Params.read(files[-1])).names():
        name = found.value(BASE)
        if not isinstance(name, str):
            raise ParamsError(f"{files[-1]}: {BASE}: got {name!r}; name a params file beside it")
        base = files[-1].parent / name
        if any(base.resolve() == file.resolve() for file in files):
            raise ParamsError(f"{files[-1]}: {BASE}: {name} builds on this file; break the circle")
        if not base.is_file():
            raise ParamsError(f"{files[-1]}: {BASE}: {base} is no file; name one beside this file")
        files.append(base)
    return files


def whole_text(path: Path, name: str) -> str:
    """Return the text of a params file; of a short one that of its base with its changes.

    Comments stay. The first line of a text that was made here says what it was made of.

    Args:
        path: of the file.
        name: what that line calls it.
    """
    *short, base = chain(path)
    text = read_text(base)
    if not short:
        return text
    yaml = YAML()
    yaml.width, yaml.preserve_quotes = _WIDTH, True
    yaml.representer.add_representer(type(None), _null)
    values = yaml.load(text)
    for file in reversed(short):
        _change(values, _sections(file))
    stream = StringIO()
    yaml.dump(values, stream)
    made = stream.getvalue()
    return f"{_MADE.format(name, _digest(made))}\n{made}"


def made_of(text: str) -> str | None:
    """Return the name of the short file that a text was made of, if it is unchanged since."""
    first, _, made = text.partition("\n")
    found = re.fullmatch(re.escape(_MADE).replace(r"\{\}", "(.+)"), first)
    return found[1] if found and found[2] == _digest(made) else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _sections(file: Path) -> dict[str, Any]:
    """Return what a file says itself, without its base."""
    found = Params.read(file)
    return {name: found.value(name) for name in found.names() if name != BASE}


def _null(representer: RoundTripRepresenter, _: None) -> ScalarNode:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")


def _change(values: Any, changes: dict[str, Any]) -> None:
    """Put values at the same keys in place of those of a document, in nested mappings too."""
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(values.get(key), dict):
            _change(values[key], value)
        else:
            values[key] = value
