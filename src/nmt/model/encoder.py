"""The recurrent encoder: a sentence becomes one state a token, and a last state a layer."""

from torch import Tensor, nn

from nmt.corpus.symbols import PAD
from nmt.model.dropout import Dropout
from nmt.model.recurrent import Layers, Recurrent
from nmt.model.settings import RecurrentSettings


class Encoder(nn.Module):
    """Embedding, then L recurrent layers, in one direction or both.

    Args:
        settings: sizes and cell.
        vocabulary_size: V of the source.
    """

    def __init__(self, settings: RecurrentSettings, vocabulary_size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, settings.embedding, padding_idx=PAD)
        self.dropout = Dropout(settings.dropout)
        self.layers = Recurrent(
            settings.cell,
            settings.embedding,
            settings.hidden,
            settings.encoder_layers,
            settings.dropout,
            settings.bidirectional,
        )

    def forward(self, src: Tensor, lengths: Tensor) -> tuple[Tensor, Layers]:
        """Read source sentences; padding has no influence.

        Args:
            src: ids (B,S).
            lengths: real tokens of each sentence (B,), on the CPU, at least 1.

        Returns:
            the top layer's states (B,S,H), 0 on padding, and the last state of each layer:
            (L,B,H), in a pair with the cells for an LSTM.
        """
        return self.layers.run_packed(self.dropout(self.embedding(src)), lengths)
