"""Each stage, run by itself: it reads what dvc.yaml says, all of it and nothing else."""

import pytest

from nmt.dag import stages
from nmt.provenance.code import code_units, import_closure
from tests.graph.reads import leaves, reads, undeclared_files, unread_deps
from tests.world.project import ROOT, World

STAGES = (
    "download",
    "tokenize@words",
    "tokenize@pieces",
    "build_vocab@words",
    "build_vocab@pieces",
    "prepare@additive",
    "train@additive-1",
    "translate@additive-1",
    "translate_ensemble@additive",
    "evaluate@additive-1",
    "evaluate_ensemble@additive",
    "plot",
    "report",
)

# The report shows the settings of the grid's models and their tokenizers. A list of keys made from
# a list is more than dvc.yaml can say, so the key of any makes the report stale; it takes seconds.
# Pictures are of single models, but an ensemble that leaves the grid leaves a folder that they
# depend on; as does a tokenizer that is no more, for what a model reads.
DECLARED_AND_UNREAD = {
    "report": (
        *(f"models.{name}." for name in ("fed_back", "hard", "subwords", "transformer")),
        "tokenizers.pieces.",
    ),
    "plot": ("grid.ensembles",),
    "prepare@additive": ("tokenizers.",),
}


@pytest.fixture(scope="module")
def copied(finished: World, tmp_path_factory: pytest.TempPathFactory) -> World:
    """Return a copy of the small world in which stages are run again, with the same result."""
    return finished.copy(tmp_path_factory.mktemp("reads"))


@pytest.mark.parametrize("address", STAGES)
def test_reads_what_it_declares(copied: World, finished: World, address: str) -> None:
    stage = stages(copied.root)[address]
    found = reads(copied, stage)
    declared = leaves(copied, stage.params)
    spared = DECLARED_AND_UNREAD.get(address, "nothing")
    assert sorted(found.keys - declared) == [], "read, and not in params of dvc.yaml"
    unread = sorted(key for key in declared - found.keys if not key.startswith(spared))
    assert unread == [], "in params of dvc.yaml, and not read"
    assert undeclared_files(stage, found) == [], "read, and not in deps of dvc.yaml"
    assert unread_deps(stage, found) == [], "in deps of dvc.yaml, and not read"
    closure = {path.as_posix() for path in import_closure(ROOT, f"pipeline.{stage.name}")}
    assert sorted(found.modules - closure) == [], "loaded, and not found by reading the source"
    assert copied.files(*stage.outs) == finished.files(*stage.outs), "another result by itself"


@pytest.mark.parametrize("address", STAGES)
def test_deps_on_code_are_what_the_script_imports(finished: World, address: str) -> None:
    stage = stages(finished.root)[address]
    code = [dep for dep in stage.deps if dep.startswith(("src/", "pipeline/"))]
    assert code == [unit.as_posix() for unit in code_units(ROOT, stage.name)]


def test_a_key_that_is_read_on_the_sly_is_found(world: World) -> None:
    script = world.root / "pipeline/evaluate.py"
    text = script.read_text(encoding="utf-8")
    line = "    values = Params.read(params)\n"
    assert line in text
    script.write_text(text.replace(line, line + '    values.value("training.epochs")\n'))
    stage = stages(world.root)["evaluate@additive-1"]
    assert reads(world, stage).keys - leaves(world, stage.params) == {"training.epochs"}


def test_a_file_that_is_read_on_the_sly_is_found(world: World) -> None:
    script = world.root / "pipeline/tokenize.py"
    text = script.read_text(encoding="utf-8")
    line = "    values = Params.read(params)\n"
    assert line in text
    script.write_text(text.replace(line, line + '    Path("reports/bleu.csv").read_text()\n'))
    stage = stages(world.root)["tokenize@words"]
    assert undeclared_files(stage, reads(world, stage)) == ["reports/bleu.csv"]
