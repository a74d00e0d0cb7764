"""Split the sentences of both languages into tokens.

Reads
    data/raw/SPLIT.LANGUAGE             one sentence a line
Writes
    data/tokens/TOKENIZER/SPLIT.LANGUAGE.jsonl  one JSON array of tokens a line
    data/tokens/TOKENIZER/LANGUAGE.model        pieces learned from the training side, if it has any
    data/tokens/TOKENIZER/counts.json           sentences, tokens, longest and empty lines
    data/tokens/TOKENIZER/tokenizer.json        which tokenizer made them

Example:
    python -m pipeline.tokenize --tokenizer words
"""

from pathlib import Path

from nmt import script
from nmt.corpus.settings import DataSettings
from nmt.params import Params
from nmt.tokenization.corpus import tokenize_corpus
from nmt.tokenization.settings import TokenizerSettings


def tokenize(
    tokenizer: script.TokenizerOption,
    params: script.ParamsOption = Path("params.yaml"),
    raw: Path = Path("data/raw"),
    out: Path = Path("data/tokens"),
) -> None:
    """Split the sentences of both languages into tokens."""
    values = Params.read(params)
    tokenize_corpus(
        raw,
        out / tokenizer,
        values.section("data", DataSettings),
        tokenizer,
        values.section(f"tokenizers.{tokenizer}", TokenizerSettings),
    )


app = script.command(tokenize)

if __name__ == "__main__":
    script.run(app)
