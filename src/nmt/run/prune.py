"""Results of models, seeds and ensembles that the grid no longer has are moved out of the way."""

import logging
import shutil
from pathlib import Path

from nmt.ensembles import ENSEMBLE
from nmt.params import Params
from nmt.run.locks import waiting

log = logging.getLogger(__name__)

PRUNED = Path(".nmt/pruned")


def prune(root: Path, params: Params) -> list[Path]:
    """Move what an earlier grid left to .nmt/pruned, and log each; return the paths.

    Else it would enter the hashes of folders that stages depend on as a whole. Nothing is
    deleted: a model trained outside the grid is in no cache. Hidden files, such as what a
    running training has not finished, stay.
    """
    trained = {(m, str(s)) for m in params.value("grid.models") for s in params.value("grid.seeds")}
    ensembles = {(model, ENSEMBLE) for model in params.value("grid.ensembles")}
    with waiting(root, "prune"):
        extra = _extra(root, trained, trained | ensembles)
        for path in extra:
            _set_aside(root, path)
    return extra


def _extra(
    root: Path, trained: set[tuple[str, str]], translated: set[tuple[str, str]]
) -> list[Path]:
    names = {f"{model}-{seed}.json" for model, seed in translated}
    scores = [path for path in root.glob("reports/scores/*.json") if path.name not in names]
    folders = [
        path
        for kind, wanted in (("models", trained), ("translations", translated))
        for path in root.glob(f"{kind}/*/*")
        if (path.parent.name, path.name) not in wanted
    ]
    return sorted(p.relative_to(root) for p in scores + folders if not p.name.startswith("."))


def _set_aside(root: Path, path: Path) -> None:
    target = root / PRUNED / path
    if target.is_dir():
        shutil.rmtree(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    (root / path).replace(target)
    log.info("%s is not in the grid: moved to %s", path, PRUNED / path)
    _remove_if_empty((root / path).parent)


def _remove_if_empty(folder: Path) -> None:
    """Remove a model's folder in which nothing is left but the .gitignore that DVC wrote."""
    if folder.name != "scores" and {item.name for item in folder.iterdir()} <= {".gitignore"}:
        shutil.rmtree(folder)
