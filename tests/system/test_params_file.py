"""`make repro PARAMS=…` and the way back, in the small world."""

import sys
from pathlib import Path

from tests.world.project import World, stages_run

MADE = ("data", "models", "translations", "reports")


def test_another_params_file_is_run_and_its_results_can_be_left_again(world: World) -> None:
    pretend_installed(world)
    before = world.files(*MADE)
    path = world.root / "params/other.yaml"
    path.parent.mkdir()
    text = (world.root / "params.yaml").read_text(encoding="utf-8")
    path.write_text(text.replace("dpi: 50", "dpi: 60"), encoding="utf-8")
    output = world.run("make", "repro", "PARAMS=params/other.yaml")
    assert "params.yaml: now has the values of params/other.yaml" in output
    assert stages_run(output) == ["plot", "report"]
    assert world.files(*MADE) != before

    world.run("git", "restore", "params.yaml")
    world.run("make", "repro")
    assert world.files(*MADE) == before


def test_changes_that_no_commit_holds_stop_it_before_any_stage(tmp_path: Path) -> None:
    world = World.make(tmp_path)
    pretend_installed(world)
    other = world.root / "other.yaml"
    other.write_bytes((world.root / "params.yaml").read_bytes())
    world.set("plots.dpi", 60)
    done = world.try_run("make", "repro", "PARAMS=other.yaml")
    assert done.returncode != 0 and stages_run(done.stdout) == []
    assert "params.yaml: holds changes that are in no commit" in done.stdout


def pretend_installed(world: World) -> None:
    """Make the Makefile find what it would install; all else is on the PATH."""
    folder = world.root / ".venv"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/nmt").symlink_to(Path(sys.executable).parent / "nmt")
    (folder / "installed").write_text(f"{world.root}\n", encoding="utf-8")
    (folder / "editable").touch()
