"""Does dvc.lock agree with itself, and with what the last commit has of it?"""

from collections.abc import Iterator

from nmt.audit.findings import Check, Link, Status
from nmt.audit.lock import LOCK, Entry
from nmt.audit.outs import short
from nmt.audit.stale import Graph, differences


def check_lock(graph: Graph, committed: dict[str, Entry] | None) -> Link:
    """Return the link for dvc.lock itself, on which all others hang."""
    link = Link("record", LOCK)
    problems = [*_edited(graph, committed or {}), *_contradictions(graph)]
    for problem in problems:
        link.add(Check.LOCK, Status.BROKEN, problem)
    if not problems:
        link.add(
            Check.LOCK, Status.OK, f"{len(graph.lock)} stages; each read what another says it made"
        )
    changed = sorted(a for a, entry in graph.lock.items() if (committed or {}).get(a) != entry)
    if committed is None:
        link.add(Check.LOCK, Status.MARKED, "the last commit has none to compare it with")
    elif changed:
        link.add(
            Check.LOCK,
            Status.MARKED,
            f"not as in the last commit: {', '.join(changed[:5])}"
            + (f" and {len(changed) - 5} more" if len(changed) > 5 else ""),
        )
    return link


def _edited(graph: Graph, committed: dict[str, Entry]) -> Iterator[str]:
    """Yield the entries that don't fit the files, where those of the last commit do."""
    for address, stage in graph.stages.items():
        now, then = graph.lock.get(address), committed.get(address)
        if now is None or then is None or now == then:
            continue
        if _fits(stage.address, now, graph) or not _fits(stage.address, then, graph):
            continue
        what = [path for path in now.outs if now.outs[path] != then.outs.get(path)]
        what += [path for path in now.deps if now.deps[path] != then.deps.get(path)]
        what += [key for key in now.params if now.params[key] != then.params.get(key)]
        yield (
            f"its entry of {address} was changed since the last commit ({', '.join(what[:3])}); "
            "the committed entry fits the files, and this does not"
        )


def _fits(address: str, entry: Entry, graph: Graph) -> bool:
    outs = all(graph.project.hash(path) in (None, md5) for path, md5 in entry.outs.items())
    return outs and not list(differences(graph.stages[address], entry, graph))


def _contradictions(graph: Graph) -> Iterator[str]:
    """Yield outs of which the maker says one thing, and a reader and the file another.

    DVC keeps the entries of stages that dvc.yaml no longer has; nothing hangs on those.
    """
    lock = {address: entry for address, entry in graph.lock.items() if address in graph.stages}
    for address, entry in lock.items():
        for path, made in entry.outs.items():
            read = {e.deps[path]: a for a, e in lock.items() if path in e.deps}
            here = graph.project.hash(path)
            other = next((md5 for md5 in read if md5 != made and here in (None, md5)), None)
            if other is not None:
                yield (
                    f"it contradicts itself: {address} made {path} {short(made)}, but "
                    f"{read[other]} read {short(other)}"
                    + (", which is the file that is here" if here else "")
                )
