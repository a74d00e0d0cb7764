"""The output layer: from a decoder's features to scores of the target vocabulary."""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from nmt.model.dropout import Dropout


class OutputLayer(nn.Module):
    """A linear layer to the vocabulary, of its own or tied to the target embedding.

    Tied: Press and Wolf 2017, "Using the Output Embedding to Improve Language Models". It is
    about half of all arithmetic, so it is given real positions alone, once a batch, and wide
    features are first mapped to fewer (a "deep output", Pascanu et al. 2014).

    Args:
        feature_size: D, width of the features.
        mapped_size: width to which they are mapped, with tanh; None: they are taken as they are.
        embedding: the target embedding (V,E).
        tie: whether its weights serve as the output weights; what they are multiplied with must
            have its width E.
        dropout: share of that zeroed in training.
    """

    def __init__(
        self,
        feature_size: int,
        mapped_size: int | None,
        embedding: nn.Embedding,
        tie: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        size = embedding.num_embeddings
        width = feature_size if mapped_size is None else mapped_size
        self.dropout = Dropout(dropout)
        self.bias = nn.Parameter(torch.zeros(size))
        self.map = None if mapped_size is None else nn.Linear(feature_size, mapped_size)
        self.weight = embedding.weight if tie else nn.Parameter(torch.empty(size, width))
        if not tie:
            nn.init.uniform_(self.weight, -(width**-0.5), width**-0.5)

    def hidden(self, features: Tensor) -> Tensor:
        """Return what is multiplied with the vocabulary's weights, from features (...,D)."""
        if self.map is not None:
            features = torch.tanh(self.map(features))
        dropped: Tensor = self.dropout(features)
        return dropped

    def forward(self, features: Tensor) -> Tensor:
        """Return logits (...,V) of features (...,D)."""
        return linear(self.hidden(features), self.weight, self.bias)
