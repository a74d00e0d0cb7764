"""What keeps a model from learning a small corpus by heart: dropped words, agreement of passes."""

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from nmt.corpus.symbols import SPECIALS, UNK
from nmt.model.seq2seq import Seq2Seq
from nmt.training.corpus import Batch


def drop_words(batch: Batch, share: float) -> Batch:
    """Return a batch in which a share of source and of target-input words are <unk>.

    Special symbols stay, and so do the targets. Drawn from torch's generator of the device.
    Gal and Ghahramani 2016, "A Theoretically Grounded Application of Dropout in Recurrent Neural
    Networks", with <unk> in place of a zero vector.
    """
    if share == 0.0:
        return batch
    return replace(batch, src=_dropped(batch.src, share), inputs=_dropped(batch.inputs, share))


def _dropped(ids: Tensor, share: float) -> Tensor:
    hit = torch.rand(ids.shape, device=ids.device) < share
    return ids.masked_fill(hit & (ids >= len(SPECIALS)), UNK)


def twice(batch: Batch) -> Batch:
    """Return a batch that holds each pair twice, in the same order: for two passes in one."""
    return Batch(
        src=_doubled(batch.src),
        lengths=_doubled(batch.lengths),
        inputs=_doubled(batch.inputs),
        targets=_doubled(batch.targets),
        real=torch.cat([batch.real, batch.real + batch.targets.numel()]),
    )


def _doubled(values: Tensor) -> Tensor:
    return torch.cat([values, values])


def consistent_loss(
    model: Seq2Seq, batch: Batch, label_smoothing: float, weight: float, forced: list[bool] | None
) -> Tensor:
    """Return the loss of R-Drop: two passes, of unlike dropout, should also agree.

    Half of (CE1 + CE2 + weight · ½ (KL(P1‖P2) + KL(P2‖P1))), as a mean over real tokens; halved,
    it has the scale of one pass. Liang et al. 2021, "R-Drop: Regularized Dropout for Neural
    Networks", equations 2 to 4, where `weight` is α.

    Args:
        model: in training mode.
        batch: as `twice` returns it.
        label_smoothing: of the cross-entropy alone.
        weight: of the divergence.
        forced: as for `Seq2Seq.features`.
    """
    features = model.features(batch.src, batch.lengths, batch.inputs, forced)
    real = features.flatten(0, 1).index_select(0, batch.real)  # (2N,D)
    gold = batch.targets.flatten().index_select(0, batch.real)
    logits = model.output(real).float()  # (2N,V)
    first, second = logits.log_softmax(-1).chunk(2)  # (N,V)
    both_ways: Tensor = ((first.exp() - second.exp()) * (first - second)).sum(-1).mean()
    return cross_entropy(logits, gold, label_smoothing=label_smoothing) + both_ways * (weight / 4)
