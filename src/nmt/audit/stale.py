"""Was a stage run on the code, params and data that are here now, as dvc.lock has them?"""

from collections.abc import Iterator, Mapping
from typing import Any

from nmt.audit.findings import Check, Link, Status
from nmt.audit.lock import LOCK, PARAMS, Entry
from nmt.audit.outs import short
from nmt.audit.tree import Project
from nmt.dag import Stage
from nmt.errors import ParamsError
from nmt.params import Params
from nmt.run.inputs import flatten, text, within


class Graph:
    """The stages of dvc.yaml, the entries of dvc.lock, and the files and params they are about."""

    def __init__(
        self,
        stages: Mapping[str, Stage],
        lock: Mapping[str, Entry],
        project: Project,
        params: Params,
    ) -> None:
        self.stages = stages
        self.lock = lock
        self.project = project
        self.params = params
        self._makers = {out: stage.address for stage in stages.values() for out in stage.outs}

    def makers(self, path: str) -> list[tuple[str, str]]:
        """Return the outs that are, hold or lie in a path, each with the stage that makes it."""
        return [
            (out, stage)
            for out, stage in self._makers.items()
            if within(out, path) or within(path, out)
        ]

    def code(self, stage: Stage) -> list[str]:
        """Return the deps that no stage makes."""
        return [path for path in stage.deps if not self.makers(path)]

    def holds(self, out: str, stage: str) -> bool:
        """Tell whether an out is here as dvc.lock names it."""
        return stage in self.lock and self.project.hash(out) == self.lock[stage].outs.get(out)

    def all_hold(self, path: str) -> bool:
        """Tell whether all outs that are, hold or lie in a path are here as dvc.lock names them."""
        return all(self.holds(*maker) for maker in self.makers(path))


def check_stale(link: Link, stage: Stage, graph: Graph) -> None:
    """Compare what a stage read, by dvc.lock, with what is here now."""
    problems = list(differences(stage, graph.lock[stage.address], graph))
    for problem in problems:
        link.add(Check.STALE, Status.BROKEN, problem)
    if not problems:
        code = graph.code(stage)
        data = [path for path in stage.deps if path not in code]
        here = [path for path in data if graph.all_hold(path)]
        link.add(
            Check.STALE,
            Status.OK,
            f"its command, {len(code)} files and folders of code, {len(here)} of {len(data)} of "
            f"data and {len(graph.lock[stage.address].params)} params are those that it was run "
            "with" + ("" if len(here) == len(data) else "; of other data see the stages above"),
        )


def differences(stage: Stage, entry: Entry, graph: Graph) -> Iterator[str]:
    """Yield what differs between an entry of dvc.lock and the tree, one sentence each.

    A file that a stage made and that was changed since is told of once, at that stage.
    """
    if entry.command != stage.command:
        yield f"the command is {stage.command!r}, in {LOCK} {entry.command!r}"
    yield from _names("reads", "deps", set(stage.deps), set(entry.deps))
    yield from _names("makes", "outs", set(stage.outs), set(entry.outs))
    yield from _code(stage, entry, graph)
    yield from _data(stage, entry, graph)
    yield from _params(stage, entry, graph.params)


def _names(verb: str, what: str, now: set[str], then: set[str]) -> Iterator[str]:
    for path in sorted(now - then):
        yield f"dvc.yaml says that it {verb} {path}, which {LOCK} lacks among its {what}"
    for path in sorted(then - now):
        yield f"{LOCK} has {path} among its {what}, which dvc.yaml lacks"


def _code(stage: Stage, entry: Entry, graph: Graph) -> Iterator[str]:
    for path in graph.code(stage):
        wanted, found = entry.deps.get(path), graph.project.hash(path)
        if wanted is None or found == wanted:
            continue
        if found is None:
            yield f"{path}: missing, and it was run with it"
            continue
        where = graph.project.differences(path, wanted)
        yield f"{path}: changed since it was run" + (f"; differs in {where}" if where else "")


def _data(stage: Stage, entry: Entry, graph: Graph) -> Iterator[str]:
    for path in sorted(set(stage.deps) - set(graph.code(stage))):
        wanted = entry.deps.get(path)
        makers = graph.makers(path)
        if wanted is None or not graph.all_hold(path):
            continue  # told at the stage that made it
        found = graph.project.hash(path)
        if found == wanted:
            continue
        extra = _extra(path, makers, graph.project)
        if extra:
            yield f"{path} holds what no stage of dvc.yaml makes: {', '.join(extra)}"
        else:
            yield (
                f"it was run on another {path} ({short(wanted)}) than "
                f"{', '.join(sorted({maker for _, maker in makers}))} made "
                f"({short(str(found))}): `dvc repro` was not run to its end since"
            )


def _extra(path: str, makers: list[tuple[str, str]], project: Project) -> list[str]:
    outs = [out for out, _ in makers]
    return [file for file in project.md5s(path) if not any(within(file, out) for out in outs)]


def _params(stage: Stage, entry: Entry, params: Params) -> Iterator[str]:
    now: dict[str, Any] = {}
    for key in stage.params:
        try:
            now.update(flatten(key, params.value(key)))
        except ParamsError as error:
            yield str(error)
            return
    for key in sorted(now.keys() | entry.params.keys()):
        if key not in entry.params:
            yield f"{PARAMS}: {key} is {text(now[key])}, which {LOCK} lacks"
        elif key not in now:
            yield f"{LOCK} has {key}: {text(entry.params[key])}, which dvc.yaml doesn't name"
        elif text(now[key]) != text(entry.params[key]):
            yield (
                f"{PARAMS}: {key} is {text(now[key])}; it was run with {text(entry.params[key])}"
            )
