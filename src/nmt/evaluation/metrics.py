"""The four metrics, each with the signature that makes its number comparable.

Every function takes hypotheses and references of equal length, one reference a sentence;
`check_lengths` sees to that before.
"""

import math
from dataclasses import dataclass

from sacrebleu.metrics import BLEU, CHRF

from nmt.corpus.symbols import EOS, SPECIALS, UNK
from nmt.corpus.tokens import Sentence
from nmt.errors import DataError
from nmt.evaluation.settings import EvaluationSettings

DIGITS = 4
"""Digits after the point that scores are kept with."""

METRICS = ("bleu", "bleu_tokens", "chrf", "token_accuracy")
"""Names of the metrics, in the order in which they are shown."""

_UNK, _EOS = SPECIALS[UNK], SPECIALS[EOS]


@dataclass(frozen=True)
class Score:
    """One corpus-level number.

    Args:
        value: 0 to 100 for BLEU and chrF, 0 to 1 for a share; rounded to DIGITS.
        signature: how it was computed; numbers with different signatures are not comparable.
    """

    value: float
    signature: str


def bleu_metric(settings: EvaluationSettings, lowercase: bool) -> BLEU:
    """Return sacreBLEU's own metric for detokenised text (Papineni et al. 2002; Post 2018).

    Args:
        settings: names the tokenizer.
        lowercase: whether both sides are lower-cased first; the signature then says case:lc.
    """
    return BLEU(lowercase=lowercase, tokenize=settings.bleu_tokenizer)


def bleu(
    hypotheses: list[str], references: list[str], settings: EvaluationSettings, lowercase: bool
) -> Score:
    """Return BLEU of detokenised text against the raw references."""
    return _score(bleu_metric(settings, lowercase), hypotheses, references)


def bleu_tokens(hypotheses: list[Sentence], references: list[Sentence]) -> Score:
    """Return BLEU of lower-cased tokens joined by spaces: the tutorials' convention.

    It depends on how text was tokenised and can't be compared with other people's BLEU. Tokens
    of white space alone vanish, since sacreBLEU splits at white space. `force` is right here and
    only here: this text is tokenised on purpose.
    """
    metric = BLEU(lowercase=True, tokenize="none", force=True)
    return _score(metric, [" ".join(h) for h in hypotheses], [" ".join(r) for r in references])


def chrf(
    hypotheses: list[str], references: list[str], settings: EvaluationSettings, lowercase: bool
) -> Score:
    """Return chrF (Popovic 2015), or chrF++ with word order 2, of detokenised text."""
    metric = CHRF(word_order=settings.chrf_word_order, lowercase=lowercase)
    return _score(metric, hypotheses, references)


def token_accuracy(
    hypotheses: list[Sentence], references: list[Sentence], cut: list[bool]
) -> Score:
    """Return the share of reference positions where the hypothesis has the same token.

    Free-running: position t of the hypothesis is compared with position t of the reference, so
    one word too many early on makes all that follows wrong. It is not the teacher-forced
    accuracy of training. The end of the reference counts as a position; a hypothesis ends too,
    unless it was cut at its length limit. <unk> is never right.

    Args:
        hypotheses: produced tokens, without special symbols except <unk>.
        references: tokens of the references.
        cut: whether the hypothesis met its length limit before its end.
    """
    right = total = 0
    for hypothesis, reference, was_cut in zip(hypotheses, references, cut, strict=True):
        produced = hypothesis if was_cut else [*hypothesis, _EOS]
        wanted = [*reference, _EOS]
        total += len(wanted)
        right += sum(p == w != _UNK for p, w in zip(produced, wanted, strict=False))
    return Score(rounded(right / total), "nrefs:1|tok:spacy|eos:counted|input:free-running")


def check_lengths(hypotheses: int, references: int, where: str) -> None:
    """Check that there is a reference for each hypothesis, and something to score at all.

    Raises:
        DataError: with both numbers and the two files.
    """
    if hypotheses != references:
        raise DataError(
            f"{where}: {hypotheses} hypotheses and {references} references; they must pair line "
            "by line, so nothing was scored: run the tokenize and translate stages again"
        )
    if not references:
        raise DataError(f"{where}: no sentence in either file; nothing to score")


def rounded(value: float) -> float:
    """Round to DIGITS.

    Raises:
        DataError: the value is not a finite number.
    """
    if not math.isfinite(value):
        raise DataError(f"a score is {value}, which is no number: check hypotheses and references")
    return round(value, DIGITS)


def _score(metric: BLEU | CHRF, hypotheses: list[str], references: list[str]) -> Score:
    # One inner list for each *set* of references, of which there is one.
    value = metric.corpus_score(hypotheses, [references]).score
    return Score(rounded(float(value)), str(metric.get_signature()))
