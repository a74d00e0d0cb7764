"""Sentences in, translations out, in the same order."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torch import Tensor
from tqdm import tqdm

from nmt.compute import ComputeSettings
from nmt.corpus.batches import pad
from nmt.corpus.symbols import UNK
from nmt.corpus.tokens import Sentence
from nmt.corpus.vocabulary import Vocabulary
from nmt.decoding.ensemble import Ensemble
from nmt.decoding.search import beam_search
from nmt.decoding.settings import DecodingSettings
from nmt.decoding.unknown import replace_unknown
from nmt.device import autocast
from nmt.model.seq2seq import Seq2Seq
from nmt.translations.attention import Weights
from nmt.translations.hypotheses import Hypothesis
from nmt.validation.greedy import Found

_DIGITS = 6  # of a log-probability: beyond them rounding depends on the batch


@dataclass(frozen=True)
class Translation:
    """A hypothesis and its attention (A,T,S)."""

    hypothesis: Hypothesis
    weights: Weights


@dataclass(frozen=True)
class Translator:
    """A model, or an ensemble of several, with all it needs to read and to write words.

    Args:
        models: one, or the members of an ensemble, all on one device and of one kind.
        source: vocabulary it reads.
        target: vocabulary it writes.
        join: makes text of tokens.
        decoding: how it searches.
        compute: precision it runs at.
    """

    models: tuple[Seq2Seq, ...]
    source: Vocabulary
    target: Vocabulary
    join: Callable[[Sentence], str]
    decoding: DecodingSettings
    compute: ComputeSettings

    def translate(self, sentences: list[Sentence], title: str = "") -> list[Translation]:
        """Translate tokenised sentences, empty ones too; the order is kept.

        No random number is drawn. Sentences of like length are searched together.

        Args:
            sentences: N source sentences, without special symbols.
            title: what the progress bar says.
        """
        for model in self.models:
            model.eval()
        found: dict[int, Translation] = {}
        with tqdm(total=len(sentences), desc=title, unit="sentence") as bar:
            for numbers in self._batches(sentences):
                batch = [sentences[i] for i in numbers]
                found |= zip(numbers, self._translate(batch), strict=True)
                bar.update(len(numbers))
        return [found[i] for i in range(len(sentences))]

    def _batches(self, sentences: list[Sentence]) -> Iterator[list[int]]:
        """Yield numbers of sentences, the longest first: memory runs out soon or not at all."""
        order = sorted(range(len(sentences)), key=lambda i: -len(sentences[i]))
        for start in range(0, len(order), self.decoding.batch_size):
            yield order[start : start + self.decoding.batch_size]

    def _translate(self, sentences: list[Sentence]) -> list[Translation]:
        device = self.models[0].output.bias.device
        src, lengths = pad([self.source.encode(sentence) for sentence in sentences])
        with autocast(device, self.compute):
            found = self._search(src.to(device), lengths)
        return [
            self._finish(sentence, ids, weights.numpy(), log_probability, cut)
            for sentence, ids, weights, log_probability, cut in zip(
                sentences,
                found.tokens,
                found.weights,
                found.log_probabilities,
                found.cut,
                strict=True,
            )
        ]

    def _search(self, src: Tensor, lengths: Tensor) -> Found:
        if len(self.models) == 1:
            return beam_search(self.models[0], src, lengths, self.decoding)
        return beam_search(Ensemble(self.models), src, lengths, self.decoding)

    def _finish(
        self, source: Sentence, ids: list[int], weights: Weights, score: float, cut: bool
    ) -> Translation:
        """Turn ids into words and text."""
        tokens = self.target.decode(ids)
        if self.decoding.replace_unknown:
            tokens = replace_unknown(tokens, weights, source)
        hypothesis = Hypothesis(
            tokens=tokens,
            text=self.join(tokens),
            log_probability=round(score, _DIGITS),
            cut=cut,
            unknown=ids.count(UNK),
            source_unknown=self.source.encode(source).count(UNK),
            source_length=len(source),
        )
        return Translation(hypothesis, weights)
