"""What the grid no longer has is set aside before stages that read whole folders."""

from pathlib import Path

import pytest

from nmt.params import Params
from nmt.run.prune import prune
from tests.unit.fake_project import PARAMS, Project


def test_sets_aside_what_the_grid_no_longer_has(tmp_path: Path) -> None:
    keep = [
        "models/a/1/weights",
        "models/a/.gitignore",
        "models/a/.3.partial/weights",
        "translations/b/2/record.json",
        "translations/b/ensemble/record.json",
        "reports/scores/a-1.json",
        "reports/scores/b-ensemble.json",
        "reports/scores/.gitignore",
        "reports/bleu.md",
        "data/tokens/words/train",
        "data/vocab/words/de.json",
        "data/prepared/a/spacing.json",
        "data/raw/train.de",
    ]
    extra = [
        "models/a/3/weights",
        "models/old/1/weights",
        "models/old/.gitignore",
        "models/b/ensemble/weights",
        "translations/a/ensemble/record.json",
        "translations/old/1/record.json",
        "reports/scores/a-3.json",
        "reports/scores/a-ensemble.json",
        "reports/scores/old-1.json",
        "data/tokens/old/train",
        "data/tokens/train.de.jsonl",
        "data/vocab/old/de.json",
        "data/prepared/old/spacing.json",
    ]
    for name in keep + extra:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "params.yaml").write_text(PARAMS)
    params = Params.read(tmp_path / "params.yaml")
    moved = [
        "models/a/3",
        "models/b/ensemble",
        "models/old/1",
        "reports/scores/a-3.json",
        "reports/scores/a-ensemble.json",
        "reports/scores/old-1.json",
        "translations/a/ensemble",
        "translations/old/1",
        "data/prepared/old",
        "data/tokens/old",
        "data/tokens/train.de.jsonl",
        "data/vocab/old",
    ]
    assert [path.as_posix() for path in prune(tmp_path, params)] == moved
    left = {
        p.relative_to(tmp_path).as_posix() for p in tmp_path.glob("[dmrt]*/**/*") if p.is_file()
    }
    assert left == set(keep)
    assert not (tmp_path / "models/old").exists()
    aside = tmp_path / ".nmt/pruned"
    assert (aside / "models/old/1/weights").read_text() == "models/old/1/weights"
    assert prune(tmp_path, params) == []


def test_an_earlier_one_set_aside_gives_way(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text(PARAMS)
    params = Params.read(tmp_path / "params.yaml")
    for content in ("first", "second"):
        (tmp_path / "models/old/1").mkdir(parents=True)
        (tmp_path / "models/old/1/weights").write_text(content)
        prune(tmp_path, params)
    assert (tmp_path / ".nmt/pruned/models/old/1/weights").read_text() == "second"


@pytest.mark.parametrize("stage", [("report",), ("translate_ensemble", "--model", "b")])
def test_prunes_before_the_stages_that_read_whole_folders(
    tmp_path: Path, stage: tuple[str, ...]
) -> None:
    project = Project.make(tmp_path / "project")
    (project.root / "models/old/1").mkdir(parents=True)
    project.act("assert not Path('models/old').exists()")
    code, output = project.run(*stage)
    assert code == 0
    assert "models/old/1 is not in the grid: moved to .nmt/pruned/models/old/1" in output
