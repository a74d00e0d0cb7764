"""The `grid` section: what tables and pictures cover."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from nmt.params import Settings


class GridSettings(Settings):
    """Which models, and which seeds of each."""

    models: tuple[str, ...] = Field(min_length=1, description="names of entries of `models`")
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(
        min_length=1, description="seeds of each model's trainings"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name, values in (("models", self.models), ("seeds", self.seeds)):
            if len(set(values)) != len(values):
                raise ValueError(f"{name}: {list(values)} holds one twice; name each once")
        return self
