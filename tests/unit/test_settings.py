"""The whole params file: sections in one table, and what must fit between them."""

import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from nmt.errors import ParamsError
from nmt.model.settings import read_model
from nmt.params import Params
from nmt.params_files import read_params
from nmt.run.inputs import flatten
from nmt.settings import SECTIONS, check, every_key
from nmt.training.settings import TrainingSettings, read_training
from tests.world.project import ROOT, World

PROJECT = ROOT / "params.yaml"
SMALL = ROOT / "tests/world/params.yaml"


OTHERS = sorted((ROOT / "params").rglob("*.yaml"))


@pytest.mark.parametrize("path", [PROJECT, SMALL], ids=str)
def test_the_params_files_are_in_order(path: Path) -> None:
    check(Params.read(path))


@pytest.mark.parametrize("path", OTHERS, ids=str)
def test_a_params_file_has_the_keys_of_the_project_s(path: Path) -> None:
    """In their order; it may have models of its own besides."""
    known = Params.read(PROJECT).names("models")
    own = [name for name in read_params(path).names("models") if name not in known]
    found = [key for key in keys_of(path) if not re.match(rf"models\.({'|'.join(own)})\.", key)]
    assert found == keys_of(PROJECT)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("data.target_language", "de", "data: got {"),
        ("training.epochs", 0, "training.epochs: got 0; Input should be greater than"),
        ("models.fed_back.cell", "gruu", "models.fed_back.cell: got 'gruu'; Input should be 'gru'"),
        ("models.fed_back.kind", "rnn",
         "models.fed_back.kind: got 'rnn'; name one of: 'recurrent', 'transformer'"),
        ("models.fed_back.kind", "transformer",
         "models.fed_back.width: missing; add it (there are no hidden defaults)"),
        ("models.transformer.heads", 3,
         "; Value error, width must be a multiple of heads, got 16 and 3"),
        ("models.fed_back.training", {"epochs": 0},
         "models.fed_back.training.epochs: got 0; Input should be greater than"),
        ("models.fed_back.training", {"epoch": 3},
         "models.fed_back.training.epoch: unknown key; remove it or correct its name"),
        ("models.fed_back.training", {"teacher_forcing": {"end": 1.5}},
         "models.fed_back.training.teacher_forcing.end: got 1.5; Input should be less than"),
        ("models.fed_back.training", {"teacher_forcing": None},
         "models.fed_back.training.teacher_forcing: got None; Input should be an object"),
        ("models.fed_back.training", None,
         "models.fed_back.training: got None; give a mapping with keys of training, {} to change "
         "none"),
        ("grid.models", ["baseline", "additive", "big"],
         "grid.models: got 'big', which is not in models (baseline, additive, fed_back, hard, "
         "subwords, transformer); name one of them"),
        ("models.hard.tokenizer", "letters",
         "models.hard.tokenizer: got 'letters', which is not in tokenizers (words, pieces)"),
        ("models.hard.tie_source", True,
         "models.hard.tie_source: got True, but tokenizers.words has a vocabulary for each"),
        ("tokenizers.pieces.splitting.joint", False,
         "models.subwords.tie_source: got True, but tokenizers.pieces has a vocabulary for each"),
        ("tokenizers.pieces.encoding.dropout", 1.0, "bpe needs a dropout below 1, got 1.0"),
        ("evaluation.tokenizer", "pieces",
         "evaluation.tokenizer: got 'pieces', which is not in tokenizers of kind spacy (words)"),
        ("grid.seeds", [2, 3], "plots.seed: got 1, which is not in grid.seeds (2, 3)"),
        ("grid.seeds", [1, 1], "seeds: [1, 1] holds one twice; name each once"),
        ("grid.ensembles", ["fed_back"],
         "ensembles: 'fed_back' is not in models (baseline, additive); name one of them"),
        ("grid.ensembles", ["additive"] * 2,
         "ensembles: ['additive', 'additive'] holds one twice; name each once"),
        ("grid.seeds", [1],
         "ensembles: an ensemble is of two seeds at least, and seeds has [1] alone; add a seed, "
         "or leave ensembles empty"),
        ("report.baseline", "fed_back",
         "report.baseline: got 'fed_back', which is not in grid.models (baseline, additive)"),
        ("plots.attention_test", "val",
         "plots.attention_test: got 'val', which is not in data.tests (test_one, test_two)"),
        ("plots.states_test", "test_three", "plots.states_test: got 'test_three', which is not"),
        ("plots.attention_sentences", [1, 13],
         "plots.attention_sentences: got 13, but test_one has 12 sentences"),
        ("plots.states_sentences", 13,
         "plots.states_sentences: got 13, but test_one has 12 sentences"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_named(
    tmp_path: Path, key: str, value: Any, message: str
) -> None:
    with pytest.raises(ParamsError) as error:
        check(changed(tmp_path, {key: value}))
    assert message in str(error.value)


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ParamsError) as error:
        check(changed(tmp_path, {"training.epochs": 0, "decoding.beam": "two"}))
    assert "training.epochs: got 0" in str(error.value)
    assert "decoding.beam: got 'two'" in str(error.value)


def test_a_problem_of_the_training_section_is_told_once(tmp_path: Path) -> None:
    with pytest.raises(ParamsError) as error:
        check(changed(tmp_path, {"training.epochs": 0}))
    assert str(error.value).count("epochs") == 1


def test_a_model_without_its_own_training_is_named(tmp_path: Path) -> None:
    values = YAML(typ="safe").load(SMALL)
    del values["models"]["fed_back"]["training"]
    with pytest.raises(ParamsError, match="models.fed_back.training is missing"):
        check(written(tmp_path, values))


def test_a_model_is_trained_as_the_section_says_but_for_its_own_entry(tmp_path: Path) -> None:
    own = {"epochs": 7, "clip_norm": None, "teacher_forcing": {"end": 0.5}}
    params = changed(tmp_path, {"models.additive.training": own})
    check(params)
    section = params.section("training", TrainingSettings)
    assert read_training(params, "baseline") == section
    found = read_training(params, "additive").model_dump()
    forcing = section.teacher_forcing.model_dump() | {"end": 0.5}
    expected = section.model_dump() | own | {"teacher_forcing": forcing}
    assert found == expected != section.model_dump()
    assert "training" not in read_model(params, "additive").model_dump()


def test_an_unknown_section_is_named(tmp_path: Path) -> None:
    values = YAML(typ="safe").load(SMALL)
    with pytest.raises(ParamsError, match="trainning: unknown section; remove it or correct its"):
        check(written(tmp_path, values | {"trainning": values["training"]}))


@pytest.mark.parametrize("section", sorted({key.partition(".")[0] for key in SECTIONS}))
def test_a_missing_section_is_named(tmp_path: Path, section: str) -> None:
    values = YAML(typ="safe").load(SMALL)
    del values[section]
    with pytest.raises(ParamsError, match=f"{section} is missing"):
        check(written(tmp_path, values))


@pytest.mark.parametrize("name", ["a-1", "a b", "ä", "a.b", "../a"])
def test_a_model_s_name_must_do_for_a_folder(tmp_path: Path, name: str) -> None:
    values = YAML(typ="safe").load(SMALL)
    values["models"][name] = values["models"]["baseline"]
    with pytest.raises(ParamsError, match="letters A to Z, digits and _ alone; rename it"):
        check(written(tmp_path, values))


def test_every_key_has_a_description() -> None:
    assert [key.name for key in every_key() if not key.meaning] == []


def changed(tmp_path: Path, values: dict[str, Any]) -> Params:
    """Return the small world's params with other values."""
    world = World(tmp_path)
    world.root.mkdir()
    (world.root / "params.yaml").write_bytes(SMALL.read_bytes())
    for key, value in values.items():
        world.set(key, value)
    return Params.read(world.root / "params.yaml")


def written(tmp_path: Path, values: dict[str, Any]) -> Params:
    """Return the params that a file with these values holds."""
    path = tmp_path / "params.yaml"
    YAML().dump(values, path)
    return Params.read(path)


def keys_of(path: Path) -> list[str]:
    """Return the dotted keys of a params file; a model's own training is one, whatever it has."""
    params = read_params(path)
    found = [key for name in params.names() for key in flatten(name, params.value(name))]
    return list(dict.fromkeys(re.sub(r"^(models\.\w+\.training)\..*", r"\1", key) for key in found))
