"""The `grid` section: what tables and pictures cover."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from nmt.ensembles import Seed
from nmt.params import Settings


class GridSettings(Settings):
    """Which models, which seeds of each, and which of them translate with all seeds at once too."""

    models: tuple[str, ...] = Field(min_length=1, description="names of entries of `models`")
    seeds: tuple[Annotated[int, Field(ge=0)], ...] = Field(
        min_length=1, description="seeds of each model's trainings"
    )
    ensembles: tuple[str, ...] = Field(
        description="those of the models whose seeds also translate together; [] for none"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        sections = (("models", self.models), ("seeds", self.seeds), ("ensembles", self.ensembles))
        for name, values in sections:
            if len(set(values)) != len(values):
                raise ValueError(f"{name}: {list(values)} holds one twice; name each once")
        for model in self.ensembles:
            if model not in self.models:
                raise ValueError(
                    f"ensembles: {model!r} is not in models ({', '.join(self.models)}); "
                    "name one of them"
                )
        if self.ensembles and len(self.seeds) < 2:
            raise ValueError(
                f"ensembles: an ensemble is of two seeds at least, and seeds has "
                f"{list(self.seeds)} alone; add a seed, or leave ensembles empty"
            )
        return self

    def results(self) -> list[tuple[str, Seed]]:
        """Return model and seed of each result, models first, then ensembles."""
        alone = [(model, seed) for model in self.models for seed in self.seeds]
        return [*alone, *((model, self.seeds) for model in self.ensembles)]
