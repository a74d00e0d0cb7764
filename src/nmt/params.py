"""params.yaml: read once, checked by strict models, no default anywhere.

This module knows no section. Each package describes its own in `settings.py`, so a new key for
the plots makes no model stale.
"""

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from nmt.errors import ParamsError


class Settings(BaseModel):
    """Base of every section: frozen, unknown keys forbidden, no conversion between types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


S = TypeVar("S", bound=Settings)


class Params:
    """The content of one params file, from which a stage takes its own sections."""

    def __init__(self, values: dict[str, Any], path: Path) -> None:
        self.path = path
        self._values = values

    @classmethod
    def read(cls, path: Path) -> "Params":
        """Read a YAML 1.2 file, as DVC does (so 3e-3 is a number and a repeated key an error)."""
        try:
            values = YAML(typ="safe", pure=True).load(path)
        except FileNotFoundError:
            raise ParamsError(f"{path}: no such file; run from the project's folder") from None
        except (YAMLError, UnicodeDecodeError) as error:
            raise ParamsError(f"{path}: not readable as YAML: {error}") from None
        if not isinstance(values, dict):
            raise ParamsError(f"{path}: expected a mapping of sections, got {values!r}")
        return cls(values, path)

    def names(self, key: str = "") -> list[str]:
        """Return the keys below a dotted key ("" for the sections), in file order."""
        value = self.value(key) if key else self._values
        if not isinstance(value, dict):
            raise ParamsError(f"{self.path}: {key}: expected a mapping, got {value!r}")
        return [str(name) for name in value]

    def section(self, key: str, kind: type[S]) -> S:
        """Return the section at a dotted key (such as "models.additive") as a checked model.

        Raises:
            ParamsError: naming each dotted key at fault, its value and what is allowed.
        """
        value = self.value(key)
        try:
            # Through JSON: there a list may fill a tuple and a string an enum, strictly.
            return kind.model_validate_json(json.dumps(value))
        except ValidationError as error:
            raise ParamsError(f"{self.path}: " + _explain(key, error)) from None

    def value(self, key: str) -> Any:
        """Return what stands at a dotted key, plain and unchecked."""
        value: Any = self._values
        done: list[str] = []
        for part in key.split("."):
            if not isinstance(value, dict) or part not in value:
                allowed = ", ".join(map(str, value)) if isinstance(value, dict) else "nothing"
                where = ".".join(done) or "the file"
                raise ParamsError(f"{self.path}: {key} is missing; {where} has: {allowed}")
            value = value[part]
            done.append(part)
        return value


def _explain(key: str, error: ValidationError) -> str:
    problems = []
    for item in error.errors(include_url=False):
        dotted = ".".join([key, *map(str, item["loc"])])
        if item["type"] == "extra_forbidden":
            problems.append(f"{dotted}: unknown key; remove it or correct its name")
        elif item["type"] == "missing":
            problems.append(f"{dotted}: missing; add it (there are no hidden defaults)")
        else:
            problems.append(f"{dotted}: got {item['input']!r}; {item['msg']}")
    return "; ".join(problems)
