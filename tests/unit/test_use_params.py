"""Another params file in the place of params.yaml: nothing that git does not hold is lost."""

import subprocess
from pathlib import Path

import pytest

from nmt.errors import ParamsError
from nmt.params import Params
from nmt.params_files import read_params, whole_text
from nmt.run.inputs import flatten
from nmt.settings import check
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


SHORT = """# Fewer epochs, one width.
base: best.yaml
training:
  epochs: 2
models:
  additive: {hidden: 12}
grid:
  seeds: [1, 2]
"""


def shorter(project: Path, name: str = "short", text: str = SHORT) -> Path:
    path = project / f"params/{name}.yaml"
    path.write_text(text)
    return path


def test_a_short_file_changes_some_keys_of_its_base_and_keeps_the_comments(project: Path) -> None:
    assert use_params(project, shorter(project))
    text = (project / "params.yaml").read_text()
    assert text.startswith("# Made of params/short.yaml: change that file, not this one (SHA-256 ")
    comments = [line for line in BEST.splitlines() if line.startswith("#")]
    assert all(line in text.splitlines() for line in comments)
    found, base = Params.read(project / "params.yaml"), Params.read(project / "params/best.yaml")
    assert found.value("training.epochs") == 2 and found.value("grid.seeds") == [1, 2]
    assert found.value("models.additive.hidden") == 12
    assert {**found.value("training"), "epochs": 5} == base.value("training")
    assert found.names("models") == base.names("models")
    for name in found.names():
        assert found.value(name) == read_params(project / "params/short.yaml").value(name)


def test_a_short_file_may_build_on_a_short_one(project: Path) -> None:
    shorter(project)
    use_params(
        project, shorter(project, "more", "base: short.yaml\ntraining: {word_dropout: 0.5}\n")
    )
    found = Params.read(project / "params.yaml")
    assert found.value("training.word_dropout") == 0.5 and found.value("training.epochs") == 2


def test_what_a_short_file_made_may_be_replaced_and_what_was_edited_since_may_not(
    project: Path,
) -> None:
    use_params(project, shorter(project))
    assert not use_params(project, project / "params/short.yaml"), "it is the same already"
    assert use_params(project, project / "params/other.yaml")
    assert use_params(project, project / "params/short.yaml")
    path = project / "params.yaml"
    path.write_text(path.read_text().replace("epochs: 2", "epochs: 3"))
    with pytest.raises(ParamsError, match="holds changes that are in no commit"):
        use_params(project, project / "params/other.yaml")
    use = path.read_text().replace("epochs: 3", "epochs: 2")
    path.write_text(use)
    (project / "params/short.yaml").unlink()
    with pytest.raises(ParamsError, match="holds changes that are in no commit"):
        use_params(project, project / "params/other.yaml")


def test_a_short_file_that_changed_may_replace_what_it_made(project: Path) -> None:
    use_params(project, shorter(project))
    shorter(project, text=SHORT.replace("epochs: 2", "epochs: 3"))
    assert use_params(project, project / "params/short.yaml")
    assert Params.read(project / "params.yaml").value("training.epochs") == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("base: gone.yaml\n", r"params/short\.yaml: base: .*gone\.yaml is no file"),
        ("base: short.yaml\n", r"params/short\.yaml: base: short\.yaml builds on this file"),
        ("base: [best.yaml]\n", r"params/short\.yaml: base: got \['best\.yaml'\]"),
        ("base: best.yaml\ntraining: {epoch: 2}\n", r"short\.yaml: training\.epoch: unknown key"),
        ("base: best.yaml\ntrain: {}\n", r"params/short\.yaml: train: unknown section"),
    ],
)
def test_a_short_file_that_is_not_in_order_is_refused(project: Path, text: str, said: str) -> None:
    with pytest.raises(ParamsError, match=said):
        use_params(project, shorter(project, text=text))
    assert (project / "params.yaml").read_text() == SMALL


def test_a_folder_is_no_params_file(project: Path) -> None:
    with pytest.raises(ParamsError, match="params: is a folder; name a params file"):
        use_params(project, project / "params")


@pytest.mark.parametrize(
    "path", sorted((ROOT / "params").rglob("*.yaml")), ids=lambda path: str(path.relative_to(ROOT))
)
def test_each_params_file_of_the_project_is_in_order(path: Path, tmp_path: Path) -> None:
    check(read_params(path))
    (tmp_path / "params.yaml").write_text(whole_text(path, "it"))
    made = Params.read(tmp_path / "params.yaml")
    for name in made.names():
        assert made.value(name) == read_params(path).value(name)


def test_each_ablation_changes_one_key_of_the_reference() -> None:
    reference = leaves(ROOT / "params/ablation.yaml")
    for path in (ROOT / "params/ablations").glob("*.yaml"):
        found = leaves(path)
        changed = [key for key in reference | found if found.get(key) != reference.get(key)]
        assert len(changed) == 1, f"{path.name} changes {changed}"


def leaves(path: Path) -> dict[str, object]:
    """Return every value of a params file by its dotted key."""
    params = read_params(path)
    return flatten("", {name: params.value(name) for name in params.names()})
