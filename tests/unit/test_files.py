"""Files are written whole or not at all, and read strictly."""

import hashlib
from pathlib import Path

import pytest

from nmt import files
from nmt.corpus.tokens import read_parallel, read_tokens, write_tokens
from nmt.errors import DataError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_only_when_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.txt"
    with files.replacing(path) as temporary:
        temporary.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    assert names(path.parent) == ["file.txt"]


@pytest.mark.parametrize("folder", [False, True])
def test_after_an_error_the_old_one_stands_and_nothing_else(folder: bool, tmp_path: Path) -> None:
    path = tmp_path / "out"
    files.write_text(path / "a" if folder else path, "old")
    with pytest.raises(KeyboardInterrupt), files.replacing(path) as temporary:
        files.write_text(temporary / "a" if folder else temporary, "half")
        raise KeyboardInterrupt
    assert (path / "a" if folder else path).read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_a_folder_is_replaced_with_all_it_held(tmp_path: Path) -> None:
    path = tmp_path / "out"
    files.write_text(path / "old", "1")
    with files.replacing(path) as temporary:
        files.write_text(temporary / "new", "2")
    assert names(path) == ["new"]


def test_what_a_killed_run_left_is_cleared(tmp_path: Path) -> None:
    (tmp_path / ".out.partial").mkdir()
    (tmp_path / ".out.partial" / "half").touch()
    files.write_text(tmp_path / "out", "whole")
    assert names(tmp_path) == ["out"]


def test_a_link_into_a_cache_is_replaced_and_the_cache_left_alone(tmp_path: Path) -> None:
    cached, path = tmp_path / "cached", tmp_path / "out"
    cached.write_text("kept")
    path.hardlink_to(cached)
    files.write_text(path, "new")
    assert (cached.read_text(), path.read_text()) == ("kept", "new")
    path.unlink()
    path.symlink_to(cached)
    files.write_text(path, "newer")
    assert (cached.read_text(), path.read_text(), path.is_symlink()) == ("kept", "newer", False)


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\n\n", ["a", ""]),
        ("a\u2028b\x85c\x0bd\re\n".encode(), ["a\u2028b\x85c\x0bd\re"]),
    ],
)
def test_lines_end_at_the_newline_and_nowhere_else(
    data: bytes, lines: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "lines"
    path.write_bytes(data)
    assert files.read_lines(path) == lines
    files.write_lines(path, lines)
    assert files.read_lines(path) == lines


def test_a_missing_file_names_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none: no such file; run the stage that makes it first"):
        files.read_text(tmp_path / "none")


def test_a_byte_that_is_not_utf8_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "latin1").write_bytes(b"eins\nM\xe4dchen\n")
    with pytest.raises(DataError, match=r"latin1, line 2: byte 0xE4 is not UTF-8; convert"):
        files.read_text(tmp_path / "latin1")


def test_json_has_sorted_keys_and_a_last_line_end(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    files.write_json(path, {"b": [1.5, None], "a": "ü"})
    assert path.read_bytes().decode() == ('{\n  "a": "ü",\n  "b": [\n    1.5,\n    null\n  ]\n}\n')
    assert files.read_json(path) == {"a": "ü", "b": [1.5, None]}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_never_written(value: float, tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    with pytest.raises(ValueError, match="not JSON compliant"):
        files.write_json(path, {"score": value})
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": NaN}', "NaN is not a JSON number; the file is not strict JSON"),
        ('{"a": -Infinity}', "-Infinity is not a JSON number"),
        ('{"a":', "not JSON .*; run the stage that makes it again"),
        ("", "not JSON"),
    ],
)
def test_what_is_not_strict_json_is_named(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    path.write_text(text)
    with pytest.raises(DataError, match=said) as error:
        files.read_json(path)
    assert str(error.value).startswith(str(path))


def test_json_lines_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "values.jsonl"
    files.write_jsonl(path, [{"b": 1, "a": "\u2028\r\n"}, []])
    assert files.read_jsonl(path) == [{"a": "\u2028\r\n", "b": 1}, []]
    assert path.read_bytes().count(b"\n") == 2
    path.write_text("[]\n[\n")
    with pytest.raises(DataError, match=r"values\.jsonl, line 2: not JSON"):
        files.read_jsonl(path)


def test_the_hash_is_of_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\0\xff\r\n")
    assert files.sha256(path) == hashlib.sha256(b"\0\xff\r\n").hexdigest()


# Token files


def test_any_token_fits_a_token_file(tmp_path: Path) -> None:
    path = tmp_path / "val.de.jsonl"
    sentences = [["ein", " ", "\u00a0", '"', "\\", "\u2028"], [], ["", "<eos>", "\t"]]
    write_tokens(path, sentences)
    assert read_tokens(path) == sentences


@pytest.mark.parametrize("line", ['{"a": 1}', '"a b"', '["a", 1]', "null"])
def test_a_line_that_is_no_list_of_tokens_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "val.de.jsonl"
    path.write_text(f'["a"]\n{line}\n')
    with pytest.raises(DataError, match=r"val\.de\.jsonl, line 2: expected a JSON array of str"):
        read_tokens(path)


def test_sides_of_unlike_length_are_told_with_both_numbers(tmp_path: Path) -> None:
    write_tokens(tmp_path / "val.de.jsonl", [["a"], ["b"]])
    write_tokens(tmp_path / "val.en.jsonl", [["a"]])
    with pytest.raises(DataError, match="val has 2 de and 1 en sentences; the sides must pair"):
        read_parallel(tmp_path, "val", "de", "en")
