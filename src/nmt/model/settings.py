"""One entry of the `models` section: of one kind or another, told by its key `kind`.

Its key `training` is no part of the model: nmt.training.settings reads it.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from nmt.params import Params, Settings

_KIND = "kind of model, which decides what other keys the entry has"
_ENCODER_LAYERS = "layers of the encoder"
_DECODER_LAYERS = "layers of the decoder"
_DROPOUT = "share of values zeroed"
_ATTENTION_DROPOUT = "share of attention weights zeroed"
_TIE_TARGET = "whether the output layer is the target embedding"
_TIE_SOURCE = "whether the source embedding is the target's too; needs a joint vocabulary"
_TOKENIZER = "name of the entry of `tokenizers` that makes its tokens"


class RecurrentSettings(Settings):
    """A recurrent encoder-decoder, with or without attention."""

    kind: Literal["recurrent"] = Field(description=_KIND)
    tokenizer: str = Field(description=_TOKENIZER)
    cell: Literal["gru", "lstm", "rnn"] = Field(description="recurrent cell; rnn is tanh")
    attention: Literal["none", "additive", "scaled_dot", "dot"] = Field(
        description="how queries and keys are compared; dot is without the root"
    )
    alignment: Literal["soft", "hard"] = Field(
        description="whether the context is the average of all states or a single one"
    )
    context: Literal["none", "fed_back", "between_layers"] = Field(
        description="where the context goes in the decoder"
    )
    embedding: int = Field(ge=1, description="width of the embeddings")
    hidden: int = Field(ge=1, description="width of the recurrent states")
    encoder_layers: int = Field(ge=1, description=_ENCODER_LAYERS)
    decoder_layers: int = Field(ge=1, description=_DECODER_LAYERS)
    bidirectional: bool = Field(description="whether the encoder reads both ways, half width each")
    dropout: float = Field(ge=0, lt=1, description=_DROPOUT)
    attention_dropout: float = Field(ge=0, lt=1, description=_ATTENTION_DROPOUT)
    tie_target: bool = Field(description=_TIE_TARGET)
    tie_source: bool = Field(description=_TIE_SOURCE)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.attention == "none") != (self.context == "none"):
            raise ValueError(
                f"attention {self.attention} does not go with context {self.context}: "
                "both are none, or neither"
            )
        if self.attention == "none" and self.alignment == "hard":
            raise ValueError("alignment hard does not go with attention none: choose soft")
        if self.context == "between_layers" and self.decoder_layers < 2:
            raise ValueError("context between_layers needs decoder_layers of 2 or more")
        if self.bidirectional and self.hidden % 2:
            raise ValueError(f"bidirectional needs an even hidden width, got {self.hidden}")
        return self


class TransformerSettings(Settings):
    """An encoder-decoder of self-attention."""

    kind: Literal["transformer"] = Field(description=_KIND)
    tokenizer: str = Field(description=_TOKENIZER)
    width: int = Field(ge=1, description="width of embeddings and states")
    feed_forward: int = Field(ge=1, description="width inside the feed-forward layers")
    heads: int = Field(ge=1, description="attention heads of a layer, which share the width")
    encoder_layers: int = Field(ge=1, description=_ENCODER_LAYERS)
    decoder_layers: int = Field(ge=1, description=_DECODER_LAYERS)
    dropout: float = Field(ge=0, lt=1, description=_DROPOUT)
    attention_dropout: float = Field(ge=0, lt=1, description=_ATTENTION_DROPOUT)
    tie_target: bool = Field(description=_TIE_TARGET)
    tie_source: bool = Field(description=_TIE_SOURCE)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.width % self.heads:
            raise ValueError(
                f"width must be a multiple of heads, got {self.width} and {self.heads}"
            )
        return self


ModelSettings = Annotated[RecurrentSettings | TransformerSettings, Field(discriminator="kind")]
"""What an entry may be; `Params.section` checks one as it does a class."""


def read_model(params: Params, name: str) -> ModelSettings:
    """Return what the entry of a model says of the model itself."""
    return params.section(f"models.{name}", ModelSettings, apart=("training",))
