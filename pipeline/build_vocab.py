"""Build the vocabulary of each language, and for words learn the spacing of the target's text.

Reads
    data/tokens/TOKENIZER/SPLIT.LANGUAGE.jsonl, tokenizer.json
    data/tokens/TOKENIZER/LANGUAGE.model    of pieces
    data/raw/TRAIN.LANGUAGE                 both languages, for the spacing of words
    data/raw/VALIDATION.TARGET
Writes
    data/vocab/TOKENIZER/LANGUAGE.json      tokens in the order of their ids, with counts
    data/vocab/TOKENIZER/spacing.json       which words stand side by side without space
    data/vocab/TOKENIZER/LANGUAGE.model, draws.json     of pieces, if training draws them
    data/vocab/TOKENIZER/coverage.json      sizes, rates of unknown tokens, lines put together
    data/vocab/TOKENIZER/tokenizer.json     which tokenizer made the tokens

Example:
    python -m pipeline.build_vocab --tokenizer words
"""

from pathlib import Path

from nmt import script
from nmt.corpus.settings import DataSettings
from nmt.params import Params
from nmt.tokenization.settings import TokenizerSettings
from nmt.vocab.build import Folders, build_vocabularies


def build_vocab(
    tokenizer: script.TokenizerOption,
    params: script.ParamsOption = Path("params.yaml"),
    tokens: Path = Path("data/tokens"),
    raw: Path = Path("data/raw"),
    out: Path = Path("data/vocab"),
) -> None:
    """Build the vocabulary of each language."""
    values = Params.read(params)
    build_vocabularies(
        Folders(raw=raw, tokens=tokens / tokenizer, out=out / tokenizer),
        values.section("data", DataSettings),
        values.section(f"tokenizers.{tokenizer}", TokenizerSettings),
    )


app = script.command(build_vocab)

if __name__ == "__main__":
    script.run(app)
