"""Scores that training watches on the validation pairs."""

from collections.abc import Callable

import sacrebleu

from nmt.corpus.pieces import join_pieces
from nmt.corpus.tokens import Sentence


def token_bleu(hypotheses: list[Sentence], references: list[Sentence]) -> float:
    """Return corpus BLEU (0 to 100) of tokens as they are, joined by spaces.

    Papineni et al. 2002, as sacreBLEU counts it with no tokenizer of its own.
    """
    return _bleu(hypotheses, references, " ".join, "none")


def piece_bleu(hypotheses: list[Sentence], references: list[Sentence]) -> float:
    """Return corpus BLEU (0 to 100) of pieces put together to text, on words and signs.

    As sacreBLEU splits text by default: pieces themselves would be many, and easy to get right.
    """
    return _bleu(hypotheses, references, join_pieces, "13a")


def _bleu(
    hypotheses: list[Sentence],
    references: list[Sentence],
    join: Callable[[Sentence], str],
    tokenizer: str,
) -> float:
    if len(hypotheses) != len(references):
        raise ValueError(f"hypotheses ({len(hypotheses)}) and references ({len(references)})")
    return float(
        sacrebleu.corpus_bleu(
            [join(tokens) for tokens in hypotheses],
            [[join(tokens) for tokens in references]],
            tokenize=tokenizer,
            force=True,
        ).score
    )
