"""How many multiply-adds a model's matrix products take, and how fast this machine does such.

Counted from the shapes: real source and target tokens only, no padding; embeddings are looked up
and not counted; of attention the scores and the weighted sum are. What is not a matrix product
(gates, tanh, softmax, the loss, the optimizer) is not counted, so the bound can't be met.
"""

import time
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchmarks.figures import Lap, Run
from benchmarks.project import Corpus
from nmt.model.settings import RecurrentSettings
from nmt.training.corpus import Numbers

TRAINING = 3
"""A product forward, and two of the same count backward: for its input and for its weights."""

_SQUARES = 4  # products in a lap: one alone takes too short a time
_GATES = {"gru": 3, "lstm": 4, "rnn": 1}


@dataclass(frozen=True)
class Lengths:
    """Real tokens of each sentence of a batch, <eos> counted: (B,) each."""

    src: NDArray[np.int32]
    trg: NDArray[np.int32]

    @property
    def pairs(self) -> int:
        """How many source positions all target positions see together."""
        return int((self.src.astype(np.int64) * self.trg).sum())


@dataclass(frozen=True)
class Product:
    """A matrix product (rows, inner) by (inner, columns), done in so many steps.

    Args:
        rows: of all steps together; real tokens, sentences, or pairs of positions.
        inner: summed over.
        columns: of the result.
        steps: parts that can't be done at once, since each needs the one before.
        per_sentence: whether the right side differs from sentence to sentence, as with attention.
    """

    rows: int
    inner: int
    columns: int
    steps: int = 1
    per_sentence: bool = False

    @property
    def count(self) -> int:
        """Multiply-adds of the forward product."""
        return self.rows * self.inner * self.columns


def products(model: RecurrentSettings, target_size: int, lengths: Lengths) -> list[Product]:
    """Return all matrix products of the forward pass over one batch.

    Args:
        model: a recurrent encoder-decoder.
        target_size: V of the target.
        lengths: of the batch.
    """
    hidden, target = model.hidden, int(lengths.trg.sum())
    found = _encoder(model, lengths) + _bridge(model, len(lengths.src))
    if model.context == "none":
        found += _layers(model, model.embedding, model.decoder_layers, lengths.trg)
        features = hidden
    elif model.context == "fed_back":
        queries = model.decoder_layers
        width = model.embedding + queries * hidden
        found += _attention(model, lengths, queries)
        found += _layers(model, width, model.decoder_layers, lengths.trg)
        features = hidden
    else:
        found += _layers(model, model.embedding, 1, lengths.trg)
        found += _attention(model, lengths, 1)
        found += _layers(model, 2 * hidden, model.decoder_layers - 1, lengths.trg)
        features = 2 * hidden + model.embedding
    return found + _output(model, features, target, target_size)


def lengths_of(corpus: Corpus, plan: list[Numbers]) -> Lengths:
    """Return the real lengths of all pairs of some batches."""
    numbers = [int(n) for batch in plan for n in batch]
    return Lengths(corpus.pairs.src.lengths[numbers], corpus.pairs.trg.lengths[numbers])


def multiply_adds(model: RecurrentSettings, corpus: Corpus, plan: list[Numbers]) -> float:
    """Return the multiply-adds of training on some batches, for each real target token."""
    lengths = lengths_of(corpus, plan)
    total = TRAINING * sum(p.count for p in products(model, corpus.sizes[1], lengths))
    return total / float(lengths.trg.sum())


@dataclass(frozen=True)
class Activation:
    """Values that a sigmoid or tanh is taken of, in so many steps that can't be done at once."""

    count: int
    steps: int


def activations(model: RecurrentSettings, lengths: Lengths) -> list[Activation]:
    """Return all sigmoids and tanhs of the forward pass over one batch: gates and attention."""
    gates = _GATES[model.cell] * model.hidden
    found = []
    for layers, side in (
        (model.encoder_layers, lengths.src),
        (model.decoder_layers, lengths.trg),
    ):
        found += layers * [Activation(int(side.sum()) * gates, int(side.max()))]
    if model.attention == "additive":
        fed_back = model.context == "fed_back"
        asked = model.decoder_layers if fed_back else 1
        steps = int(lengths.trg.max()) if fed_back else 1
        found.append(Activation(asked * lengths.pairs * model.hidden, steps))
    return found


def _layers(
    model: RecurrentSettings,
    width: int,
    layers: int,
    lengths: NDArray[np.int32],
    directions: int = 1,
) -> list[Product]:
    """Return the products of a stack of recurrent layers that reads inputs of a width."""
    tokens, steps, hidden = int(lengths.sum()), int(lengths.max()), model.hidden // directions
    gates = _GATES[model.cell] * hidden
    found = []
    for layer in range(layers):
        inputs = model.hidden if layer else width
        found += directions * [
            Product(tokens, inputs, gates),
            Product(tokens, hidden, gates, steps),
        ]
    return found


def _encoder(model: RecurrentSettings, lengths: Lengths) -> list[Product]:
    directions = 2 if model.bidirectional else 1
    return _layers(model, model.embedding, model.encoder_layers, lengths.src, directions)


def _bridge(model: RecurrentSettings, sentences: int) -> list[Product]:
    if model.encoder_layers == model.decoder_layers and not model.bidirectional:
        return []
    parts = 2 if model.cell == "lstm" else 1
    return parts * model.decoder_layers * [Product(sentences, model.hidden, model.hidden)]


def _output(
    model: RecurrentSettings, features: int, tokens: int, target_size: int
) -> list[Product]:
    """Return the products of the output layer, which maps tied or wide features first."""
    if model.tie_target:
        width = model.embedding
    elif features > model.hidden:
        width = model.hidden
    else:
        return [Product(tokens, features, target_size)]
    return [Product(tokens, features, width), Product(tokens, width, target_size)]


def _attention(model: RecurrentSettings, lengths: Lengths, queries: int) -> list[Product]:
    """Return the products of attention with so many queries at each target position."""
    hidden, asked = model.hidden, queries * int(lengths.trg.sum())
    pairs = queries * lengths.pairs
    context = Product(pairs, 1, hidden, per_sentence=True)
    if model.attention != "additive":
        return [Product(pairs, hidden, 1, per_sentence=True), context]
    keys = Product(int(lengths.src.sum()), hidden, hidden)
    return [keys, Product(asked, hidden, hidden), Product(pairs, hidden, 1), context]


def square(side: int, device: torch.device) -> Run:
    """Return a contender that multiplies two large square float32 matrices, some times."""
    left, right, out = (torch.randn(side, side, device=device) for _ in range(3))

    def run() -> Lap:
        began = time.perf_counter()
        for _ in range(_SQUARES):
            torch.mm(left, right, out=out)
        _wait(out)
        return Lap(time.perf_counter() - began, _SQUARES * side**3)

    return run


def own_shapes(found: list[Product], device: torch.device) -> Run:
    """Return a contender that does a training step's products and nothing else.

    Each is done forward and twice backward, in as many steps as it needs; the product for the
    weights at once. Attention over single sentences is left out of both time and count.
    """
    shared = [p for p in found if not p.per_sentence]
    operands = [_operands(p, device) for p in shared]

    def run() -> Lap:
        began = time.perf_counter()
        out = torch.zeros(())
        for product, (left, right, result) in zip(shared, operands, strict=True):
            for rows, results in zip(
                left.chunk(product.steps), result.chunk(product.steps), strict=True
            ):
                torch.mm(rows, right, out=results)
                torch.mm(results, right.t(), out=rows)
            out = left.t() @ result
        _wait(out)
        return Lap(time.perf_counter() - began, TRAINING * sum(p.count for p in shared))

    return run


def bare_tanh(found: list[Activation], device: torch.device) -> Run:
    """Return a contender that takes as many tanhs as a training step has, and their gradients.

    A sigmoid costs about as much, and stands as a tanh.
    """
    values = [
        (torch.randn(a.count, device=device).chunk(a.steps), torch.ones(a.count, device=device))
        for a in found
    ]

    def run() -> Lap:
        began = time.perf_counter()
        out = torch.zeros(())
        for chunks, gradient in values:
            for part, above in zip(chunks, gradient.chunk(len(chunks)), strict=True):
                out = torch.ops.aten.tanh_backward(above, part.tanh())
        _wait(out)
        return Lap(time.perf_counter() - began, sum(a.count for a in found))

    return run


def _operands(product: Product, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Return both sides and room for the result; small numbers, so that none grows."""
    left = torch.zeros(product.rows, product.inner, device=device)
    right = torch.zeros(product.inner, product.columns, device=device)
    return left, right, torch.zeros(product.rows, product.columns, device=device)


def _wait(result: Tensor) -> None:
    """Wait until a device has computed a result."""
    float(result.flatten()[0])
