"""The `vocab` section: which tokens a vocabulary holds."""

from pydantic import Field

from nmt.params import Settings


class VocabSettings(Settings):
    """The `vocab` section of params.yaml."""

    min_freq: int = Field(ge=1, description="least count in the training side")
    max_size: int | None = Field(
        ge=1, description="at most so many tokens beside the special ones; null for no limit"
    )
