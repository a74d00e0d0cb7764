"""Another params file in the place of params.yaml: nothing that git does not hold is lost."""

import subprocess
from pathlib import Path

import pytest

from nmt.errors import ParamsError
from nmt.use_params import use_params
from tests.world.project import ROOT

SMALL = (ROOT / "tests/world/params.yaml").read_text(encoding="utf-8")
BEST = SMALL.replace("epochs: 4", "epochs: 5")
OTHER = SMALL.replace("epochs: 4", "epochs: 6")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a repository with params.yaml and two other params files, committed."""
    (tmp_path / "params").mkdir()
    for name, text in (("params", SMALL), ("params/best", BEST), ("params/other", OTHER)):
        (tmp_path / f"{name}.yaml").write_text(text)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "-c", "user.name=T", "-c", "user.email=t@t", "commit", "--quiet", "-m", "Begin")
    return tmp_path


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True)


def test_a_file_takes_the_place_of_params_yaml_and_git_brings_it_back(project: Path) -> None:
    assert use_params(project, project / "params/best.yaml")
    assert (project / "params.yaml").read_text() == BEST
    assert not use_params(project, project / "params/best.yaml"), "it is the same already"
    git(project, "restore", "params.yaml")
    assert (project / "params.yaml").read_text() == SMALL


def test_one_file_may_follow_another(project: Path) -> None:
    """Git holds the first, though not as params.yaml."""
    use_params(project, project / "params/best.yaml")
    assert use_params(project, project / "params/other.yaml")
    assert (project / "params.yaml").read_text() == OTHER


@pytest.mark.parametrize("staged", [False, True])
def test_changes_that_no_commit_holds_are_not_lost(project: Path, staged: bool) -> None:
    edited = SMALL.replace("epochs: 4", "epochs: 7")
    (project / "params.yaml").write_text(edited)
    if staged:
        git(project, "add", "--all")
    with pytest.raises(ParamsError) as error:
        use_params(project, project / "params/best.yaml")
    assert "params.yaml: holds changes that are in no commit" in str(error.value)
    assert "commit them, or drop them by `git restore params.yaml`" in str(error.value)
    assert (project / "params.yaml").read_text() == edited


def test_without_a_repository_nothing_is_replaced(project: Path) -> None:
    (project / ".git").rename(project / "gone")
    with pytest.raises(ParamsError, match="holds changes that are in no commit"):
        use_params(project, project / "params/best.yaml")


def test_a_file_that_is_not_in_order_is_refused(project: Path) -> None:
    (project / "params/best.yaml").write_text(BEST.partition("plots:")[0])
    with pytest.raises(ParamsError, match=r"params/best\.yaml: plots is missing"):
        use_params(project, project / "params/best.yaml")
    assert (project / "params.yaml").read_text() == SMALL
