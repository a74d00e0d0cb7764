"""The output layer: from a decoder's features to scores of the target vocabulary."""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear


class OutputLayer(nn.Module):
    """A linear layer to the vocabulary, of its own or tied to the target embedding.

    Tied (Press and Wolf 2017, "Using the Output Embedding to Improve Language Models"), the
    features are first mapped to the width of the embedding. It is about half of all arithmetic,
    so it is given real positions alone, once a batch.

    Args:
        feature_size: D, width of the features.
        embedding: the target embedding (V,E).
        tie: whether its weights serve as the output weights.
        dropout: share of the features zeroed in training.
        mapped: whether tied features are mapped; if not, D is E.
    """

    def __init__(
        self,
        feature_size: int,
        embedding: nn.Embedding,
        tie: bool,
        dropout: float,
        mapped: bool = True,
    ) -> None:
        super().__init__()
        size, width = embedding.weight.shape
        self.dropout = nn.Dropout(dropout)
        self.bias = nn.Parameter(torch.zeros(size))
        self.map = nn.Linear(feature_size, width) if tie and mapped else None
        self.weight = embedding.weight if tie else nn.Parameter(torch.empty(size, feature_size))
        if not tie:
            nn.init.uniform_(self.weight, -(feature_size**-0.5), feature_size**-0.5)

    def hidden(self, features: Tensor) -> Tensor:
        """Return what is multiplied with the vocabulary's weights, from features (...,D)."""
        if self.map is not None:
            features = torch.tanh(self.map(features))
        dropped: Tensor = self.dropout(features)
        return dropped

    def forward(self, features: Tensor) -> Tensor:
        """Return logits (...,V) of features (...,D)."""
        return linear(self.hidden(features), self.weight, self.bias)
