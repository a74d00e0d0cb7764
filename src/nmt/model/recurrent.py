"""Recurrent layers of any cell behind one interface."""

from typing import Literal

from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

Cell = Literal["gru", "lstm", "rnn"]
_CELLS: dict[str, type[nn.GRU] | type[nn.LSTM] | type[nn.RNN]] = {
    "gru": nn.GRU,
    "lstm": nn.LSTM,
    "rnn": nn.RNN,
}

Layers = tuple[Tensor, ...]
"""State of a stack: (hidden,), or (hidden, cell) for an LSTM; each (L,B,H)."""


class Recurrent(nn.Module):
    """A stack of L recurrent layers, with dropout between them.

    Args:
        cell: gru, lstm or rnn (tanh).
        input_size: width of the input.
        hidden: H, width of the output, both directions together.
        layers: L.
        dropout: share of values zeroed between layers in training.
        bidirectional: whether half of the width reads backwards.
    """

    def __init__(
        self,
        cell: Cell,
        input_size: int,
        hidden: int,
        layers: int,
        dropout: float,
        bidirectional: bool = False,
    ) -> None:
        super().__init__()
        self.is_lstm = cell == "lstm"
        self.bidirectional = bidirectional
        self.stack = _CELLS[cell](
            input_size,
            hidden // 2 if bidirectional else hidden,
            layers,
            batch_first=True,
            dropout=dropout if layers > 1 else 0.0,
            bidirectional=bidirectional,
        )

    def forward(self, inputs: Tensor, state: Layers) -> tuple[Tensor, Layers]:
        """Run over inputs (B,T,I) from a state; return outputs (B,T,H) and the last state."""
        outputs, last = self.stack(inputs, state if self.is_lstm else state[0])
        return outputs, last if self.is_lstm else (last,)

    def run_packed(self, inputs: Tensor, lengths: Tensor) -> tuple[Tensor, Layers]:
        """Run over inputs (B,S,I) of given lengths (B,) on the CPU, from a zero state.

        Padding has no influence: packed, it is never read. Returns outputs (B,S,H), 0 on
        padding, and the last real state of each layer, both directions side by side: (L,B,H).
        """
        packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
        packed_outputs, last = self.stack(packed)
        outputs, _ = pad_packed_sequence(
            packed_outputs, batch_first=True, total_length=inputs.shape[1]
        )
        parts = last if self.is_lstm else (last,)
        return outputs, tuple(self._join_directions(part) for part in parts)

    def _join_directions(self, last: Tensor) -> Tensor:
        """Make (L·2,B,H/2) into (L,B,H)."""
        if not self.bidirectional:
            return last
        layers, batch, half = last.shape
        return last.view(layers // 2, 2, batch, half).transpose(1, 2).flatten(2)
