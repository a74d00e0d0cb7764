"""The `decoding` section."""

from pydantic import Field

from nmt.params import Settings


class DecodingSettings(Settings):
    """How translations are searched."""

    beam: int = Field(ge=1, description="hypotheses kept at each step; 1 is greedy search")
    length_penalty: float = Field(
        ge=0, description="rank is log-probability over length (<eos> counted) to this power"
    )
    max_length_ratio: float = Field(ge=0, description="most tokens a source token, plus extra")
    max_length_extra: int = Field(ge=0, description="tokens allowed beyond ratio times the source")
    replace_unknown: bool = Field(
        description="whether <unk> becomes the source word with the most attention"
    )
    batch_size: int = Field(ge=1, description="sentences searched at once; no influence on results")
