"""Text becomes token files: what editors and hosts leave in files does no harm, or is named."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy

from nmt.corpus.raw import read_raw, read_training_pairs
from nmt.corpus.settings import DataSettings
from nmt.corpus.tokens import read_tokenizer, read_tokens
from nmt.errors import DataError, ParamsError
from nmt.files import read_json
from nmt.params import Params
from nmt.tokenization.corpus import tokenize_corpus
from nmt.tokenization.settings import SpacySettings, TokenizerSettings
from nmt.tokenization.tokenizer import open_tokenizers

PROJECT = Path(__file__).parents[2]
GERMAN = ["Ein Mann schläft.", "Zwei Hunde spielen im Gras.", "Eine Frau, allein.", "Ein Ball."]
ENGLISH = ["A man is sleeping.", "Two dogs play on grass.", "A woman, alone.", "A ball."]
TOKENS = [
    ["ein", "mann", "schläft", "."],
    ["zwei", "hunde", "spielen", "im", "gras", "."],
    ["eine", "frau", ",", "allein", "."],
    ["ein", "ball", "."],
]


def data() -> DataSettings:
    names = [
        f"{split}.{language}" for split in ("train", "val", "test") for language in ["de", "en"]
    ]
    pin = {"rows": 1, "archive": "0" * 64, "text": "0" * 64}
    return DataSettings.model_validate(
        {
            "source_language": "de",
            "target_language": "en",
            "train": "train",
            "validation": "val",
            "tests": ("test",),
            "sources": (),
            "files": dict.fromkeys(names, pin),
        }
    )


def settings(**changes: Any) -> SpacySettings:
    values = {
        "spacy_source": "blank",
        "spacy_target": "blank",
        "lowercase": True,
        "normalize_spaces": False,
    }
    encoding = {"min_freq": 2, "max_size": None}
    return SpacySettings.model_validate(
        {"kind": "spacy", "splitting": values | changes, "encoding": encoding}
    )


def text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "raw"
    folder.mkdir()
    for split in ("train", "val", "test"):
        (folder / f"{split}.de").write_bytes(text(GERMAN))
        (folder / f"{split}.en").write_bytes(text(ENGLISH))
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "tokens"


def german(raw: Path, out: Path, name: str = "train.de", **changes: Any) -> list[list[str]]:
    tokenize_corpus(raw, out, data(), "words", settings(**changes))
    return read_tokens(out / f"{name}.jsonl")


# What is written


def test_tokens_counts_and_tokenizer_are_written(raw: Path, out: Path) -> None:
    assert german(raw, out) == TOKENS
    assert read_json(out / "counts.json")["dropped_training_pairs"] == 0
    assert read_json(out / "counts.json")["splits"]["val"] == {
        "de": {"sentences": 4, "tokens": 18, "longest": 6, "empty": 0},
        "en": {"sentences": 4, "tokens": 19, "longest": 6, "empty": 0},
    }
    assert read_tokenizer(out) == {
        "kind": "spacy",
        "name": "words",
        "spacy": spacy.__version__,
        "source": "de blank",
        "target": "en blank",
        "lowercase": "true",
        "normalize_spaces": "false",
    }
    assert len(list(out.iterdir())) == 8


def test_case_may_be_kept(raw: Path, out: Path) -> None:
    assert german(raw, out, lowercase=False)[0] == ["Ein", "Mann", "schläft", "."]
    assert read_tokenizer(out)["lowercase"] == "false"


def test_text_is_split_before_it_is_lower_cased() -> None:
    """The rules know abbreviations as they are written: lower-cased first, "u.s" lost its dot."""
    _, english = open_tokenizers("words", settings().splitting, "de", "en")
    assert english("Mr. Lee of the U.S. Army.") == ["mr.", "lee", "of", "the", "u.s.", "army", "."]


# White space


def test_white_space_may_be_a_token(raw: Path, out: Path) -> None:
    (raw / "train.de").write_bytes(
        text(["Ein  Mann.", " Zwei Hunde. ", "Ein\tBall", "ein\u00a0Ball"])
    )
    assert german(raw, out) == [
        ["ein", " ", "mann", "."],
        [" ", "zwei", "hunde", "."],
        ["ein", "\t", "ball"],
        ["ein", "\u00a0", "ball"],
    ]


def test_white_space_may_be_normalized_first(raw: Path, out: Path) -> None:
    dirty = ["Ein  Mann\u00a0\u202fschläft.", "\tZwei Hunde spielen   im Gras. "]
    (raw / "train.de").write_bytes(text([*dirty, *GERMAN[2:]]))
    assert german(raw, out, normalize_spaces=True) == TOKENS


def test_other_line_separators_end_no_line(raw: Path, out: Path) -> None:
    (raw / "train.de").write_bytes(
        text(["Ein\u2028Mann.", "Zwei\u0085Hunde.", "Ein\x0cBall.", "Da."])
    )
    assert len(german(raw, out)) == 4


# What editors leave in files


def test_byte_order_mark_and_carriage_returns_leave_no_trace(raw: Path, out: Path) -> None:
    (raw / "train.de").write_bytes(b"\xef\xbb\xbf" + text(GERMAN).replace(b"\n", b"\r\n"))
    assert german(raw, out) == TOKENS


def test_the_last_line_may_lack_its_end(raw: Path, out: Path) -> None:
    (raw / "train.de").write_bytes(text(GERMAN).removesuffix(b"\n"))
    assert german(raw, out) == TOKENS


def fails(raw: Path, out: Path) -> str:
    with pytest.raises(DataError) as error:
        tokenize_corpus(raw, out, data(), "words", settings())
    assert not out.exists()
    return str(error.value)


def test_sides_of_unlike_length_are_never_cut(raw: Path, out: Path) -> None:
    (raw / "train.en").write_bytes(text(ENGLISH[:3]))
    message = fails(raw, out)
    assert "train has 4 de and 3 en lines (4 v 3)" in message
    assert "line n of one side must translate line n of the other" in message


def test_a_blank_line_at_the_end_of_one_side_is_a_line(raw: Path, out: Path) -> None:
    (raw / "test.de").write_bytes(text([*GERMAN, ""]))
    assert "test has 5 de and 4 en lines (5 v 4)" in fails(raw, out)


def test_a_nul_byte_is_an_error_with_its_line(raw: Path, out: Path) -> None:
    (raw / "train.de").write_bytes(text(GERMAN).replace(b"Hunde", b"Hun\0e"))
    assert "train.de, line 2: a NUL byte, which no text holds" in fails(raw, out)


def test_latin1_is_an_error_with_its_byte(raw: Path, out: Path) -> None:
    (raw / "train.de").write_bytes("Ein Mann schläft.\n".encode("latin1"))
    message = fails(raw, out)
    assert "train.de, line 1: byte 0xE4 is not UTF-8" in message
    assert "iconv -f latin1 -t utf-8" in message


def test_a_missing_file_names_what_to_do(raw: Path, out: Path) -> None:
    (raw / "val.en").unlink()
    assert "val.en: no such file; run the stage that makes it first" in fails(raw, out)


# Blank lines


def test_training_pairs_with_a_blank_side_are_dropped_together(
    raw: Path, out: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (raw / "train.de").write_bytes(text([GERMAN[0], "", GERMAN[2], " \t"]))
    (raw / "train.en").write_bytes(text(ENGLISH))
    with caplog.at_level(logging.WARNING):
        assert german(raw, out) == [TOKENS[0], TOKENS[2]]
    assert [s[0:2] for s in read_tokens(out / "train.en.jsonl")] == [["a", "man"], ["a", "woman"]]
    assert read_json(out / "counts.json")["dropped_training_pairs"] == 2
    assert "train: dropped 2 of 4 pairs, a side of which is blank" in caplog.text
    pairs = read_training_pairs(raw, "train", "de", "en")
    assert (pairs.trg, pairs.dropped, len(pairs)) == ([ENGLISH[0], ENGLISH[2]], 2, 2)


@pytest.mark.parametrize("split", ["val", "test"])
def test_other_lines_are_never_dropped(split: str, raw: Path, out: Path) -> None:
    (raw / f"{split}.de").write_bytes(text([GERMAN[0], "", GERMAN[2], " \t"]))
    assert german(raw, out, f"{split}.de") == [TOKENS[0], [], TOKENS[2], []]
    counts = read_json(out / "counts.json")["splits"][split]
    assert (counts["de"]["sentences"], counts["de"]["empty"], counts["en"]["empty"]) == (4, 2, 0)


def test_no_training_pair_with_text_is_an_error(raw: Path, out: Path) -> None:
    (raw / "train.de").write_bytes(b"\n\n\n\n")
    assert "train has no pair with text on both sides; get it again" in fails(raw, out)


def test_an_empty_file_has_no_line(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert read_raw(tmp_path / "empty") == []


# spaCy pipelines


def install(folder: Path, name: str, language: str, version: str) -> None:
    """Lay a spaCy pipeline down as a package, which splits at hyphens in words too."""
    nlp = spacy.blank(language, meta={"name": "tiny", "version": version})
    infixes = [*nlp.Defaults.infixes, "-"]
    nlp.tokenizer.infix_finditer = spacy.util.compile_infix_regex(infixes).finditer
    (folder / name).mkdir(parents=True)
    nlp.to_disk(folder / name / "model")
    (folder / name / "__init__.py").write_text(
        "from pathlib import Path\nfrom spacy.util import load_model_from_path\n"
        "def load(**more):\n"
        "    return load_model_from_path(Path(__file__).parent / 'model', **more)\n"
    )
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def test_a_named_pipeline_splits_by_its_own_rules(
    raw: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "site", "de_tiny_web", "de", "1.2.3")
    monkeypatch.syspath_prepend(tmp_path / "site")
    (raw / "train.de").write_bytes(text(["Ein T-Shirt.", *GERMAN[1:]]))
    assert german(raw, out)[0] == ["ein", "t-shirt", "."]
    assert german(raw, out, spacy_source="de_tiny_web")[0] == ["ein", "t", "-", "shirt", "."]
    assert read_tokenizer(out)["source"] == "de de_tiny_web 1.2.3"


def test_a_pipeline_of_another_language_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "fr_tiny_web", "fr", "1.0")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        ParamsError, match="spacy_source: fr_tiny_web is for fr, but the language is de"
    ):
        open_tokenizers("words", settings(spacy_source="fr_tiny_web").splitting, "de", "en")


def test_a_missing_pipeline_is_told_before_any_file_is_read(tmp_path: Path, out: Path) -> None:
    with pytest.raises(ParamsError) as error:
        tokenize_corpus(
            tmp_path / "nothing here",
            out,
            data(),
            "words",
            settings(spacy_source="de_core_news_smX"),
        )
    assert str(error.value) == (
        "tokenizers.words.splitting.spacy_source: the spaCy pipeline de_core_news_smX is not "
        "installed; run `python -m spacy download de_core_news_smX`, or set "
        "tokenizers.words.splitting.spacy_source to blank"
    )


def test_a_package_that_is_no_pipeline_is_named() -> None:
    with pytest.raises(ParamsError, match="spacy_target: the package pytest can't be loaded as a"):
        open_tokenizers("words", settings(spacy_target="pytest").splitting, "de", "en")


@pytest.mark.parametrize("value", ["", "../de", "de core"])
def test_a_pipeline_is_a_name_and_no_path(value: str, tmp_path: Path) -> None:
    changed = settings().model_dump()
    changed["splitting"]["spacy_source"] = value
    (tmp_path / "params.yaml").write_text(json.dumps({"tokenizers": {"words": changed}}))
    with pytest.raises(ParamsError, match=r"tokenizers\.words\.splitting\.spacy_source: got"):
        Params.read(tmp_path / "params.yaml").section("tokenizers.words", TokenizerSettings)


# The stage script


def test_neither_locale_nor_hash_seed_matters(raw: Path, tmp_path: Path) -> None:
    params = {"data": data().model_dump(), "tokenizers": {"words": settings().model_dump()}}
    (tmp_path / "params.yaml").write_text(json.dumps(params))
    c_locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    results = []
    for seed, extra in (("0", c_locale), ("1", {"LC_ALL": "C.UTF-8"})):
        subprocess.run(
            [sys.executable, "-m", "pipeline.tokenize", "--tokenizer", "words"]
            + ["--raw", "raw", "--out", seed],
            cwd=tmp_path,
            env={"PYTHONPATH": str(PROJECT), "PYTHONHASHSEED": seed, "PATH": os.environ["PATH"]}
            | extra,
            check=True,
        )
        results.append({p.name: p.read_bytes() for p in (tmp_path / seed / "words").iterdir()})
    assert results[0] == results[1]
    assert "schläft".encode() in results[0]["train.de.jsonl"]
