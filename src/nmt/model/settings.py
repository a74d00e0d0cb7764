"""One entry of the `models` section."""

from typing import Literal, Self

from pydantic import Field, model_validator

from nmt.params import Settings


class ModelSettings(Settings):
    """A recurrent encoder-decoder, with or without attention."""

    cell: Literal["gru", "lstm", "rnn"] = Field(description="recurrent cell; rnn is tanh")
    attention: Literal["none", "additive", "scaled_dot", "dot"] = Field(
        description="how queries and keys are compared; dot is without the root"
    )
    context: Literal["none", "fed_back", "between_layers"] = Field(
        description="where the context goes in the decoder"
    )
    embedding: int = Field(ge=1, description="width of the embeddings")
    hidden: int = Field(ge=1, description="width of the recurrent states")
    encoder_layers: int = Field(ge=1, description="recurrent layers of the encoder")
    decoder_layers: int = Field(ge=1, description="recurrent layers of the decoder")
    bidirectional: bool = Field(description="whether the encoder reads both ways, half width each")
    dropout: float = Field(ge=0, lt=1, description="share of values zeroed")
    attention_dropout: float = Field(ge=0, lt=1, description="share of weights zeroed")
    tie_target: bool = Field(description="whether the output layer is the target embedding")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.attention == "none") != (self.context == "none"):
            raise ValueError(
                f"attention {self.attention} does not go with context {self.context}: "
                "both are none, or neither"
            )
        if self.context == "between_layers" and self.decoder_layers < 2:
            raise ValueError("context between_layers needs decoder_layers of 2 or more")
        if self.bidirectional and self.hidden % 2:
            raise ValueError(f"bidirectional needs an even hidden width, got {self.hidden}")
        return self
