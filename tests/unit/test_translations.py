"""Files of hypotheses, attention and their record: what is written is read, damage is told."""

import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from nmt.errors import DataError
from nmt.translations import (
    Hypothesis,
    Record,
    read_attention,
    read_hypotheses,
    read_record,
    write_attention,
    write_hypotheses,
    write_record,
)

PLAIN = Hypothesis(["a", "man", "."], "a man.", -1.25, False, 0, 1, 4)
EMPTY = Hypothesis([], "", 0.0, False, 0, 0, 0)
ODD = Hypothesis(["größe", "\u2028", " "], "größe \u2028", -3e-7, True, 2, 2, 2)
RECORD = Record(
    "additive", 1, 7_000_000, 8, {"beam": 5, "length_penalty": 1.0}, {"kind": "x"}, "de", "en"
)


def test_hypotheses_come_back_in_order(tmp_path: Path) -> None:
    write_hypotheses(tmp_path, "test", [PLAIN, EMPTY, ODD])
    assert read_hypotheses(tmp_path, "test") == [PLAIN, EMPTY, ODD]


def test_text_file_has_one_line_a_sentence(tmp_path: Path) -> None:
    write_hypotheses(tmp_path, "test", [PLAIN, EMPTY, ODD])
    text = (tmp_path / "test.txt").read_bytes().decode()
    assert text == "a man.\n\ngröße \u2028\n"


def test_hypotheses_have_sorted_keys_and_plain_letters(tmp_path: Path) -> None:
    write_hypotheses(tmp_path, "test", [ODD])
    line = (tmp_path / "test.jsonl").read_text("utf-8")
    assert "größe" in line
    assert list(json.loads(line)) == sorted(asdict(ODD))


def test_no_hypotheses_are_an_empty_file(tmp_path: Path) -> None:
    write_hypotheses(tmp_path, "test", [])
    assert read_hypotheses(tmp_path, "test") == []
    assert (tmp_path / "test.txt").read_bytes() == b""


def test_text_with_a_line_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"test, hypothesis 2: the text 'a\\nb' holds a line end"):
        write_hypotheses(tmp_path, "test", [PLAIN, replace(PLAIN, text="a\nb")])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{}", r"test\.jsonl, line 2: tokens: .*; run the translate stage again"),
        ("[]", r"test\.jsonl, line 2: the line: .*; run the translate stage again"),
        (json.dumps({**asdict(PLAIN), "cut": "no"}), r"line 2: cut: .*bool"),
        (json.dumps({**asdict(PLAIN), "tokens": ["a", 1]}), r"line 2: tokens\.1: .*string"),
        ('{"log_probability": NaN}', r"line 2: NaN is not a JSON number"),
        ("{", r"line 2: not JSON"),
    ],
)
def test_damaged_hypotheses_name_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    good = json.dumps(asdict(PLAIN))
    (tmp_path / "test.jsonl").write_text(f"{good}\n{line}\n", "utf-8")
    with pytest.raises(DataError, match=message):
        read_hypotheses(tmp_path, "test")


def test_missing_files_name_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"test\.jsonl: no such file; run the stage"):
        read_hypotheses(tmp_path, "test")
    with pytest.raises(DataError, match=r"safetensors: no such file; run the translate stage"):
        read_attention(tmp_path, "test")
    with pytest.raises(DataError, match=r"record\.json: no such file; run the stage"):
        read_record(tmp_path)


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_attention_comes_back_whatever_the_shapes(tmp_path: Path, rows: int) -> None:
    random = np.random.default_rng(0)
    shapes = [(rows, 3, 4), (rows, 0, 1), (rows, 1, 7)]
    weights = [random.random(shape, dtype=np.float32) for shape in shapes]
    write_attention(tmp_path, "test", weights)
    found = read_attention(tmp_path, "test")
    assert [w.shape for w in found] == shapes
    for got, expected in zip(found, weights, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_no_attention_at_all(tmp_path: Path) -> None:
    write_attention(tmp_path, "test", [])
    assert read_attention(tmp_path, "test") == []


def test_attention_files_are_equal_bytes(tmp_path: Path) -> None:
    weights = [np.full((1, 2, 2), 0.5, np.float32)]
    write_attention(tmp_path, "one", weights)
    write_attention(tmp_path, "two", weights)
    one, two = (tmp_path / f"{name}.safetensors" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_damaged_attention_is_told(tmp_path: Path) -> None:
    path = tmp_path / "test.safetensors"
    path.write_bytes(b"rubbish")
    with pytest.raises(DataError, match=r"test\.safetensors: not an attention file"):
        read_attention(tmp_path, "test")
    shapes = np.array([[1, 2, 3]], np.int32)
    save_file({"shapes": shapes, "weights": np.zeros(5, np.float32)}, path)
    with pytest.raises(DataError, match="expected 6 weights by its shapes, got 5"):
        read_attention(tmp_path, "test")


def test_record_comes_back(tmp_path: Path) -> None:
    write_record(tmp_path, RECORD)
    assert read_record(tmp_path) == RECORD


def test_damaged_record_names_the_field(tmp_path: Path) -> None:
    values = {**asdict(RECORD), "seed": "one"}
    (tmp_path / "record.json").write_text(json.dumps(values), "utf-8")
    with pytest.raises(DataError, match=r"record\.json: seed\.int: .*; run the translate stage"):
        read_record(tmp_path)


def test_reading_needs_no_torch() -> None:
    code = "import sys, nmt.translations; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
