"""Split the sentences of both languages into tokens.

Reads
    data/raw/SPLIT.LANGUAGE             one sentence a line
Writes
    data/tokens/SPLIT.LANGUAGE.jsonl    one JSON array of tokens a line
    data/tokens/counts.json             sentences, tokens, longest and empty lines of each file
    data/tokens/tokenizer.json          which tokenizer made them

Example:
    python -m pipeline.tokenize
"""

from pathlib import Path

from nmt import script
from nmt.corpus.settings import DataSettings
from nmt.params import Params
from nmt.tokenization.corpus import tokenize_corpus
from nmt.tokenization.settings import TokenizerSettings


def tokenize(
    params: script.ParamsOption = Path("params.yaml"),
    raw: Path = Path("data/raw"),
    out: Path = Path("data/tokens"),
) -> None:
    """Split the sentences of both languages into tokens."""
    values = Params.read(params)
    tokenize_corpus(
        raw,
        out,
        values.section("data", DataSettings),
        values.section("tokenizer", TokenizerSettings),
    )


app = script.command(tokenize)

if __name__ == "__main__":
    script.run(app)
