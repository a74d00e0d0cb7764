"""The `plots` section."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from nmt.corpus.settings import SplitName
from nmt.params import Settings


class PlotSettings(Settings):
    """What is drawn."""

    attention_test: SplitName = Field(description="test set that attention is drawn for")
    attention_sentences: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        min_length=1, description="its sentences that are drawn, counted from 1"
    )
    states_test: SplitName = Field(description="test set whose encoder states are projected")
    states_sentences: int = Field(ge=3, description="how many of its first sentences")
    # More labels than this do not fit beside the points.
    states_labelled: int = Field(ge=0, le=24, description="how many are labelled with their text")
    seed: int = Field(ge=0, description="seed whose models are drawn; also draws random pairs")
    dpi: int = Field(ge=50, le=600, description="pixels an inch")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(set(self.attention_sentences)) != len(self.attention_sentences):
            raise ValueError(
                f"attention_sentences: {list(self.attention_sentences)} holds one twice; "
                "name each once"
            )
        if self.states_labelled > self.states_sentences:
            raise ValueError(
                f"states_labelled must not exceed states_sentences, "
                f"got {self.states_labelled} and {self.states_sentences}"
            )
        return self
