"""What each key of params.yaml allows, told from the settings classes themselves."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypeForm

from nmt.params import Settings

_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minItems": "at least {} of them",
    "maxItems": "at most {} of them",
    "minLength": "at least {} characters",
    "pattern": "like {}",
}
_TYPES = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
    "null": "null",
}


@dataclass(frozen=True)
class Key:
    """One key of params.yaml.

    Args:
        name: dotted; NAME stands for a name of the user's choice.
        allowed: in words.
        meaning: the field's description.
    """

    name: str
    allowed: str
    meaning: str


def keys(prefix: str, kind: TypeForm[Settings]) -> Iterator[Key]:
    """Yield the keys of a section, in the order of its class.

    Args:
        prefix: dotted key of the section.
        kind: the class that checks it, or a choice of classes that a key of the section decides.
    """
    schema = TypeAdapter(kind).json_schema()
    yield from _below(prefix, schema, schema.get("$defs", {}), "")


def _below(name: str, schema: dict[str, Any], named: dict[str, Any], meaning: str) -> Iterator[Key]:
    """Yield what a part of a JSON schema says, going down into mappings."""
    meaning = schema.get("description", meaning) if "properties" not in schema else meaning
    schema = _resolved(schema, named)
    if "properties" in schema:
        for key, inner in schema["properties"].items():
            yield from _below(f"{name}.{key}", inner, named, "")
    elif "discriminator" in schema:
        yield from _choice(name, schema, named)
    elif isinstance(schema.get("additionalProperties"), dict):
        yield from _below(f"{name}.NAME", schema["additionalProperties"], named, meaning)
    else:
        yield Key(name, _allowed(schema, named), meaning)


def _choice(name: str, schema: dict[str, Any], named: dict[str, Any]) -> Iterator[Key]:
    """Yield the keys of mappings of several kinds: each once, with the kinds that have it."""
    decides = schema["discriminator"]["propertyName"]
    kinds = {ref: kind for kind, ref in schema["discriminator"]["mapping"].items()}
    found: dict[Key, list[str]] = {}
    for part in schema["oneOf"]:
        for key in _below(name, part, named, ""):
            if key.name == f"{name}.{decides}":
                key = replace(key, allowed=_or([kinds[each["$ref"]] for each in schema["oneOf"]]))
            found.setdefault(key, []).append(kinds[part["$ref"]])
    for key, having in found.items():
        only = f" ({decides} {_or(having)})" if len(having) < len(kinds) else ""
        yield replace(key, meaning=key.meaning + only)


def _resolved(schema: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        inner: dict[str, Any] = named[schema["$ref"].rpartition("/")[2]]
        return inner
    return schema


def _allowed(schema: dict[str, Any], named: dict[str, Any]) -> str:
    """Return in words which values a schema of one value or list allows."""
    schema = _resolved(schema, named)
    if "anyOf" in schema:
        return ", or ".join(_allowed(each, named) for each in schema["anyOf"])
    if "enum" in schema or "const" in schema:
        return _or([str(value) for value in schema.get("enum", [schema.get("const")])])
    kind = _TYPES.get(schema.get("type", ""), "any value")
    if schema.get("type") == "array":
        kind = f"list of: {_allowed(schema.get('items', {}), named)}"
    bounds = [words.format(schema[key]) for key, words in _BOUNDS.items() if key in schema]
    return ", ".join([kind, *bounds])


def _or(values: list[str]) -> str:
    return " or ".join(filter(None, [", ".join(values[:-1]), values[-1]]))
