"""params.yaml: what is unknown, missing, mistyped or out of range is named by its dotted key."""

from pathlib import Path
from typing import Literal

import pytest
from pydantic import Field

from nmt.corpus.settings import DataSettings
from nmt.errors import ParamsError
from nmt.params import Params, Settings

PROJECT = Path(__file__).parents[2]


class Inner(Settings):
    start: float = Field(ge=0, le=1)


class Section(Settings):
    rate: float = Field(gt=0)
    steps: int = Field(ge=1)
    name: Literal["adam", "adamw"]
    tests: tuple[str, ...]
    limit: int | None
    on: bool
    inner: Inner


GOOD = """\
part:
  rate: 3e-3
  steps: 10
  name: adam
  tests: [a, b]
  limit: null
  on: true
  inner:
    start: 1.0
"""


def params(tmp_path: Path, text: str) -> Params:
    path = tmp_path / "params.yaml"
    path.write_text(text, encoding="utf-8")
    return Params.read(path)


def test_a_section_is_read_as_its_model(tmp_path: Path) -> None:
    section = params(tmp_path, GOOD).section("part", Section)
    assert section == Section(
        rate=0.003,
        steps=10,
        name="adam",
        tests=("a", "b"),
        limit=None,
        on=True,
        inner=Inner(start=1.0),
    )
    assert params(tmp_path, GOOD).section("part.inner", Inner).start == 1.0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("steps: 10", "stepz: 10", "part.stepz: unknown key; remove it or correct its name"),
        ("steps: 10", "stepz: 10", "part.steps: missing; add it (there are no hidden defaults)"),
        ("    start: 1.0", "    {}", "part.inner.start: missing"),
        ("steps: 10", "steps: '10'", "part.steps: got '10'; Input should be a valid integer"),
        ("steps: 10", "steps: 10.5", "part.steps: got 10.5;"),
        ("steps: 10", "steps: true", "part.steps: got True;"),
        ("steps: 10", "steps: 0", "part.steps: got 0; Input should be greater than or equal to 1"),
        ("rate: 3e-3", "rate: .nan", "part.rate: got"),
        ("rate: 3e-3", "rate: .inf", "part.rate: got"),
        ("on: true", "on: 1", "part.on: got 1;"),
        ("on: true", "on: yes", "part.on: got 'yes';"),  # YAML 1.2, as DVC reads it
        ("name: adam", "name: sgd", "part.name: got 'sgd'; Input should be 'adam' or 'adamw'"),
        ("[a, b]", "[a, 1]", "part.tests.1: got 1;"),
        ("limit: null", "limit: none", "part.limit: got 'none';"),
        ("start: 1.0", "start: 1.5", "part.inner.start: got 1.5;"),
    ],
)
def test_what_is_wrong_is_named(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in GOOD
    with pytest.raises(ParamsError) as error:
        params(tmp_path, GOOD.replace(old, new)).section("part", Section)
    assert said in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "params.yaml"))


def test_all_that_is_wrong_is_named_at_once(tmp_path: Path) -> None:
    text = GOOD.replace("steps: 10", "steps: 0").replace("name: adam", "name: sgd")
    with pytest.raises(ParamsError, match=r"part\.steps: .*; part\.name: "):
        params(tmp_path, text).section("part", Section)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("other", "other is missing; the file has: part"),
        ("part.other", "part.other is missing; part has: rate, steps, name"),
        ("part.rate.deep", "part.rate.deep is missing; part.rate has: nothing"),
    ],
)
def test_a_missing_section_is_named_with_what_there_is(key: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match=said):
        params(tmp_path, GOOD).section(key, Section)


def test_names_and_values_are_in_file_order(tmp_path: Path) -> None:
    values = params(tmp_path, GOOD)
    assert values.names() == ["part"]
    assert values.names("part")[:3] == ["rate", "steps", "name"]
    assert values.value("part.inner.start") == 1.0
    with pytest.raises(ParamsError, match=r"part\.rate: expected a mapping, got 0\.003"):
        values.names("part.rate")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected a mapping of sections, got None"),
        ("- a", r"expected a mapping of sections, got \['a'\]"),
        ("a: [", "not readable as YAML"),
        ("a: 1\na: 2", "not readable as YAML: .*duplicate key"),
    ],
)
def test_a_file_that_is_no_params_file_is_named(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match=f"(?s){said}"):
        params(tmp_path, text)


def test_a_missing_or_latin1_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match=r"no such file; run from the project's folder"):
        Params.read(tmp_path / "params.yaml")
    (tmp_path / "latin1.yaml").write_bytes(b"a: \xe4")
    with pytest.raises(ParamsError, match=r"latin1\.yaml: not readable as YAML"):
        Params.read(tmp_path / "latin1.yaml")


# The `data` section of the project's own file

DATA = (PROJECT / "params.yaml").read_text(encoding="utf-8")


def test_any_pair_of_languages_can_be_chosen_with_the_tests_that_both_have(
    tmp_path: Path,
) -> None:
    french = DATA.replace("target_language: en", "target_language: fr")
    assert params(tmp_path, french).section("data", DataSettings).languages == ("de", "fr")
    czech = DATA.replace("target_language: en", "target_language: cs")
    with pytest.raises(ParamsError) as error:
        params(tmp_path, czech).section("data", DataSettings)
    assert "no entry in files for test_2017_flickr.cs, test_2017_mscoco.cs" in str(error.value)
    assert "choose splits that exist in both languages" in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("target_language: en", "target_language: de", "source_language and target_language must"),
        ("target_language: en", "target_language: xx", "data.target_language: got 'xx'"),
        ("validation: val", "validation: train", "a split may stand only once"),
        ("train: train", "train: ../train", "data.train: got '../train'"),
        ("      rows: 29000", "      rows: 0", "data.files.train.de.rows: got 0"),
        ("726e39b2", "726E39B2", "data.files.train.de.archive: got '726E39B2"),
    ],
)
def test_what_is_wrong_in_the_data_section_is_named(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    assert old in DATA
    with pytest.raises(ParamsError) as error:
        params(tmp_path, DATA.replace(old, new, 1)).section("data", DataSettings)
    assert said in str(error.value)
