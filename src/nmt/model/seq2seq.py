"""Encoder, decoder and output layer in one model."""

import torch
from torch import Tensor, nn

from nmt.corpus.symbols import PAD, SOS
from nmt.errors import ModelError
from nmt.model.attention import sequence_mask
from nmt.model.decoder import Decoder, build_decoder
from nmt.model.encoder import Encoder
from nmt.model.output import OutputLayer
from nmt.model.settings import ModelSettings, TransformerSettings
from nmt.model.states import Memory, State, Step
from nmt.model.transformer import TransformerDecoder, TransformerEncoder


class Seq2Seq(nn.Module):
    """A translation model.

    Args:
        settings: an entry of the `models` section.
        source_size: V of the source vocabulary.
        target_size: V of the target vocabulary.

    Raises:
        ModelError: `tie_source` with vocabularies of unlike size.
    """

    def __init__(self, settings: ModelSettings, source_size: int, target_size: int) -> None:
        super().__init__()
        self.settings = settings
        self.encoder: Encoder | TransformerEncoder
        self.decoder: Decoder
        if isinstance(settings, TransformerSettings):
            self.encoder = TransformerEncoder(settings, source_size)
            self.decoder = TransformerDecoder(settings, target_size)
            spread = settings.width**-0.5
        else:
            self.encoder = Encoder(settings, source_size)
            self.decoder = build_decoder(settings, target_size)
            spread = settings.embedding**-0.5 if settings.tie_target else 1.0
        if settings.tie_source:
            if source_size != target_size:
                raise ModelError(
                    f"tie_source needs one vocabulary for both sides, got one of {source_size} "
                    f"tokens and one of {target_size}; choose a joint tokenizer"
                )
            self.encoder.embedding = self.decoder.embedding
        self.output = _output_layer(settings, self.decoder)
        self.attention_rows = self.decoder.attention_rows
        self._start_weights(spread)

    @property
    def parameter_count(self) -> int:
        """How many numbers are learned; tied ones count once."""
        return sum(p.numel() for p in self.parameters())

    def copy_weights(self) -> dict[str, Tensor]:
        """Return a copy of all weights on the CPU; tied ones once, under their first name."""
        return {name: p.detach().cpu().clone() for name, p in self.named_parameters()}

    def encode(self, src: Tensor, lengths: Tensor) -> Memory:
        """Read source sentences: ids (B,S) on the model's device, lengths (B,) on the CPU."""
        states, last = self.encoder(src, lengths)
        mask = sequence_mask(lengths.to(src.device, non_blocking=True), src.shape[1]).unsqueeze(1)
        return Memory(states, mask, self.decoder.project_keys(states), last)

    def start(self, memory: Memory) -> State:
        """Return the decoder's state before the first step."""
        return self.decoder.start(memory)

    def step(self, tokens: Tensor, state: State, memory: Memory) -> Step:
        """Read one token a sentence (B,) and score the next."""
        decoded = self.decoder(tokens.unsqueeze(1), state, memory)
        logits = self.output(decoded.features[:, 0])  # (B,V)
        return Step(logits.float(), decoded.state, decoded.weights[:, :, 0])

    def features(
        self, src: Tensor, lengths: Tensor, inputs: Tensor, forced: list[bool] | None = None
    ) -> Tensor:
        """Return what the output layer reads at each target position.

        Args:
            src: ids (B,S).
            lengths: real tokens of each source sentence (B,), on the CPU.
            inputs: the true inputs (B,T): <sos>, then the target without its last token.
            forced: for each of the T steps whether its input is the true one (teacher forcing)
                or the model's own best at the step before; None: all true, without a loop where
                the decoder allows. The first input is always <sos>.

        Returns:
            features (B,T,D).
        """
        memory = self.encode(src, lengths)
        state = self.start(memory)
        if forced is None or all(forced):
            features: Tensor = self.decoder(inputs, state, memory).features
            return features
        token = inputs[:, 0]
        rows: list[Tensor] = []
        for i, keep in enumerate(forced):
            token = inputs[:, i] if keep or i == 0 else self._best(rows[-1])
            decoded = self.decoder(token.unsqueeze(1), state, memory)
            state = decoded.state
            rows.append(decoded.features)
        return torch.cat(rows, dim=1)

    def sentence_vectors(self, src: Tensor, lengths: Tensor) -> Tensor:
        """Return the encoder's last state of the top layer (B,H) for each source sentence."""
        _, last = self.encoder(src, lengths)
        vectors: Tensor = last[0][-1]
        return vectors

    @torch.no_grad()
    def _best(self, features: Tensor) -> Tensor:
        """Return the model's own best token (B,) after features (B,1,D)."""
        logits: Tensor = self.output(features[:, 0])
        logits[:, [PAD, SOS]] = -torch.inf
        return logits.argmax(-1)

    def _start_weights(self, spread: float) -> None:
        """Matrices by Xavier, recurrent ones orthogonal, embeddings normal, biases zero.

        Embeddings of recurrent models have a spread of 1, as is usual; where the target's serve
        as output weights, both sides have 1/√E instead, so that logits start small. A
        transformer's have 1/√W, and are scaled up where they are read.
        """
        for module in self.modules():
            if isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=spread)
                with torch.no_grad():
                    module.weight[PAD].zero_()
            elif isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.RNNBase):
                for name, weight in module.named_parameters():
                    if name.startswith("weight_hh"):
                        for block in weight.chunk(weight.shape[0] // weight.shape[1]):
                            nn.init.orthogonal_(block)
                    elif name.startswith("weight_ih"):
                        nn.init.xavier_uniform_(weight)
                    else:
                        nn.init.zeros_(weight)


def _output_layer(settings: ModelSettings, decoder: Decoder) -> OutputLayer:
    size, tie = decoder.feature_size, settings.tie_target
    if isinstance(settings, TransformerSettings):
        # Its features have the embedding's width, and went through dropout in each layer.
        return OutputLayer(size, None, decoder.embedding, tie, dropout=0.0)
    mapped = settings.hidden if size > settings.hidden else None
    return OutputLayer(
        size, settings.embedding if tie else mapped, decoder.embedding, tie, settings.dropout
    )
