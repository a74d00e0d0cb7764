"""Greedy search: at each step the best token, for a whole batch at once."""

from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.corpus.symbols import EOS, PAD, SOS
from nmt.model.seq2seq import Seq2Seq


@dataclass(frozen=True)
class Found:
    """What a search found, in the order of its input.

    Args:
        tokens: ids of each sentence, without special signs at its ends.
        weights: attention of each sentence (A,T,S); T counts <eos> unless it was cut.
        log_probabilities: natural logarithm of each sentence's probability.
        cut: whether it met the length limit before <eos>.
    """

    tokens: list[list[int]]
    weights: list[Tensor]
    log_probabilities: list[float]
    cut: list[bool]


@torch.inference_mode()
def greedy(model: Seq2Seq, src: Tensor, lengths: Tensor, limits: Tensor) -> Found:
    """Translate a batch greedily.

    Args:
        model: in evaluation mode.
        src: ids (B,S) on the model's device.
        lengths: real tokens of each source sentence (B,), on the CPU.
        limits: most tokens of each output (B,), <eos> not counted; on the CPU.
    """
    memory = model.encode(src, lengths)
    state = model.start(memory)
    token = torch.full((len(src),), SOS, device=src.device)
    done = torch.zeros_like(token, dtype=torch.bool)
    total = torch.zeros(len(src), device=src.device)
    limit = limits.to(src.device)
    chosen, rows = [], []
    for i in range(int(limits.max()) + 1):
        step = model.step(token, state, memory)
        state = step.state
        logits = step.logits.log_softmax(-1)
        logits[:, [PAD, SOS]] = -torch.inf
        best, token = logits.max(-1)
        # At its limit a sentence may still end by itself; any other token would be one too many.
        over = (limit <= i) & (token != EOS)
        token = token.masked_fill(done | over, PAD)
        total += best.masked_fill(done | over, 0.0)
        done = done | over | (token == EOS)
        chosen.append(token)
        rows.append(step.weights)
        if bool(done.all()):
            break
    return _collect(torch.stack(chosen, 1), torch.stack(rows, 2), total, lengths)


def _collect(chosen: Tensor, weights: Tensor, total: Tensor, lengths: Tensor) -> Found:
    """Cut each sentence out of (B,T) tokens and (B,A,T,S) weights."""
    ids = chosen.cpu()
    weights = weights.float().cpu()
    ended = (ids == EOS).any(1)
    produced = (ids != PAD).sum(1)  # <eos> counted
    tokens = [row[: n - int(e)].tolist() for row, n, e in zip(ids, produced, ended, strict=True)]
    cut_out = [
        w[:, :n, :s].clone() for w, n, s in zip(weights, produced, lengths.tolist(), strict=True)
    ]
    return Found(tokens, cut_out, total.tolist(), (~ended).tolist())
