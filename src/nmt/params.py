"""params.yaml: read once, checked by strict models, no default anywhere.

This module knows no section. Each package describes its own in `settings.py`, so a new key for
the plots makes no model stale.
"""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from typing_extensions import TypeForm

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

    def section(self, key: str, kind: TypeForm[S], apart: Collection[str] = ()) -> S:
        """Return the section at a dotted key (such as "models.additive") as a checked model.

        Args:
            key: where the section stands.
            kind: a class, or a choice of classes that one of the section's keys decides.
            apart: keys that stand there and are no part of the class; they are read by themselves.

        Raises:
            ParamsError: naming each dotted key at fault, its value and what is allowed.
        """
        value = self.value(key)
        if apart and isinstance(value, dict):
            value = {name: inner for name, inner in value.items() if name not in apart}
        return self._checked(key, value, kind)

    def overridden(self, key: str, by: str, kind: TypeForm[S]) -> S:
        """Return the section at a dotted key, with what stands at another in place of its own.

        Args:
            key: where the section stands, complete.
            by: where a mapping stands with any of the section's keys, nested ones too.
            kind: as of `section`.

        Raises:
            ParamsError: as of `section`; what is wrong in the mapping is named by its place there.
        """
        self.section(key, kind)  # so that what is wrong in the whole comes from the mapping
        changes = self.value(by)
        if not isinstance(changes, dict):
            raise ParamsError(
                f"{self.path}: {by}: got {changes!r}; give a mapping with keys of {key}, "
                "{} to change none"
            )
        return self._checked(by, override(self.value(key), changes), kind)

    def _checked(self, key: str, value: Any, kind: TypeForm[S]) -> S:
        try:
            # Through JSON: there a list may fill a tuple and a string an enum, strictly.
            return TypeAdapter(kind).validate_json(json.dumps(value))
        except ValidationError as error:
            chosen = not isinstance(kind, type)
            raise ParamsError(f"{self.path}: " + _explain(key, error, chosen)) from None

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


def override(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with others in place of those at the same keys, in nested mappings too."""
    changed = {
        key: override(values[key], value)
        if isinstance(value, dict) and isinstance(values.get(key), dict)
        else value
        for key, value in changes.items()
    }
    return {**values, **changed}


def _explain(key: str, error: ValidationError, chosen: bool) -> str:
    """Say what is wrong below a key, where the class was chosen by a key of the section or not."""
    problems = []
    for item in error.errors(include_url=False):
        # The first place in a choice is the class, which is no key of the file.
        dotted = ".".join([key, *map(str, item["loc"][1 if chosen else 0 :])])
        about = item.get("ctx", {})
        if "discriminator" in about:
            dotted += "." + about["discriminator"].strip("'")
        if item["type"] == "extra_forbidden":
            problems.append(f"{dotted}: unknown key; remove it or correct its name")
        elif item["type"] in ("missing", "union_tag_not_found"):
            problems.append(f"{dotted}: missing; add it (there are no hidden defaults)")
        elif item["type"] == "union_tag_invalid":
            allowed = about["expected_tags"]
            problems.append(f"{dotted}: got {about['tag']!r}; name one of: {allowed}")
        else:
            problems.append(f"{dotted}: got {item['input']!r}; {item['msg']}")
    return "; ".join(problems)
