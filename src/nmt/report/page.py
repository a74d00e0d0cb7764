"""The two documents: bleu.md, and the page that needs nothing but itself."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from nmt.evaluation.scores import flatten
from nmt.report.facts import sentence
from nmt.report.trainings import Trainings

Settings = tuple[tuple[str, object], ...]

_ABSENT = "\N{EN DASH}"
"""Shown for a key that a model's entry does not have."""

_TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, values: Mapping[str, Any]) -> str:
    """Fill a template of this package; a name that it asks for and is not given is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        # Macros come with the page; in Markdown there is nothing to escape.
        autoescape=lambda name: name is not None and not name.endswith(".md.j2"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(sentence=sentence, setting=show_setting, signed=signed)
    return environment.get_template(template).render(values)


def show_setting(value: object) -> str:
    """Write a value of params.yaml as people do."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def signed(value: float) -> str:
    """Write a difference with its sign (a true minus), two digits."""
    return f"{value:+.2f}".replace("-", "\N{MINUS SIGN}")


def settings_by_model(
    models: Mapping[str, Mapping[str, Any]], trainings: Trainings
) -> list[tuple[str, tuple[object, ...]]]:
    """Turn the settings of each model into rows of key and one value a model.

    Models of unlike kinds have unlike keys; a dash stands where a model does not have one. Last
    come the training settings in which the models differ.
    """
    flat: dict[str, dict[str, object]] = {}
    for name, values in models.items():
        model = {key: value for key, value in values.items() if key != "training"}
        flat[name] = {key.removeprefix(f"{name}."): v for key, v in flatten({name: model})}
    keys = dict.fromkeys(key for values in flat.values() for key in values)
    return [(key, tuple(values.get(key, _ABSENT) for values in flat.values())) for key in keys] + [
        (f"training.{key}", tuple(own.get(key, _ABSENT) for own in trainings.own.values()))
        for key in trainings.differing
    ]


def settings_by_section(
    given: Mapping[str, Mapping[str, Any]], recorded: Sequence[tuple[str, object]]
) -> dict[str, Settings]:
    """Join sections of params.yaml with those that the score files were made with.

    Args:
        given: sections of params.yaml.
        recorded: dotted keys and values of the score files; the first part is the section.
    """
    sections: dict[str, Settings] = {}
    for dotted, value in (*flatten(given), *recorded):
        section, _, key = dotted.partition(".")
        sections[section] = (*sections.get(section, ()), (key, value))
    return sections
