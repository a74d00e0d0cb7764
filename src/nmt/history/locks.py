"""What a dvc.lock says: for each stage the hashes of deps and outs, and the params.

DVC's own reader takes a second for each file. A history has many, of which most stages are alike,
so each stage is read by itself, once for each different text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import yaml

from nmt.ensembles import ENSEMBLE, Seed, seed_name, split_address, stage_address
from nmt.errors import NmtError
from nmt.run.inputs import flatten

LOCK_FILE = "dvc.lock"


class LockError(NmtError):
    """A dvc.lock that can't be read."""


@dataclass(frozen=True)
class LockedStage:
    """One stage of a dvc.lock.

    Args:
        deps: hash by path.
        outs: hash by path.
        params: by dotted key; a list is one value.
        command: that it was run with.
    """

    deps: dict[str, str]
    outs: dict[str, str]
    params: dict[str, Any]
    command: str = ""


@dataclass(frozen=True)
class Lock:
    """A dvc.lock: its stages by address."""

    stages: dict[str, LockedStage] = field(default_factory=dict)

    @property
    def outs(self) -> dict[str, str]:
        """The hash of each out of all stages, by path."""
        return {path: md5 for stage in self.stages.values() for path, md5 in stage.outs.items()}

    def trained(self) -> Iterator[tuple[str, int, str]]:
        """Yield model, seed and the hash of the weights' folder of each training."""
        for address, stage in self.stages.items():
            name, (model, seed) = address.partition("@")[0], split_address(address)
            md5 = stage.outs.get(f"models/{model}/{seed}")
            if name == "train" and seed.isdigit() and md5:
                yield model, int(seed), md5

    def ensembles(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield model and seeds of each ensemble that was scored."""
        for address, stage in self.stages.items():
            model, seed = split_address(address)
            if address.startswith("evaluate") and seed == ENSEMBLE:
                yield model, tuple(stage.params.get("grid.seeds", ()))

    def chain(self, model: str, seed: Seed) -> list[LockedStage]:
        """Return training, translation and evaluation of a model, as far as each used the last.

        A stage whose deps are not what the stage before made is older than that, and left out. Of
        an ensemble the trainings of all members come first; that its translation used these can't
        be told by dvc.lock alone, where it depends on the folder that they share.
        """
        members = (seed,) if isinstance(seed, int) else seed
        wanted = [stage_address("train", model, member) for member in members]
        found = [self.stages[address] for address in wanted if address in self.stages]
        if len(found) < len(members):
            return found
        dep = f"models/{model}/{seed}" if isinstance(seed, int) else ""
        for name in ("translate", "evaluate"):
            stage = self.stages.get(stage_address(name, model, seed))
            if stage is None or (dep and stage.deps.get(dep) != found[-1].outs.get(dep)):
                break
            found.append(stage)
            dep = f"translations/{model}/{seed_name(seed)}/hypotheses"
        return found

    def scored(self, model: str, seed: Seed) -> bool:
        """Tell whether the chain is whole: nothing in it is older than what it was made from."""
        trainings = 1 if isinstance(seed, int) else len(seed)
        return len(self.chain(model, seed)) == trainings + 2


def read_lock(text: str, where: str) -> Lock:
    """Read a dvc.lock.

    Args:
        text: its content.
        where: to name it in an error.

    Raises:
        LockError: it holds the marks of a merge conflict, or is not what DVC writes.
    """
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(("<<<<<<< ", ">>>>>>> ")) or line == "=======":
            raise LockError(
                f"{where}, line {number}: a mark of a merge conflict ({line[:7]}); nothing can be "
                "told from it: take one side (git checkout --ours dvc.lock) and run `dvc repro`"
            )
    try:
        return Lock(dict(_whole(text) if re.search(r": [&*]\w+$", text, re.M) else _stages(text)))
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise LockError(
            f"{where}: not a dvc.lock as DVC writes it ({reason}); "
            "take it from another commit, or run `dvc repro`"
        ) from None


def _stages(text: str) -> Iterator[tuple[str, LockedStage]]:
    head, *parts = re.split(r"^(?=  [^\s#-])", text, flags=re.MULTILINE)
    version = _load(head)
    if version.get("schema") != "2.0" or "stages" not in version:
        raise ValueError("expected schema '2.0' and stages")
    seen = set()
    for part in parts:
        address, stage = _stage(part)
        if address in seen:
            raise ValueError(f"{address} stands twice")
        seen.add(address)
        yield address, stage


@cache
def _stage(text: str) -> tuple[str, LockedStage]:
    ((address, content),) = _load(text).items()
    return str(address), _locked(content)


def _whole(text: str) -> Iterator[tuple[str, LockedStage]]:
    """Read a file in which one stage refers to another's values (an alias of YAML)."""
    for address, content in _load(text)["stages"].items():
        yield str(address), _locked(content)


def _locked(content: dict[str, Any]) -> LockedStage:
    params = {
        f"{name}:{key}" if name != "params.yaml" else key: value
        for name, values in content.get("params", {}).items()
        for key, value in flatten("", values).items()
    }
    return LockedStage(
        {dep["path"]: _hash(dep) for dep in content.get("deps", [])},
        {out["path"]: _hash(out) for out in content.get("outs", [])},
        params,
        str(content["cmd"]),
    )


def _hash(entry: dict[str, Any]) -> str:
    return str(entry[entry.get("hash", "md5")])


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML's loader with the plain values of YAML 1.2, in which DVC writes: no is a text."""

    yaml_implicit_resolvers: dict[str, Any] = {}


for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), list(_first)
    )


def _load(text: str) -> dict[str, Any]:
    value = yaml.load(text, _Loader)
    if not isinstance(value, dict):
        raise ValueError("expected a mapping")
    return value
