"""From the encoder's last states to the decoder's first ones."""

import torch
from torch import Tensor, nn

from nmt.model.recurrent import Layers
from nmt.model.settings import RecurrentSettings


class Bridge(nn.Module):
    """Hand over the last states as they are where the shapes agree, else through a layer each.

    A decoder layer takes the encoder layer of its own number, or the top one where the encoder
    has fewer. Where encoder and decoder differ in layers or directions, the state passes a linear
    layer and tanh (Bahdanau et al. 2015, appendix A.2.2).
    """

    def __init__(self, settings: RecurrentSettings) -> None:
        super().__init__()
        self.encoder_layers = settings.encoder_layers
        self.decoder_layers = settings.decoder_layers
        same = settings.encoder_layers == settings.decoder_layers and not settings.bidirectional
        parts = 0 if same else (2 if settings.cell == "lstm" else 1)
        self.maps = nn.ModuleList(
            nn.ModuleList(
                nn.Linear(settings.hidden, settings.hidden) for _ in range(settings.decoder_layers)
            )
            for _ in range(parts)
        )

    def forward(self, last: Layers) -> Layers:
        """Return the decoder's first state: each part (L,B,H)."""
        if not self.maps:
            return last
        return tuple(
            torch.stack([self._layer(part, maps, i) for i in range(self.decoder_layers)])
            for part, maps in zip(last, self.maps, strict=True)
        )

    def _layer(self, part: Tensor, maps: nn.Module, layer: int) -> Tensor:
        assert isinstance(maps, nn.ModuleList)
        mapped: Tensor = maps[layer](part[min(layer, self.encoder_layers - 1)])
        return mapped.tanh()
