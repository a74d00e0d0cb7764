"""What dvc.yaml says of a stage."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Declared:
    """Deps, outs and params of a stage.

    Args:
        deps: paths relative to the project's root.
        outs: likewise.
        params: dotted keys of the params file; None: all, because dvc.yaml has no such stage.
        known: whether dvc.yaml has the stage.
    """

    deps: list[str] = field(default_factory=list)
    outs: list[str] = field(default_factory=list)
    params: list[str] | None = None
    known: bool = False


def declared(root: Path, address: str) -> Declared:
    """Return what dvc.yaml says; a stage outside the grid is not in it, and that is allowed."""
    if not (root / ".dvc").is_dir():  # a bare copy of the code
        return Declared()
    from nmt import dag  # slow: it imports dvc

    stage = dag.stages(root).get(address)
    if stage is None:
        return Declared()
    return Declared(list(stage.deps), list(stage.outs), list(stage.params), known=True)
