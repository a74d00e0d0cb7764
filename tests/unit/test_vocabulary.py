"""Vocabularies: order, cut-off, ids, the file; and what build_vocab measures."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nmt.corpus.settings import DataSettings
from nmt.corpus.symbols import EOS, PAD, SOS, UNK
from nmt.corpus.tokens import write_tokens
from nmt.corpus.vocabulary import Vocabulary
from nmt.errors import DataError, ParamsError
from nmt.files import read_json, write_json
from nmt.params import Params
from nmt.spacing import Spacing
from nmt.tokenization.settings import (
    SpacySettings,
    SpacySplitting,
    TokenizerSettings,
    WordEncoding,
)
from nmt.vocab.build import Folders, build_vocabularies

PROJECT = Path(__file__).parents[2]
SPECIALS = ("<unk>", "<pad>", "<sos>", "<eos>")


def words(*sentences: str) -> list[list[str]]:
    return [sentence.split() for sentence in sentences]


def test_tokens_stand_by_falling_count_after_the_specials() -> None:
    vocabulary = Vocabulary.build(words("b a a c", "a b"), min_freq=1)
    assert vocabulary.tokens == (*SPECIALS, "a", "b", "c")
    assert vocabulary.counts == (0, 0, 0, 0, 3, 2, 1)
    assert (UNK, PAD, SOS, EOS) == (0, 1, 2, 3)


TIES = words("hund apfel", "birne kirsche", "zug ofen", "zug kirsche", "ofen apfel", "hund birne")


@pytest.mark.parametrize("sentences", [TIES, TIES[::-1]])
def test_ties_at_the_cut_off_are_alphabetical(sentences: list[list[str]]) -> None:
    vocabulary = Vocabulary.build(sentences, min_freq=1, max_size=3)
    assert vocabulary.tokens == (*SPECIALS, "apfel", "birne", "hund")


@pytest.mark.parametrize(("min_freq", "kept"), [(1, "a b c"), (2, "a b"), (3, "a"), (4, "")])
def test_rare_tokens_are_left_out(min_freq: int, kept: str) -> None:
    vocabulary = Vocabulary.build(words("a a a b b c"), min_freq)
    assert list(vocabulary.tokens[4:]) == kept.split()


def test_a_text_that_holds_a_special_symbol_does_not_mean_it() -> None:
    vocabulary = Vocabulary.build(words("a <eos> <pad> a <eos>"), min_freq=1)
    assert len(vocabulary) == 5
    assert vocabulary.encode(["<eos>", "a", "<pad>"]) == [UNK, 4, UNK, EOS]
    assert "<eos>" not in vocabulary


def test_encoding_ends_in_eos_and_decoding_at_it() -> None:
    vocabulary = Vocabulary.build(words("a b b"), min_freq=1)
    assert vocabulary.encode(["a", "b", "new"]) == [5, 4, UNK, EOS]
    assert vocabulary.encode([]) == [EOS]
    assert vocabulary.decode([SOS, 5, PAD, 4, UNK, EOS, 4]) == ["a", "b", "<unk>"]


def test_the_file_is_readable_and_read_back_the_same(tmp_path: Path) -> None:
    path = tmp_path / "de.json"
    vocabulary = Vocabulary.build([["ä", "ä", "\u00a0", '"', "ä"]], min_freq=1)
    vocabulary.save(path)
    assert path.read_text(encoding="utf-8") == (
        '[\n["<unk>", 0],\n["<pad>", 0],\n["<sos>", 0],\n["<eos>", 0],\n'
        '["ä", 3],\n["\\"", 1],\n["\u00a0", 1]\n]\n'
    )
    assert Vocabulary.load(path) == vocabulary


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "expected a list of"),
        ('[["<unk>", 0], ["a", 1]]', "expected <unk>, <pad>, <sos>, <eos> first"),
        (
            '[["<unk>",0],["<pad>",0],["<sos>",0],["<eos>",0],["a",1],["a",1]]',
            "no token twice; run the build_vocab stage again",
        ),
        ("[", "not JSON"),
    ],
)
def test_a_damaged_file_is_named(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "de.json"
    path.write_text(text)
    with pytest.raises(DataError, match=said) as error:
        Vocabulary.load(path)
    assert str(path) in str(error.value)


# The build_vocab stage

TEXT = {
    "train.de": ["Ein Hund, ein Mann.", "", "Ein Mann."],
    "train.en": ["A dog, a man.", "Gone.", "A man."],
    "val.de": ["Ein Hund."],
    "val.en": ["A cat."],
    "test.de": ["Ein Ball, ein Haus.", ""],
    "test.en": ["A  man, a dog.", "None."],
}
TOKENS = {
    "train.de": words("ein hund , ein mann .", "ein mann ."),
    "train.en": words("a dog , a man .", "a man ."),
    "val.de": words("ein hund ."),
    "val.en": words("a cat ."),
    "test.de": words("ein ball , ein haus .", ""),
    "test.en": words("a man , a dog .", "none ."),
}


def data() -> DataSettings:
    pin = {"rows": 1, "archive": "0" * 64, "text": "0" * 64}
    return DataSettings.model_validate(
        {
            "source_language": "de",
            "target_language": "en",
            "train": "train",
            "validation": "val",
            "tests": ("test",),
            "sources": (),
            "files": dict.fromkeys(TEXT, pin),
        }
    )


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    (tmp_path / "raw").mkdir()
    for name, lines in TEXT.items():
        (tmp_path / "raw" / name).write_text("".join(f"{line}\n" for line in lines))
    for name, sentences in TOKENS.items():
        write_tokens(tmp_path / "tokens/words" / f"{name}.jsonl", sentences)
    write_json(tmp_path / "tokens/words" / "tokenizer.json", {"lowercase": "true", "spacy": "3.8"})
    return Folders(tmp_path / "raw", tmp_path / "tokens/words", tmp_path / "vocab/words")


def settings(min_freq: int = 2, max_size: int | None = None) -> SpacySettings:
    return SpacySettings(
        kind="spacy",
        splitting=SpacySplitting(
            spacy_source="blank", spacy_target="blank", lowercase=True, normalize_spaces=False
        ),
        encoding=WordEncoding(min_freq=min_freq, max_size=max_size),
    )


def test_vocabularies_come_from_the_training_side_alone(folders: Folders) -> None:
    build_vocabularies(folders, data(), settings())
    assert Vocabulary.load(folders.out / "de.json").tokens[4:] == ("ein", ".", "mann")
    assert Vocabulary.load(folders.out / "en.json").tokens[4:] == ("a", ".", "man")
    build_vocabularies(folders, data(), settings(min_freq=1, max_size=4))
    assert Vocabulary.load(folders.out / "de.json").tokens[4:] == ("ein", ".", "mann", ",")


def test_coverage_is_measured(folders: Folders) -> None:
    build_vocabularies(folders, data(), settings())
    assert read_json(folders.out / "coverage.json") == {
        "de": {
            "size": 7,
            "types": 5,
            "tokens": 9,
            "unknown_rate": {"train": 2 / 9, "val": 1 / 3, "test": 3 / 6},
        },
        "en": {
            "size": 7,
            "types": 5,
            "tokens": 9,
            "unknown_rate": {"train": 2 / 9, "val": 1 / 3, "test": 3 / 8},
        },
        "spacing_exact_lines": 1.0,
    }


def test_spacing_and_tokenizer_go_with_the_vocabularies(folders: Folders) -> None:
    build_vocabularies(folders, data(), settings())
    assert (
        Spacing.load(folders.out / "spacing.json").join(["a", "dog", ",", "b", "."]) == "a dog, b."
    )
    assert read_json(folders.out / "tokenizer.json") == {"lowercase": "true", "spacy": "3.8"}


def test_a_split_without_tokens_has_no_unknown_ones(folders: Folders) -> None:
    write_tokens(folders.tokens / "test.de.jsonl", [[], []])
    build_vocabularies(folders, data(), settings())
    assert read_json(folders.out / "coverage.json")["de"]["unknown_rate"]["test"] == 0.0


def test_tokens_of_another_text_are_an_error(folders: Folders) -> None:
    (folders.raw / "val.en").write_text("A cat.\nA dog.\n")
    with pytest.raises(DataError, match=r"val\.en: 2 lines, but 1 lines of tokens; run the tok"):
        build_vocabularies(folders, data(), settings())
    assert not folders.out.exists()


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ({"min_freq": 0, "max_size": None}, "tokenizers.words.encoding.min_freq: got 0"),
        ({"min_freq": 1, "max_size": 0}, "tokenizers.words.encoding.max_size: got 0"),
        ({"min_freq": 1}, "tokenizers.words.encoding.max_size: missing"),
        ({"min_freq": "2", "max_size": None}, "tokenizers.words.encoding.min_freq: got '2'"),
    ],
)
def test_settings_out_of_range_are_named(
    section: dict[str, Any], said: str, tmp_path: Path
) -> None:
    entry = settings().model_dump() | {"encoding": section}
    (tmp_path / "params.yaml").write_text(json.dumps({"tokenizers": {"words": entry}}))
    with pytest.raises(ParamsError, match=said):
        Params.read(tmp_path / "params.yaml").section("tokenizers.words", TokenizerSettings)


def test_the_stage_gives_the_same_bytes_whatever_the_hash_seed(
    folders: Folders, tmp_path: Path
) -> None:
    params = {"data": data().model_dump(), "tokenizers": {"words": settings().model_dump()}}
    (tmp_path / "params.yaml").write_text(json.dumps(params))
    results = []
    for seed in ("0", "1"):
        subprocess.run(
            [sys.executable, "-m", "pipeline.build_vocab", "--tokenizer", "words"]
            + ["--out", seed, "--raw", "raw", "--tokens", "tokens"],
            cwd=tmp_path,
            env={"PYTHONPATH": str(PROJECT), "PYTHONHASHSEED": seed},
            check=True,
        )
        results.append({p.name: p.read_bytes() for p in (tmp_path / seed / "words").iterdir()})
    assert results[0] == results[1]
    assert sorted(results[0]) == [
        "coverage.json",
        "de.json",
        "en.json",
        "spacing.json",
        "tokenizer.json",
    ]
