"""One change, and exactly the right stages are stale: for each key, and each package."""

import os
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from dvc.utils.serialize import parse_yaml

from nmt.dag import Stage, stages, stale
from nmt.params import Params
from nmt.run.inputs import flatten
from tests.world.project import ROOT, World, split_key

TRANSLATE, EVALUATE = "translate translate_ensemble", "evaluate evaluate_ensemble"
PARAMS = f"download tokenize build_vocab train {TRANSLATE} {EVALUATE} plot report"
ALL = f"{PARAMS} prepare"

# The longest prefix of a key counts. What follows a stale stage is stale only if results differ.
BY_KEY = {
    "data.source_language": PARAMS,
    "data.target_language": PARAMS,
    "data.train": "download tokenize build_vocab train report",
    "data.validation": "download tokenize build_vocab train report",
    "data.tests": f"download tokenize build_vocab {TRANSLATE} {EVALUATE} plot report",
    "data.sources": "download",
    "data.files": "download",
    "compute": f"train {TRANSLATE} plot report",
    "compute.processes": "train report",
    "tokenizers.words.kind": "tokenize@words build_vocab@words prepare report",
    "tokenizers.words.splitting": "tokenize@words prepare report",
    "tokenizers.words.encoding": "build_vocab@words prepare report",
    "tokenizers.pieces.kind": "tokenize@pieces build_vocab@pieces prepare report",
    "tokenizers.pieces.splitting": "tokenize@pieces prepare report",
    "tokenizers.pieces.encoding": "build_vocab@pieces prepare report",
    "models.baseline": "train@baseline-1 train@baseline-2 report",
    "models.additive": "train@additive-1 train@additive-2 report",
    "models.baseline.tokenizer": "prepare@baseline train@baseline-1 train@baseline-2 report",
    "models.additive.tokenizer": "prepare@additive train@additive-1 train@additive-2 report",
    "models.fed_back": "report",
    "models.hard": "report",
    "models.subwords": "report",
    "models.transformer": "report",
    "training": "train report",
    "decoding": TRANSLATE,
    "evaluation": EVALUATE,
    "evaluation.tokenizer": f"{EVALUATE} report",
    "evaluation.bleu_tokenizer": f"{EVALUATE} report",  # for the significance tests
    "plots": "plot",
    "report": "report",
}

BY_FILE = {
    "pipeline/__init__.py": ALL,
    "pipeline/train.py": "train",
    "pipeline/translate_ensemble.py": "translate_ensemble",
    "pipeline/run.py": "",
    "src/nmt/__init__.py": ALL,
    "src/nmt/audit/__init__.py": "",
    "src/nmt/cli.py": "",
    "src/nmt/compare/__init__.py": "",
    "src/nmt/history/__init__.py": "",
    "src/nmt/corpus/vocabulary.py": ALL,
    "src/nmt/dag.py": "",
    "src/nmt/decoding/search.py": TRANSLATE,
    "src/nmt/describe.py": "",
    "src/nmt/device.py": f"train {TRANSLATE} plot",
    "src/nmt/download/web.py": "download",
    "src/nmt/ensembles.py": f"{TRANSLATE} {EVALUATE} plot report",
    "src/nmt/evaluation/metrics.py": f"{EVALUATE} report",
    "src/nmt/grid.py": "translate_ensemble evaluate_ensemble plot report",
    "src/nmt/model/attention.py": f"train {TRANSLATE} plot",
    "src/nmt/pieces/draws.py": "tokenize build_vocab train",
    "src/nmt/plots/heatmaps.py": "plot",
    "src/nmt/prepared.py": f"prepare train {TRANSLATE} plot",
    "src/nmt/provenance/git.py": "",
    "src/nmt/results/__init__.py": "",
    "src/nmt/report/tables.py": "report",
    "src/nmt/run/locks.py": "",
    "src/nmt/settings.py": "",
    "src/nmt/spacing/counts.py": f"build_vocab {TRANSLATE}",
    "src/nmt/tokenization/corpus.py": f"tokenize build_vocab {EVALUATE}",
    "src/nmt/tracking/store.py": "",
    "src/nmt/training/trainer.py": "train",
    "src/nmt/translations/attention.py": f"{TRANSLATE} {EVALUATE} plot report",
    "src/nmt/validation/greedy.py": f"train {TRANSLATE}",
    "src/nmt/vocab/build.py": "build_vocab",
    "Makefile": "",
    "Snakefile": "",
}

SMALL = Params.read(ROOT / "tests/world/params.yaml")
KEYS = [key for key in flatten("", {n: SMALL.value(n) for n in SMALL.names()}) if key[:4] != "grid"]


@pytest.fixture(scope="module")
def copied(finished: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Return a copy of the small world for one change at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DVC_SITE_CACHE_DIR", str(tmp_path_factory.mktemp("site")))
        patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
        for module in ("serialize._yaml", "strictyaml"):
            patch.setattr(f"dvc.utils.{module}.parse_yaml", parsed_once(parse_yaml))
        yield finished.copy(tmp_path_factory.mktemp("stale"))


def parsed_once(parse: Callable[..., Any]) -> Callable[..., Any]:
    """Return a parser that remembers: DVC reads one and the same file for each stage anew."""
    remembered = cache(parse)
    return lambda *args, **kwargs: deepcopy(remembered(*args, **kwargs))


def test_nothing_is_stale_after_a_run(copied: World) -> None:
    assert stale(copied.root) == set()


@pytest.mark.parametrize("key", KEYS)
def test_a_changed_key_makes_its_stages_stale(copied: World, key: str) -> None:
    params = copied.root / "params.yaml"
    before = params.read_bytes()
    copied.set(key, another(Params.read(params), key))
    try:
        prefix = max((p for p in BY_KEY if f"{key}.".startswith(f"{p}.")), key=len)
        assert stale(copied.root) == addresses(copied, BY_KEY[prefix])
    finally:
        params.write_bytes(before)


def test_another_training_of_one_model_makes_no_other_stale(copied: World) -> None:
    params = copied.root / "params.yaml"
    before = params.read_bytes()
    copied.set("models.additive.training", {"teacher_forcing": {"end": 0.5}})
    try:
        assert stale(copied.root) == addresses(copied, BY_KEY["models.additive"])
    finally:
        params.write_bytes(before)


@pytest.mark.parametrize("file", BY_FILE)
def test_changed_code_makes_its_stages_stale(copied: World, file: str) -> None:
    path = copied.root / file
    before = path.read_bytes()
    path.write_bytes(before + b"# A comment.\n")
    try:
        assert stale(copied.root) == addresses(copied, BY_FILE[file])
    finally:
        path.write_bytes(before)


def test_a_new_file_in_a_package_makes_its_stages_stale(copied: World) -> None:
    path = copied.root / "src/nmt/decoding/sampling.py"
    path.touch()
    try:
        assert stale(copied.root) == addresses(copied, TRANSLATE)
    finally:
        path.unlink()


def test_byte_code_makes_nothing_stale(copied: World) -> None:
    path = copied.root / "src/nmt/decoding/__pycache__/sampling.cpython-311.pyc"
    path.parent.mkdir(exist_ok=True)
    path.touch()
    assert stale(copied.root) == set()


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("grid.seeds", [1, 2, 3], "train translate evaluate"),
        ("grid.models", ["baseline", "additive", "fed_back"], "prepare train translate evaluate"),
        ("grid.models", ["additive"], ""),
        ("grid.seeds", [1], ""),
        ("grid.ensembles", [], ""),
        ("grid.ensembles", ["additive", "baseline"], "translate_ensemble evaluate_ensemble"),
    ],
)
def test_a_changed_grid_makes_the_new_stages_stale(
    copied: World, key: str, value: list[Any], expected: str
) -> None:
    """And with the seeds, the ensembles of all models; no training that there was."""
    params = copied.root / "params.yaml"
    before, known = params.read_bytes(), set(stages(copied.root))
    copied.set(key, value)
    try:
        wanted = set(expected.split())
        new = {s.address for s in stages(copied.root).values() if s.name in wanted} - known
        assert bool(new) == bool(expected)
        of_seeds = "translate_ensemble evaluate_ensemble" if key == "grid.seeds" else ""
        assert stale(copied.root) == new | addresses(copied, f"{of_seeds} plot report")
    finally:
        params.write_bytes(before)


def test_the_tables_leave_out_no_key_and_no_package() -> None:
    names = set(Params.read(ROOT / "params.yaml").names())
    assert {key.partition(".")[0] for key in BY_KEY} | {"grid"} == names
    units = {p for p in (ROOT / "src/nmt").iterdir() if p.is_dir() and any(p.glob("*.py"))}
    covered = {ROOT / Path(*Path(file).parts[:3]) for file in BY_FILE}
    assert sorted(units - covered) == []


@cache
def _stages(root: Path) -> list[Stage]:
    return list(stages(root).values())


def addresses(world: World, names: str) -> set[str]:
    """Return the addresses of stages; a name such as "train" stands for all its stages."""
    wanted = set(names.split())
    return {stage.address for stage in _stages(world.root) if {stage.name, stage.address} & wanted}


def another(params: Params, key: str) -> Any:
    """Return a value that differs from the one of a key."""
    value: Any = params.value(split_key(key)[0])
    for part in split_key(key)[1:]:
        value = value[part]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, list):
        return [*value, "more"]
    return 7 if value is None else f"{value}x"
