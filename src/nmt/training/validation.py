"""How good a model is on the validation pairs, after each epoch."""

import math
from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy

from nmt.compute import ComputeSettings
from nmt.corpus.tokens import Sentence
from nmt.corpus.vocabulary import Vocabulary
from nmt.device import autocast
from nmt.model.seq2seq import Seq2Seq
from nmt.training.corpus import Pairs, in_order, make_batch
from nmt.validation.greedy import greedy
from nmt.validation.scores import piece_bleu, token_bleu

_BATCH = 128  # sentences; no influence on any figure but through rounding


@dataclass(frozen=True)
class Validation:
    """Figures on the validation pairs.

    Args:
        loss: mean negative log-likelihood of a token under teacher forcing, in nats, without
            label smoothing.
        accuracy: share of tokens that are the best under teacher forcing.
        bleu: BLEU of greedy translations on whole words, 0 to 100: on tokens that are words,
            else on the words that sacreBLEU finds in the text of the pieces. The two are alike,
            and not the same.
    """

    loss: float
    accuracy: float
    bleu: float

    @property
    def perplexity(self) -> float:
        """E to the loss."""
        return math.exp(min(self.loss, 700.0))


@torch.inference_mode()
def validate(
    model: Seq2Seq,
    pairs: Pairs,
    references: list[Sentence],
    target: Vocabulary,
    compute: ComputeSettings,
    pieces: bool = False,
) -> Validation:
    """Measure a model on encoded pairs; the references are the tokens, not their ids.

    Loss and accuracy are those of a token, so that models of unlike tokenizers can't be compared
    by them.
    """
    model.eval()
    device = model.output.bias.device
    loss, right, count = 0.0, 0, 0
    hypotheses: list[Sentence] = [[] for _ in references]
    for numbers in in_order(pairs, _BATCH):
        batch = make_batch(pairs, numbers).to(device)
        with autocast(device, compute):
            features = model.features(batch.src, batch.lengths, batch.inputs)
            logits = model.output(features.flatten(0, 1)[batch.real]).float()
            found = greedy(model, batch.src, batch.lengths, batch.lengths * 3 // 2 + 10)
        gold = batch.targets.flatten()[batch.real]
        loss += cross_entropy(logits, gold, reduction="sum").item()
        right += int((logits.argmax(-1) == gold).sum())
        count += len(gold)
        for i, tokens in zip(numbers, found.tokens, strict=True):
            hypotheses[i] = target.decode(tokens)
    bleu = piece_bleu if pieces else token_bleu
    return Validation(loss / count, right / count, bleu(hypotheses, references))
