"""One entry of the `tokenizers` section: of one kind or another, told by its key `kind`.

What `splitting` says is read where text is split, what `encoding` says where tokens become ids.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from nmt.params import Settings

PipelineName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")]

_KIND = "kind of tokenizer, which decides what other keys the entry has"
_LOWERCASE = "whether tokens are lower-cased"
_NORMALIZE_SPACES = "whether runs of white space become one space before the text is split"


class SpacySplitting(Settings):
    """Which spaCy rules split text into words, and what is done to it."""

    spacy_source: PipelineName = Field(description="installed spaCy pipeline, or blank")
    spacy_target: PipelineName = Field(description="installed spaCy pipeline, or blank")
    lowercase: bool = Field(description=_LOWERCASE)
    normalize_spaces: bool = Field(description=_NORMALIZE_SPACES)


class WordEncoding(Settings):
    """Which words a vocabulary holds."""

    min_freq: int = Field(ge=1, description="least count in the training side")
    max_size: int | None = Field(
        ge=1, description="at most so many tokens beside the special ones; null for no limit"
    )


class SpacySettings(Settings):
    """Whole words, by the rules of spaCy."""

    kind: Literal["spacy"] = Field(description=_KIND)
    splitting: SpacySplitting
    encoding: WordEncoding


class PieceSplitting(Settings):
    """Which pieces are learned, and what is done to the text before."""

    algorithm: Literal["bpe", "unigram"] = Field(
        description="byte-pair encoding or a unigram language model"
    )
    pieces: int = Field(ge=1, description="how many, of each language or of both together")
    joint: bool = Field(description="whether both languages have the same pieces")
    lowercase: bool = Field(description=_LOWERCASE)
    normalize_spaces: bool = Field(description=_NORMALIZE_SPACES)


class PieceEncoding(Settings):
    """How training splits words in other ways than the best."""

    dropout: float = Field(
        ge=0,
        description="0 for none; bpe: share of merges left out; unigram: temperature of the draw",
    )


class SentencepieceSettings(Settings):
    """Pieces of words, learned by sentencepiece."""

    kind: Literal["sentencepiece"] = Field(description=_KIND)
    splitting: PieceSplitting
    encoding: PieceEncoding

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.splitting.algorithm == "bpe" and self.encoding.dropout >= 1:
            raise ValueError(f"bpe needs a dropout below 1, got {self.encoding.dropout}")
        return self


TokenizerSettings = Annotated[SpacySettings | SentencepieceSettings, Field(discriminator="kind")]
"""What an entry may be; `Params.section` checks one as it does a class."""
