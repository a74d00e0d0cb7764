"""How the models were trained: what is alike for all of them, and what is not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nmt.evaluation.scores import flatten
from nmt.params import override


@dataclass(frozen=True)
class Trainings:
    """The training settings of the grid's models, by dotted key below `training`.

    Args:
        alike: what all models have.
        own: for each model, the settings that are not the same for all.
    """

    alike: Mapping[str, object]
    own: Mapping[str, Mapping[str, object]]

    @property
    def differing(self) -> tuple[str, ...]:
        """The keys in which models differ."""
        return tuple(dict.fromkeys(key for values in self.own.values() for key in values))


def compare_trainings(
    models: Mapping[str, Mapping[str, Any]], training: Mapping[str, Any]
) -> Trainings:
    """Work out what each model was trained with, and set it side by side.

    Args:
        models: the entry of each model, whose key `training` holds what differs from the section.
        training: the `training` section.
    """
    found = {
        name: {
            key.removeprefix("training."): value
            for key, value in flatten({"training": override(training, entry["training"])})
        }
        for name, entry in models.items()
    }
    first = next(iter(found.values()))
    alike = dict(
        pair for pair in first.items() if all(pair in each.items() for each in found.values())
    )
    own = {
        name: {key: value for key, value in values.items() if key not in alike}
        for name, values in found.items()
    }
    return Trainings(alike, own)
