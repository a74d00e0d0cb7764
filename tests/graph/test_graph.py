"""dvc.yaml, the scripts, the files on disk and the Snakefile tell of one graph."""

import re
from pathlib import Path

import pytest
from dvc.utils.hydra import apply_overrides
from ruamel.yaml import YAML

from nmt.dag import followers, stages
from nmt.params import Params
from nmt.provenance.hashes import IGNORED
from nmt.run.stage import stage_names
from nmt.settings import ENTRIES, SECTIONS, every_key
from tests.world.project import ROOT, World

FLOW = [
    "download", "tokenize", "build_vocab", "prepare", "train", "translate", "translate_ensemble",
    "evaluate", "evaluate_ensemble", "plot", "report",
]  # fmt: skip


def test_stages_and_scripts_have_the_same_names() -> None:
    written = YAML(typ="safe").load(ROOT / "dvc.yaml")["stages"]
    assert list(written) == FLOW
    assert stage_names(ROOT) == sorted(FLOW)


def test_each_stage_is_described() -> None:
    written = YAML(typ="safe").load(ROOT / "dvc.yaml")["stages"]
    assert [
        name
        for name, stage in written.items()
        if not stage.get("do", stage).get("desc", "").endswith(".")
    ] == []


def test_each_stage_is_run_by_its_script_with_its_tokenizer_or_model_and_seed(
    finished: World,
) -> None:
    for stage in stages(finished.root).values():
        name, _, item = stage.address.partition("@")
        model, _, seed = item.partition("-")
        what = "tokenizer" if name in ("tokenize", "build_vocab") else "model"
        options = f" --{what} {model}" if model else ""
        options += f" --seed {seed}" if seed else ""
        assert stage.command == f"python -m pipeline.run {name}{options}"


@pytest.mark.parametrize("world", ["project", "small world"])
def test_the_grid_makes_the_stages(finished: World, world: str) -> None:
    root = ROOT if world == "project" else finished.root
    grid = Params.read(root / "params.yaml").value("grid")
    items = [f"{model}-{seed}" for model in grid["models"] for seed in grid["seeds"]]
    expected = ["download", "plot", "report"]
    for tokenizer in Params.read(root / "params.yaml").names("tokenizers"):
        expected += [f"tokenize@{tokenizer}", f"build_vocab@{tokenizer}"]
    expected += [f"prepare@{model}" for model in grid["models"]]
    expected += [f"{name}@{item}" for name in ("train", "translate", "evaluate") for item in items]
    for model in grid["ensembles"]:
        expected += [f"translate_ensemble@{model}", f"evaluate_ensemble@{model}"]
    assert sorted(stages(root)) == sorted(expected)


def test_an_ensemble_stands_after_all_trainings_of_its_model(finished: World) -> None:
    found = stages(finished.root)
    needs = found["translate_ensemble@additive"].needs
    assert [need for need in needs if need.startswith("train@")] == [
        "train@additive-1",
        "train@additive-2",
    ]
    assert "translate_ensemble@additive" in found["evaluate_ensemble@additive"].needs
    assert "evaluate_ensemble@additive" in found["report"].needs


def test_a_stage_stands_after_those_that_it_needs() -> None:
    found = stages(ROOT)
    seen: set[str] = set()
    for address, stage in found.items():
        assert set(stage.needs) <= seen
        seen.add(address)
    assert followers(found, {"download"}) == set(found)
    assert followers(found, {"report"}) == {"report"}


def test_every_dep_on_code_exists() -> None:
    code = {dep for stage in stages(ROOT).values() for dep in stage.deps if _is_code(dep)}
    assert sorted(dep for dep in code if not (ROOT / dep).exists()) == []


def test_every_dep_on_data_is_made_by_a_stage(finished: World) -> None:
    found = stages(finished.root)
    outs = [out for stage in found.values() for out in stage.outs]
    for stage in found.values():
        for dep in filter(lambda dep: not _is_code(dep), stage.deps):
            below = (Path(out).is_relative_to(dep) or Path(dep).is_relative_to(out) for out in outs)
            assert any(below), f"{stage.address}: no stage makes {dep}"
            assert (finished.root / dep).exists()


def test_everything_that_stages_make_is_an_output(finished: World) -> None:
    outs = [out for stage in stages(finished.root).values() for out in stage.outs]
    made = finished.files("data", "models", "translations", "reports")
    assert made
    assert [path for path in made if not any(Path(path).is_relative_to(out) for out in outs)] == []


def test_the_rules_of_the_snakefile_are_the_stages(finished: World) -> None:
    output = finished.run("snakemake", "--list-rules", "--quiet", "all")
    rules = re.findall(r"^[a-z]\w+$", output, re.MULTILINE)
    assert sorted(rules) == sorted(["all", *map(_rule, stages(finished.root))])


def test_the_same_files_are_no_part_of_a_hash_for_dvc_and_for_mlflow() -> None:
    lines = (ROOT / ".dvcignore").read_text(encoding="utf-8").split("\n")
    assert [line for line in lines if line and not line.startswith("#")] == list(IGNORED)


@pytest.mark.parametrize("file", ["params.yaml", "tests/world/params.yaml"])
def test_a_params_file_has_the_sections_in_the_order_of_the_table(file: str) -> None:
    sections = [key.removesuffix(ENTRIES) for key in SECTIONS]
    assert Params.read(ROOT / file).names() == sections


def test_stages_read_keys_that_the_sections_have() -> None:
    """A key that is misspelt in dvc.yaml would never be seen to change."""
    params = Params.read(ROOT / "params.yaml")
    for stage in stages(ROOT).values():
        for key in stage.params:
            params.value(key)


def test_no_key_is_one_that_dvc_passes_over() -> None:
    """Where DVC 3.67 looks for an earlier result, it leaves out keys of these names: its own."""
    told = {key.name for key in every_key()}
    assert [name for name in told if name.rpartition(".")[2] in ("size", "nfiles")] == []


def test_an_experiment_s_change_leaves_the_comments(tmp_path: Path) -> None:
    """`dvc exp run -S` writes the file anew, and loses comments that stand behind a block list."""
    path = tmp_path / "params.yaml"
    before = (ROOT / "params.yaml").read_text(encoding="utf-8")
    path.write_text(before, encoding="utf-8")
    apply_overrides(path, ["models.additive.hidden=256"])
    after = path.read_text(encoding="utf-8")
    assert "hidden: 256" in after
    assert re.findall("#.*", after) == re.findall("#.*", before)


def test_every_section_is_told_key_by_key() -> None:
    told = {key.name for key in every_key()}
    assert {"models.NAME.hidden", "models.NAME.training", "training.teacher_forcing.start"} < told


def _is_code(dep: str) -> bool:
    return dep.startswith(("src/", "pipeline/"))


def _rule(address: str) -> str:
    return address.replace("@", "_").replace("-", "_")
