"""The `tokenizer` section: which spaCy rules split text, and what is done to it."""

from typing import Annotated

from pydantic import Field

from nmt.params import Settings

PipelineName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")]


class TokenizerSettings(Settings):
    """The `tokenizer` section of params.yaml."""

    spacy_source: PipelineName = Field(description="installed spaCy pipeline, or blank")
    spacy_target: PipelineName = Field(description="installed spaCy pipeline, or blank")
    lowercase: bool = Field(description="whether tokens are lower-cased")
    normalize_spaces: bool = Field(
        description="whether runs of white space become one space before the text is split"
    )
