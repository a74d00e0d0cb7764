"""The tokenize stage: from text to token files, with counts."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from nmt.corpus.raw import RawPairs, read_raw_pair, read_training_pairs
from nmt.corpus.settings import DataSettings
from nmt.corpus.tokens import TOKENIZER_FILE, ParallelTokens, Sentence, tokens_path, write_tokens
from nmt.files import write_json
from nmt.pieces.model import Pieces, model_path
from nmt.tokenization.pieces import describe_pieces, learn_tokenizers
from nmt.tokenization.settings import SentencepieceSettings, SpacySettings, TokenizerSettings
from nmt.tokenization.tokenizer import describe, open_tokenizers

_log = logging.getLogger("nmt.tokenization")

COUNTS_FILE = "counts.json"


Splitter = Callable[[str], Sentence]


@dataclass(frozen=True)
class _Made:
    """Tokenizers of both sides, what they are, and by language the pieces that were learned."""

    source: Splitter
    target: Splitter
    description: dict[str, str]
    pieces: dict[str, Pieces]


def tokenize_corpus(
    raw: Path, out: Path, data: DataSettings, name: str, settings: TokenizerSettings
) -> None:
    """Split all files of the corpus; nothing is written before all of it went well.

    Training pairs with a blank side are dropped, both sides of them. Lines of other splits never
    are: a blank one becomes an empty list.

    One process does it all: splitting 29,000 lines takes it about a second, and two spaCy
    workers ten, since their documents must be carried over.

    Args:
        raw: folder of SPLIT.LANGUAGE.
        out: folder for SPLIT.LANGUAGE.jsonl, counts.json and tokenizer.json; for pieces also
            LANGUAGE.model.
        data: the `data` section.
        name: of the tokenizer.
        settings: its entry in the `tokenizers` section.

    Raises:
        ParamsError: a spaCy pipeline is not installed (told before any file is read), or the
            text does not allow so many pieces.
        DataError: a file is missing, damaged or not UTF-8, or two sides differ in length.
    """
    made = _open(data, name, settings) if settings.kind == "spacy" else None
    texts = {split: _read(raw, data, split) for split in data.splits}
    if settings.kind == "sentencepiece":
        made = _learn(data, name, settings, texts[data.train])
    assert made is not None
    total = 2 * sum(map(len, texts.values()))
    with tqdm(total=total, desc="tokenize", unit=" lines", disable=None) as bar:
        tokens = {
            split: ParallelTokens(
                _split(pairs.src, made.source, bar), _split(pairs.trg, made.target, bar)
            )
            for split, pairs in texts.items()
        }
    for split, sides in tokens.items():
        write_tokens(tokens_path(out, split, data.source_language), sides.src)
        write_tokens(tokens_path(out, split, data.target_language), sides.trg)
    for language, pieces in made.pieces.items():
        pieces.save(model_path(out, language))
    write_json(out / COUNTS_FILE, _counts(tokens, data, texts[data.train].dropped))
    write_json(out / TOKENIZER_FILE, made.description)


def _open(data: DataSettings, name: str, settings: SpacySettings) -> _Made:
    source, target = open_tokenizers(name, settings.splitting, *data.languages)
    return _Made(source, target, describe(name, settings.splitting, source, target), {})


def _learn(
    data: DataSettings, name: str, settings: SentencepieceSettings, train: RawPairs
) -> _Made:
    source, target = learn_tokenizers(name, settings.splitting, train.src, train.trg)
    learned = zip(data.languages, (source.pieces, target.pieces), strict=True)
    return _Made(source, target, describe_pieces(name, settings.splitting), dict(learned))


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


def _split(lines: Iterable[str], tokenizer: Splitter, bar: "tqdm[Any]") -> list[Sentence]:
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
