"""Gather what one model reads: tokens, vocabularies and spacing of its own tokenizer.

Reads, of the tokenizer that the model names
    data/tokens/TOKENIZER/SPLIT.LANGUAGE.jsonl, tokenizer.json
    data/vocab/TOKENIZER/LANGUAGE.json, and spacing.json, or LANGUAGE.model and draws.json
Writes
    data/prepared/MODEL/tokens/         the tokens
    data/prepared/MODEL/vocab/          the vocabularies, and what training draws pieces with
    data/prepared/MODEL/spacing.json    of words alone

Example:
    python -m pipeline.prepare --model additive
"""

from pathlib import Path

from nmt import script
from nmt.params import Params
from nmt.prepared import prepare_model


def prepare(
    model: script.ModelOption,
    params: script.ParamsOption = Path("params.yaml"),
    tokens: Path = Path("data/tokens"),
    vocab: Path = Path("data/vocab"),
    out: Path = Path("data/prepared"),
) -> None:
    """Gather what one model reads."""
    tokenizer = str(Params.read(params).value(f"models.{model}.tokenizer"))
    prepare_model(tokenizer, tokens, vocab, out / model)


app = script.command(prepare)

if __name__ == "__main__":
    script.run(app)
