"""What differs between two sides in params, code, data and environment."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from nmt.compare.code import Code, compare_code
from nmt.compare.sides import Project, Side
from nmt.ensembles import ENSEMBLE, seed_name, split_address, stage_address
from nmt.errors import ParamsError
from nmt.history.runs import Run
from nmt.params import Params
from nmt.provenance import names
from nmt.run.inputs import flatten, text, within

ABSENT = "absent"

_DATA = ("data/raw", "data/tokens", "data/vocab")
"""Outs, or folders of outs, one for each tokenizer."""
_ENVIRONMENT = (names.VERSION, names.MACHINE, names.DEVICE, names.THREADS, names.REQUIREMENTS)


@dataclass(frozen=True)
class Difference:
    """A value that differs: its name, and what each side has."""

    name: str
    a: str
    b: str


@dataclass(frozen=True)
class Differences:
    """All that differs beside the results.

    Args:
        params: by dotted key.
        code: files and commits.
        data: outs of the first stages whose hashes differ.
        environment: packages of requirements.lock, and what runs recorded.
        notes: what to beware of when reading this, one sentence each.
    """

    params: tuple[Difference, ...]
    code: Code
    data: tuple[Difference, ...]
    environment: tuple[Difference, ...]
    notes: tuple[str, ...]


def differences(project: Project, a: Side, b: Side) -> Differences:
    """Compare two sides.

    Raises:
        ParamsError: params.yaml of a side can't be read.
        LockError: likewise dvc.lock.
    """
    notes = [*_stale(a), *_stale(b), *_unknown_runs(project, a, b)]
    return Differences(
        params=tuple(_between(_params(a, bool(a.only)), _params(b, bool(b.only)))),
        code=compare_code(project.root, a, b),
        data=tuple(_between(_data(a), _data(b))),
        environment=tuple(_environment(project, a, b)),
        notes=tuple(notes),
    )


def read_params(side: Side) -> dict[str, Any]:
    """Return params.yaml of a side, by dotted key; {} if it has none."""
    content = side.files.read("params.yaml")
    if content is None:
        return {}
    path = side.files.folder / "params.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    try:
        params = Params.read(path)
    except ParamsError as error:
        message = str(error).removeprefix(f"{path}: ")
        raise ParamsError(f"params.yaml of {side.title}: {message}") from None
    return {
        leaf: v for name in params.names() for leaf, v in flatten(name, params.value(name)).items()
    }


def _params(side: Side, of_run: bool) -> dict[str, str]:
    """Return what params.yaml says, or what the stages of one model read.

    Of a run's model the name is taken out of the keys, so that two models can be compared.
    """
    if not of_run or side.only is None:
        return {key: text(value) for key, value in read_params(side).items()}
    model, seed = side.only
    if side.bare and side.run:
        values: dict[str, Any] = dict(side.run.params)
    else:
        values = {k: v for s in side.files.lock.chain(model, seed) for k, v in s.params.items()}
    found = {re.sub(rf"^models\.{model}\.", "model.", k): text(v) for k, v in values.items()}
    return found | {"model": model, "seed": seed_name(seed)}


def _between(a: dict[str, str], b: dict[str, str]) -> Iterator[Difference]:
    for key in dict.fromkeys([*a, *b]):
        if a.get(key) != b.get(key):
            yield Difference(key, a.get(key, ABSENT), b.get(key, ABSENT))


def _data(side: Side) -> dict[str, str]:
    """Return the hashes of the corpus, tokens and vocabularies."""
    lock = side.files.lock
    if not side.bare:
        return {path: md5 for path, md5 in lock.outs.items() if _of_data(path)}
    return {
        p: md5 for s in lock.stages.values() for p, md5 in s.deps.items() if p.startswith("data/")
    }


def _of_data(path: str) -> bool:
    return any(within(path, place) for place in _DATA)


def _environment(project: Project, a: Side, b: Side) -> Iterator[Difference]:
    """Yield what differs in requirements.lock, and in what the runs of the models recorded."""
    yield from _between(_locked_packages(a), _locked_packages(b))
    of_a, of_b = (_recorded(_runs(project, side)) for side in (a, b))
    if of_a and of_b:
        yield from _between(of_a, of_b)


def _locked_packages(side: Side) -> dict[str, str]:
    content = (side.files.read("requirements.lock") or b"").decode("utf-8", "replace")
    packages = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", content, re.MULTILINE)
    return {f"requirements.lock: {name}": version for name, version in packages}


def _recorded(runs: Iterable[Run]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for run in runs:
        for tag, value in run.tags.items():
            if tag.startswith(_ENVIRONMENT):
                found.setdefault(f"run: {tag}", set()).add(value)
    return {tag: " or ".join(sorted(values)) for tag, values in sorted(found.items())}


def _runs(project: Project, side: Side) -> list[Run]:
    """Return the runs that trained the side's models, found by the hashes of what they made."""
    if side.bare and side.run:
        return [side.run]
    if project.runs is None:
        return []
    runs = project.runs
    return [
        run
        for model, seed, md5 in side.files.lock.trained()
        if _shown(stage_address("train", model, seed), side)
        for run in runs.with_out(f"models/{model}/{seed}", md5)
    ]


def _unknown_runs(project: Project, a: Side, b: Side) -> Iterator[str]:
    if project.runs is None:
        yield f"what runs recorded of the environment is not known: {project.problem}"
        return
    without = [name for name, side in (("A", a), ("B", b)) if not _runs(project, side)]
    if without:
        yield (
            f"no run in MLflow is known to have made the models of {' or '.join(without)}: of "
            "the environment requirements.lock alone is compared"
        )


def _stale(side: Side) -> Iterator[str]:
    """Tell if results were made with other params than those in params.yaml beside them."""
    if side.bare:
        return
    values = read_params(side)
    differing = sorted(
        {
            key
            for address, stage in side.files.lock.stages.items()
            if _shown(address, side)
            for key, value in stage.params.items()
            if _in_grid(address, values) and key in values and values[key] != value
        }
    )
    if differing:
        yield (
            f"{side.title}: params.yaml was changed after its results were made: "
            f"{', '.join(differing)}; the results are those of dvc.lock: run `dvc repro`"
        )


def _in_grid(address: str, values: dict[str, Any]) -> bool:
    """Tell whether a stage is one that the grid still has."""
    model, seed = split_address(address)
    name, _, item = address.partition("@")
    if name == "prepare":
        return item in values.get("grid.models", [])
    if seed == ENSEMBLE:
        return model in values.get("grid.ensembles", [])
    grid = values.get("grid.models", []), [str(s) for s in values.get("grid.seeds", [])]
    return not model or (model in grid[0] and seed in grid[1])


def _shown(address: str, side: Side) -> bool:
    """Tell whether a stage is one of the results that a side is about."""
    if side.only is None:
        return True
    model, seed = side.only
    seeds = [str(seed)] if isinstance(seed, int) else [*map(str, seed), ENSEMBLE]
    item = split_address(address)
    return item[0] == model and item[1] in seeds
