"""Scores that training watches on the validation pairs."""

import sacrebleu

from nmt.corpus.tokens import Sentence


def token_bleu(hypotheses: list[Sentence], references: list[Sentence]) -> float:
    """Return corpus BLEU (0 to 100) of tokens as they are, joined by spaces.

    Papineni et al. 2002, as sacreBLEU counts it with no tokenizer of its own.
    """
    if len(hypotheses) != len(references):
        raise ValueError(f"hypotheses ({len(hypotheses)}) and references ({len(references)})")
    return float(
        sacrebleu.corpus_bleu(
            [" ".join(tokens) for tokens in hypotheses],
            [[" ".join(tokens) for tokens in references]],
            tokenize="none",
            force=True,
        ).score
    )
