"""The `report` section."""

from pydantic import Field

from nmt.params import Settings


class ReportSettings(Settings):
    """What the report shows."""

    baseline: str = Field(description="model of the grid that the others are tested against")
    bootstrap_samples: int = Field(ge=100, description="resamples of the paired bootstrap")
    # sacreBLEU takes a seed of 0 for none at all, and the p-values would change with each run.
    bootstrap_seed: int = Field(ge=1, description="seed of the resamples")
    top_words: int = Field(ge=1, description="most frequent words shown of each side")
    random_pairs: int = Field(ge=0, description="random training pairs shown")
    sample_translations: int = Field(ge=0, description="translations shown of each test set")
    seed: int = Field(ge=0, description="draws the pairs and the translations")
