"""What a stage reads, noted at its start and compared at its end."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.errors import NmtError
from nmt.params import Params
from nmt.provenance.code import code_digests
from nmt.provenance.hashes import dvc_hash, file_md5s
from nmt.run.declared import Declared
from nmt.run.stage import Stage


class ChangedError(NmtError):
    """What a stage reads was changed while it ran."""


@dataclass(frozen=True)
class Inputs:
    """A stage's code, params and data at one moment.

    Args:
        code: SHA-256 of each file of its code.
        params: the values it reads, by dotted key.
        data: for each declared dep, the MD5 of each file in it.
    """

    code: dict[str, str]
    params: dict[str, Any]
    data: dict[str, dict[str, str]]

    @classmethod
    def now(cls, root: Path, stage: Stage, declared: Declared, code: dict[str, str]) -> "Inputs":
        """Return them as they are; `code` is taken apart, for it is noted before it is loaded."""
        params = read_params(declared, stage.params)
        return cls(code, params, {path: file_md5s(root, path) for path in declared.deps})

    @property
    def deps(self) -> dict[str, str]:
        """The hash of each dep as in dvc.lock; "missing" for what isn't there."""
        return {path: dvc_hash(path, md5s) or "missing" for path, md5s in self.data.items()}


def require_unchanged(root: Path, stage: Stage, declared: Declared, start: Inputs) -> None:
    """Compare a stage's inputs with those at its start.

    Raises:
        ChangedError: naming what was edited, added or removed; the result belongs to neither
            version.
    """
    try:
        now = Inputs.now(root, stage, declared, code_digests(root, stage.name))
    except NmtError as error:  # for instance, params.yaml is half-edited
        raise _changed(stage, [str(error)]) from None
    names = set(_differing(start.code, now.code))
    names.update(f"{stage.params}: {key}" for key in _differing(start.params, now.params))
    for path, md5s in start.data.items():
        if not path.startswith(("src/", "pipeline/")):  # compared as code, editors' files left out
            names.update(_differing(md5s, now.data[path]))
    if names:
        raise _changed(stage, sorted(names))


def read_params(declared: Declared, path: Path) -> dict[str, Any]:
    """Return the values that a stage reads, by dotted key."""
    params = Params.read(path)
    keys = params.names() if declared.params is None else declared.params
    found: dict[str, Any] = {}
    for key in keys:
        found.update(flatten(key, params.value(key)))
    return found


def flatten(key: str, value: Any) -> dict[str, Any]:
    """Return the leaves of nested mappings by dotted key; a list is a leaf."""
    if not isinstance(value, dict) or not value:
        return {key: value}
    found: dict[str, Any] = {}
    for name, inner in value.items():
        found.update(flatten(f"{key}.{name}" if key else str(name), inner))
    return found


def text(value: Any) -> str:
    """Return a value of params.yaml as one line of text, alike for equal values."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _differing(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    return [name for name in old.keys() | new.keys() if old.get(name) != new.get(name)]


def _changed(stage: Stage, names: list[str]) -> ChangedError:
    return ChangedError(
        f"{stage.address}: changed while the stage ran: {', '.join(names)}; "
        "the result belongs to neither version and is not accepted: run the stage again"
    )


def within(path: str, place: str) -> bool:
    """Tell whether a path, relative as in dvc.lock, is a place or lies in it."""
    return path == place or path.startswith(f"{place}/")
