"""Build the vocabulary of each language, and learn the spacing of the target's text.

Reads
    data/tokens/SPLIT.LANGUAGE.jsonl, tokenizer.json
    data/raw/TRAIN.LANGUAGE             both languages
    data/raw/VALIDATION.TARGET
Writes
    data/vocab/LANGUAGE.json            tokens in the order of their ids, with counts
    data/vocab/spacing.json             which tokens stand side by side without space
    data/vocab/coverage.json            sizes, rates of unknown tokens, lines put together exactly
    data/vocab/tokenizer.json           which tokenizer made the tokens

Example:
    python -m pipeline.build_vocab
"""

from pathlib import Path

from nmt import script
from nmt.corpus.settings import DataSettings
from nmt.params import Params
from nmt.vocab.build import Folders, build_vocabularies
from nmt.vocab.settings import VocabSettings


def build_vocab(
    params: script.ParamsOption = Path("params.yaml"),
    tokens: Path = Path("data/tokens"),
    raw: Path = Path("data/raw"),
    out: Path = Path("data/vocab"),
) -> None:
    """Build the vocabulary of each language, and learn the spacing of the target's text."""
    values = Params.read(params)
    build_vocabularies(
        Folders(raw=raw, tokens=tokens, out=out),
        values.section("data", DataSettings),
        values.section("vocab", VocabSettings),
    )


app = script.command(build_vocab)

if __name__ == "__main__":
    script.run(app)
