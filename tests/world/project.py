"""A copy of the project in a folder of its own, with the small world's params and corpus."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.world.grammar import write_mirror

ROOT = Path(__file__).resolve().parents[2]

# What a run of the graph needs of the project. No dvc.lock: that is of the real corpus.
PARTS = (
    ".dvc/config",
    ".dvc/.gitignore",
    ".dvc/plots",
    ".dvcignore",
    ".gitattributes",
    ".gitignore",
    "Makefile",
    "Snakefile",
    "dvc.yaml",
    "pipeline",
    "profiles",
    "pyproject.toml",
    "requirements.lock",
    "src",
)

Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class World:
    """A project in which everything is small.

    Args:
        base: folder for it and what lies beside it: the project, a mirror, a remote.
        name: of the project's folder: with a space and an umlaut, as some users' have.
    """

    base: Path
    name: str = "Kleine Wört"

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self.base / self.name

    @property
    def mirror(self) -> Path:
        """The folder that the corpus is downloaded from."""
        return self.base / "mirror"

    @classmethod
    def make(cls, base: Path) -> "World":
        """Copy the project's files, nothing that was made from them, and commit them."""
        world = cls(base)
        write_mirror(world.mirror)
        for part in PARTS:
            _copy(ROOT / part, world.root / part)
        shutil.copy(ROOT / "tests/world/params.yaml", world.root)
        world.run("git", "init", "--quiet", "--initial-branch=main")
        world.commit("Begin")
        return world

    def copy(self, base: Path) -> "World":
        """Return a copy of it as it is now, cache and all, elsewhere."""
        shutil.copytree(self.base, base, symlinks=True, dirs_exist_ok=True)
        return World(base, self.name)

    def renamed(self, name: str) -> "World":
        """Give the project's folder another name."""
        return World(self.base, self.root.rename(self.base / name).name)

    def rename(self, name: str) -> "World":
        """Give the project's folder another name."""
        return World(self.base, self.root.rename(self.base / name).name)

    def try_run(self, *command: str, **environment: str) -> Done:
        """Run a command in the project, however it ends."""
        return subprocess.run(
            command,
            cwd=self.root,
            env=self._environment() | environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )

    def run(self, *command: str, **environment: str) -> str:
        """Run a command that must end well; return what it wrote."""
        done = self.try_run(*command, **environment)
        assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}\n{done.stdout}"
        return done.stdout

    def dvc(self, *arguments: str) -> str:
        """Run DVC, which must end well."""
        return self.run("dvc", *arguments)

    def commit(self, message: str) -> None:
        """Commit all that git does not ignore."""
        self.run("git", "add", "--all")
        self.run("git", "commit", "--quiet", "--allow-empty", f"--message={message}")

    def set(self, key: str, value: Any) -> None:
        """Change a key of params.yaml, which must be there; None can't be told from null."""
        yaml, path = YAML(), self.root / "params.yaml"
        values = yaml.load(path)
        inner = values
        *parents, last = split_key(key)
        for parent in parents:
            inner = inner[parent]
        assert last in inner
        inner[last] = value
        yaml.dump(values, path)

    def would_run(self) -> list[str]:
        """Return the stages that `dvc repro --dry` names, in its order."""
        return stages_run(self.dvc("repro", "--dry"))

    def files(self, *folders: str) -> dict[str, bytes]:
        """Return the content of all files below the folders, by path."""
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes()
            for folder in folders
            for path in sorted((self.root / folder).rglob("*"))
            if path.is_file()
        }

    def _environment(self) -> dict[str, str]:
        """Return an environment of its own: no user's settings, no network, this Python first."""
        dropped = ("DVC_", "MLFLOW_", "GIT_", "PYTHONPATH", "SNAKEMAKE_", "COVERAGE", "PYTEST_")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
        return kept | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "MULTI30K_MIRROR": str(self.mirror),
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "HTTP_PROXY": "http://127.0.0.1:9",
            "DVC_NO_ANALYTICS": "true",
            "DVC_SITE_CACHE_DIR": str(self.base / "site"),
            "DVC_GLOBAL_CONFIG_DIR": str(self.base / "config"),
            "DVC_SYSTEM_CONFIG_DIR": str(self.base / "config"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_NAME": "Tester" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "tester@example.org" for who in ("AUTHOR", "COMMITTER")},
        }


def split_key(key: str) -> list[str]:
    """Return the parts of a dotted key; the names in data.files hold a dot themselves."""
    if key.startswith("data.files."):
        name, _, last = key.removeprefix("data.files.").rpartition(".")
        return ["data", "files", name, last]
    return key.split(".")


def stages_run(output: str) -> list[str]:
    """Return the stages that DVC says it runs, in its order."""
    begin, end = "Running stage '", "':"
    return [
        line.removeprefix(begin).partition(end)[0]
        for line in output.split("\n")
        if line.startswith(begin)
    ]


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
