"""Digests of code and data, the state of git, the environment."""

import hashlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from ruamel.yaml import YAML

from nmt.errors import NmtError
from nmt.provenance import environment
from nmt.provenance.code import code_digests, code_units, combined, import_closure
from nmt.provenance.git import git_state
from nmt.provenance.hashes import dvc_hash, file_md5s
from tests.unit.fake_project import ROOT, clean

# Imports


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


SOURCES = {
    "pipeline/__init__.py": "",
    "pipeline/train.py": "import os\nfrom nmt import script\nfrom nmt.model.net import Net\n",
    "pipeline/plot.py": "import nmt.plots\n",
    "src/nmt/__init__.py": "",
    "src/nmt/script.py": "import torch",
    "src/nmt/lonely.py": "",
    "src/nmt/model/__init__.py": "",
    "src/nmt/model/net.py": "from . import layers\nfrom ..units import m\nfrom .layers import x",
    "src/nmt/model/layers.py": "def f():\n    import nmt.late.inner\n",
    "src/nmt/model/unused.py": "",
    "src/nmt/units.py": "",
    "src/nmt/late/__init__.py": "",
    "src/nmt/late/inner.py": "",
    "src/nmt/plots/__init__.py": "from nmt.plots.draw import draw\n",
    "src/nmt/plots/draw.py": "import typing\nif typing.TYPE_CHECKING:\n    import nmt.units",
    "src/nmt/plots/page.j2": "",
}


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        (
            "pipeline.train",
            "pipeline/__init__ pipeline/train nmt/__init__ nmt/script nmt/model/__init__ "
            "nmt/model/net nmt/model/layers nmt/units nmt/late/__init__ nmt/late/inner",
        ),
        (
            "pipeline.plot",
            "pipeline/__init__ pipeline/plot nmt/__init__ nmt/plots/__init__ nmt/plots/draw "
            "nmt/units",
        ),
        ("nmt.lonely", "nmt/__init__ nmt/lonely"),
    ],
)
def test_import_closure(tmp_path: Path, module: str, expected: str) -> None:
    found = import_closure(write(tmp_path, SOURCES), module)
    files = {path.with_suffix("").as_posix().removeprefix("src/") for path in found}
    assert files == set(expected.split())


def test_units_are_folders_of_packages_and_modules(tmp_path: Path) -> None:
    assert [path.as_posix() for path in code_units(write(tmp_path, SOURCES), "train")] == [
        "pipeline/__init__.py",
        "pipeline/train.py",
        "src/nmt/__init__.py",
        "src/nmt/late",
        "src/nmt/model",
        "src/nmt/script.py",
        "src/nmt/units.py",
    ]


@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("src/nmt/model/net.py", True),
        ("src/nmt/model/unused.py", True),  # a dep names the folder
        ("src/nmt/model/new.txt", True),
        ("src/nmt/lonely.py", False),
        ("src/nmt/plots/draw.py", False),
        ("src/nmt/model/__pycache__/net.cpython-311.pyc", False),
        ("src/nmt/model/.net.py.swp", False),
        ("src/nmt/model/net.py~", False),
    ],
)
def test_digests_see_changes_to_the_stage_s_code_alone(
    tmp_path: Path, path: str, seen: bool
) -> None:
    before = code_digests(write(tmp_path, SOURCES), "train")
    after = code_digests(write(tmp_path, {path: "changed"}), "train")
    assert (before != after) is seen
    assert (combined(before) != combined(after)) is seen


def test_digests_see_templates(tmp_path: Path) -> None:
    assert "src/nmt/plots/page.j2" in code_digests(write(tmp_path, SOURCES), "plot")


def test_the_combined_digest_is_that_of_sha256sum(tmp_path: Path) -> None:
    digests = code_digests(write(tmp_path, SOURCES), "plot")
    command = ["sha256sum", *sorted(digests)]
    listing = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout
    assert combined(digests) == hashlib.sha256(listing).hexdigest()


@pytest.mark.parametrize(
    ("files", "module", "message"),
    [
        ({}, "pipeline.nix", "pipeline.nix: no such module under {}; expected pipeline/nix.py"),
        ({}, "nmt.a.b", "nmt.a.b: no such module under {}; expected src/nmt/a/b.py"),
        (
            {"pipeline/x.py": "a = 1\nb = (\n"},
            "pipeline.x",
            "pipeline/x.py, line 2: not valid Python: '(' was never closed",
        ),
    ],
)
def test_faults_are_named(tmp_path: Path, files: dict[str, str], module: str, message: str) -> None:
    write(tmp_path, files)
    with pytest.raises(NmtError) as caught:
        import_closure(tmp_path, module)
    assert str(caught.value) == message.format(tmp_path)


# Hashes


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose files DVC has hashed: odd names, nested folders, ignored files."""
    root = tmp_path_factory.mktemp("locked")
    stage = {"cmd": "cp -r in out", "deps": ["in", "in/a.txt"], "outs": ["out"]}
    files = {
        "in/b.txt": "b\n",
        "in/a/ü ö.txt": "",
        "in/a.txt": "a\r\n",
        "in/a/.hidden": "x",
        "in/__pycache__/m.cpython-311.pyc": "code",
        "in/.b.partial": "half",
        "in/a/old.pyc": "code",
        ".dvcignore": "__pycache__/\n*.pyc\n.*.partial\n",
        "dvc.yaml": json.dumps({"stages": {"copy": stage}}),
    }
    dvc = [sys.executable, "-m", "dvc"]
    environ = clean({"DVC_NO_ANALYTICS": "1"})
    subprocess.run([*dvc, "init", "-q", "--no-scm"], cwd=root, env=environ, check=True)
    subprocess.run([*dvc, "repro", "-q"], cwd=write(root, files), env=environ, check=True)
    return root


def test_hashes_are_those_of_dvc_lock(locked: Path) -> None:
    stage = YAML(typ="safe").load(locked / "dvc.lock")["stages"]["copy"]
    items = stage["deps"] + stage["outs"]
    assert [item["path"] for item in items] == ["in", "in/a.txt", "out"]
    for item in items:
        path = item["path"]
        assert dvc_hash(path, file_md5s(locked, path)) == item["md5"]


def test_files_of_a_folder_are_hashed_each(locked: Path) -> None:
    hashes = file_md5s(locked, "in")
    assert sorted(hashes) == ["in/a.txt", "in/a/.hidden", "in/a/ü ö.txt", "in/b.txt"]
    assert hashes["in/b.txt"] == hashlib.md5(b"b\n").hexdigest()


def test_a_missing_path_has_no_hash(tmp_path: Path) -> None:
    assert dvc_hash("none", file_md5s(tmp_path, "none")) is None


# Git


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=m"]
    command = ["git", *identity, *arguments]
    return subprocess.run(
        command, cwd=root, env=clean({}), check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = write(tmp_path / "repository", {**SOURCES, "params.yaml": "a: 1\n", "dvc.lock": "x\n"})
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "x")
    return root


def test_a_clean_tree(repository: Path) -> None:
    state = git_state(repository)
    assert state.commit == git(repository, "rev-parse", "HEAD")
    assert (state.dirty, state.diff, state.diff_sha256) == ("false", b"", "")


@pytest.mark.parametrize("path", ["dvc.lock", "reports/bleu.md", "README.md", "data/x", ".nmt/x"])
def test_results_do_not_make_it_dirty(repository: Path, path: str) -> None:
    write(repository, {path: "changed"})
    assert git_state(repository).dirty == "false"


@pytest.mark.parametrize(
    "path", ["params.yaml", "src/nmt/units.py", "src/nmt/new ü.py", "pipeline/x.py", "dvc.yaml"]
)
@pytest.mark.parametrize("staged", [False, True])
def test_code_and_params_make_it_dirty_and_the_patch_restores_them(
    repository: Path, tmp_path: Path, path: str, staged: bool
) -> None:
    git(repository.parent, "clone", "-q", "repository", "clone")
    write(repository, {path: "changed ü\n"})
    if staged:
        git(repository, "add", ".")
    state = git_state(repository)
    assert state.dirty == "true"
    assert state.diff_sha256 == hashlib.sha256(state.diff).hexdigest()
    (tmp_path / "patch").write_bytes(state.diff)
    git(tmp_path / "clone", "apply", "../patch")
    assert (tmp_path / "clone" / path).read_text(encoding="utf-8") == "changed ü\n"


def test_a_deleted_file_makes_it_dirty(repository: Path) -> None:
    (repository / "src/nmt/units.py").unlink()
    state = git_state(repository)
    assert state.dirty == "true"
    assert b"deleted file mode" in state.diff


def test_bytes_that_are_no_text_are_kept(repository: Path) -> None:
    (repository / "src/nmt/units.py").write_bytes(b"# Gr\xfc\xdfe\n")
    assert b"+# Gr\xfc\xdfe\n" in git_state(repository).diff


def test_a_project_below_the_repository(repository: Path) -> None:
    write(repository, {"inner/params.yaml": "a: 1\n"})
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "x")
    write(repository, {"params.yaml": "a: 2\n"})
    assert git_state(repository / "inner").dirty == "false"
    write(repository, {"inner/params.yaml": "a: 2\n"})
    state = git_state(repository / "inner")
    assert b"a/params.yaml b/params.yaml" in state.diff


def test_the_index_is_left_alone(repository: Path) -> None:
    write(repository, {"params.yaml": "a: 1\n"})  # same content, new time
    before = (repository / ".git/index").read_bytes()
    git_state(repository)
    assert (repository / ".git/index").read_bytes() == before


def test_a_hook_s_variables_do_not_mislead(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init", "-q", "other")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    assert git_state(repository).commit == git(repository, "rev-parse", "HEAD")


def test_without_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    state = git_state(tmp_path)
    assert (state.commit, state.dirty) == ("no git: not in a repository", "unknown")


def test_without_a_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    state = git_state(tmp_path)
    assert (state.commit, state.dirty) == ("no git: no commit yet", "unknown")


def test_without_the_program(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    state = git_state(repository)
    assert (state.commit, state.dirty) == ("no git: the program is not installed", "unknown")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_user_is_read(repository: Path) -> None:
    commit = git(repository, "rev-parse", "HEAD")
    for path in [repository, *repository.rglob("*")]:
        os.chown(path, 12345, 12345)
    assert git_state(repository).commit == commit


# Environment


def test_versions_and_packages() -> None:
    found = environment.versions()
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert found["numpy"].count(".") == 2
    lines = environment.freeze().split("\n")
    assert f"numpy=={found['numpy']}" in lines
    assert lines == sorted(lines[:-1], key=str.lower) + [""]


def test_a_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "PACKAGES", ("no-such-package",))
    assert environment.versions()["no-such-package"] == "not installed"


def test_requirements(tmp_path: Path) -> None:
    assert environment.requirements_sha256(tmp_path) == "no requirements.lock"
    (tmp_path / "requirements.lock").write_text("a==1\n")
    assert environment.requirements_sha256(tmp_path) == hashlib.sha256(b"a==1\n").hexdigest()


def test_the_machine() -> None:
    found = environment.machine()
    assert found["cpu"] and int(found["cores"]) >= 1 and found["system"]


def test_a_process_that_has_ended_is_gone() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    host, pid = socket.gethostname(), process.pid
    started = psutil.Process(pid).create_time()
    assert not environment.is_gone(host, pid, started)
    assert not environment.is_gone(host, pid, started + 1)  # the clock was set
    assert environment.is_gone(host, pid, started - 3600)  # an earlier one of that number
    process.kill()
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert environment.is_gone(host, pid, started)  # a zombie
    process.communicate()
    assert environment.is_gone(host, pid, started)
    assert not environment.is_gone("elsewhere", pid, started)  # can't tell


def test_nothing_of_torch_is_told_unless_it_was_used() -> None:
    code = "from nmt.provenance.environment import computing; print(computing())"
    environ = clean({"PYTHONPATH": str(ROOT / "src")})
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "{}\n"
