"""The tokenize stage: from text to token files, with counts."""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from nmt.corpus.raw import RawPairs, read_raw_pair, read_training_pairs
from nmt.corpus.settings import DataSettings
from nmt.corpus.tokens import TOKENIZER_FILE, ParallelTokens, Sentence, tokens_path, write_tokens
from nmt.files import write_json
from nmt.tokenization.settings import TokenizerSettings
from nmt.tokenization.tokenizer import Tokenizer, describe, open_tokenizers

_log = logging.getLogger("nmt.tokenization")

COUNTS_FILE = "counts.json"


def tokenize_corpus(raw: Path, out: Path, data: DataSettings, settings: TokenizerSettings) -> None:
    """Split all files of the corpus; nothing is written before all of it went well.

    Training pairs with a blank side are dropped, both sides of them. Lines of other splits never
    are: a blank one becomes an empty list.

    One process does it all: splitting 29,000 lines takes it about a second, and two spaCy
    workers ten, since their documents must be carried over.

    Args:
        raw: folder of SPLIT.LANGUAGE.
        out: folder for SPLIT.LANGUAGE.jsonl, counts.json and tokenizer.json.
        data: the `data` section.
        settings: the `tokenizer` section.

    Raises:
        ParamsError: a spaCy pipeline is not installed (told before any file is read).
        DataError: a file is missing, damaged or not UTF-8, or two sides differ in length.
    """
    source, target = open_tokenizers(settings, *data.languages)
    texts = {split: _read(raw, data, split) for split in data.splits}
    total = 2 * sum(map(len, texts.values()))
    with tqdm(total=total, desc="tokenize", unit=" lines", disable=None) as bar:
        tokens = {
            split: ParallelTokens(_split(pairs.src, source, bar), _split(pairs.trg, target, bar))
            for split, pairs in texts.items()
        }
    for split, sides in tokens.items():
        write_tokens(tokens_path(out, split, data.source_language), sides.src)
        write_tokens(tokens_path(out, split, data.target_language), sides.trg)
    write_json(out / COUNTS_FILE, _counts(tokens, data, texts[data.train].dropped))
    write_json(out / TOKENIZER_FILE, describe(settings, source, target))


def _read(raw: Path, data: DataSettings, split: str) -> RawPairs:
    if split != data.train:
        return read_raw_pair(raw, split, *data.languages)
    pairs = read_training_pairs(raw, split, *data.languages)
    if pairs.dropped:
        _log.warning(
            "%s: dropped %d of %d pairs, a side of which is blank",
            split,
            pairs.dropped,
            len(pairs) + pairs.dropped,
        )
    return pairs


def _split(lines: Iterable[str], tokenizer: Tokenizer, bar: "tqdm[Any]") -> list[Sentence]:
    sentences = []
    for line in lines:
        sentences.append(tokenizer(line))
        bar.update()
    return sentences


def _counts(tokens: dict[str, ParallelTokens], data: DataSettings, dropped: int) -> dict[str, Any]:
    counts: dict[str, Any] = {
        split: {
            data.source_language: _count(sides.src),
            data.target_language: _count(sides.trg),
        }
        for split, sides in tokens.items()
    }
    return {"dropped_training_pairs": dropped, "splits": counts}


def _count(sentences: Sequence[Sentence]) -> dict[str, int]:
    return {
        "sentences": len(sentences),
        "tokens": sum(map(len, sentences)),
        "longest": max(map(len, sentences), default=0),
        "empty": sum(not sentence for sentence in sentences),
    }
