"""The graph of stages as DVC sees it. The only module to import dvc."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dvc.dependency.param import ParamsDependency
from dvc.repo import Repo

from nmt.errors import NmtError  # noqa: E402

_GRAPH_FILE = "dvc.yaml"


@dataclass(frozen=True)
class Stage:
    """A stage of dvc.yaml, one for each model and seed.

    Args:
        address: its name in DVC, such as "train@additive-1".
        name: of its script, such as "train".
        command: the shell command that runs it.
        deps: paths of files and folders that it reads, relative to the project.
        outs: paths that it writes.
        params: dotted keys of params.yaml that it reads.
        needs: addresses of the stages that make its deps.
    """

    address: str
    name: str
    command: str
    deps: tuple[str, ...]
    outs: tuple[str, ...]
    params: tuple[str, ...]
    needs: tuple[str, ...]


def stages(root: Path) -> dict[str, Stage]:
    """Return the stages by address, each after those that it needs.

    No lock is taken, so this may be asked while DVC runs a stage.

    Args:
        root: folder of dvc.yaml.
    """
    with _opened(root) as repo:
        found = {stage.name: _describe(stage, repo.index.graph) for stage in _of_graph(repo)}
    ordered: dict[str, Stage] = {}
    for address in found:
        _add_after_needs(address, found, ordered)
    return ordered


def stale(root: Path) -> set[str]:
    """Return the addresses of the stages that `dvc repro --dry` would run.

    What follows them is not told: it runs only if their results turn out to differ.

    Args:
        root: folder of dvc.yaml.
    """
    with _opened(root) as repo, repo.lock:
        return {stage.name for stage in _of_graph(repo) if stage.status()}


def followers(graph: dict[str, Stage], addresses: set[str]) -> set[str]:
    """Return these stages and all that need them, through others too.

    Args:
        graph: what `stages` returns.
        addresses: where to begin.
    """
    reached = set(addresses)
    for stage in graph.values():  # in order: a stage stands after what it needs
        if reached & set(stage.needs):
            reached.add(stage.address)
    return reached


def remote_reader(root: Path) -> Callable[[str], bytes | None]:
    """Return a function that reads files of the default remote by hash; None for what it lacks.

    Raises:
        NmtError: from here or the function: there is no remote, or it can't be reached.
    """
    try:
        with _opened(root) as repo:
            remote = repo.cloud.get_remote_odb(hash_name="md5")
    except Exception as error:  # of many libraries
        raise _no_remote(error) from None

    def read(digest: str) -> bytes | None:
        try:
            path = remote.oid_to_path(digest)
            return bytes(remote.fs.cat_file(path)) if remote.fs.exists(path) else None
        except Exception as error:
            raise _no_remote(error) from None

    return read


def _no_remote(error: Exception) -> NmtError:
    return NmtError(f"DVC's remote can't be read: {' '.join(str(error).split())[:200]}")


@contextmanager
def _opened(root: Path) -> Iterator[Any]:
    """Open DVC's repository from within its folder, to which it relates the names of stages."""
    before = Path.cwd()
    os.chdir(root)
    try:
        with Repo(_wait_for_lock=True) as repo:
            yield repo
    finally:
        os.chdir(before)


def _of_graph(repo: Any) -> list[Any]:
    return [stage for stage in repo.index.stages if stage.relpath == _GRAPH_FILE]


def _describe(stage: Any, graph: Any) -> Stage:
    params = [dep for dep in stage.deps if isinstance(dep, ParamsDependency)]
    path = partial(os.path.relpath, start=stage.wdir)
    return Stage(
        address=stage.name,
        name=stage.name.partition("@")[0],
        command=stage.cmd,
        deps=tuple(sorted(path(dep.fs_path) for dep in stage.deps if dep not in params)),
        outs=tuple(sorted(path(out.fs_path) for out in stage.outs)),
        params=tuple(sorted(key for dep in params for key in dep.params)),
        needs=tuple(sorted(before.name for before in graph.successors(stage))),
    )


def _add_after_needs(address: str, found: dict[str, Stage], ordered: dict[str, Stage]) -> None:
    if address not in ordered:
        for before in found[address].needs:
            _add_after_needs(before, found, ordered)
        ordered[address] = found[address]
