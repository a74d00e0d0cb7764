"""Results that params.yaml no longer names are moved out of the way.

Those of models, seeds and ensembles that left the grid, and of tokenizers that are no more.
"""

import logging
import shutil
from pathlib import Path

from nmt.ensembles import ENSEMBLE
from nmt.params import Params
from nmt.run.locks import waiting

log = logging.getLogger(__name__)

PRUNED = Path(".nmt/pruned")


def prune(root: Path, params: Params) -> list[Path]:
    """Move what an earlier params.yaml left to .nmt/pruned, and log each; return the paths.

    Else it would enter the hashes of folders that stages depend on as a whole. It is not deleted:
    a model trained outside the grid is in no cache. What was moved there before under the same
    name makes way. Hidden files, such as what a running training has not finished, stay.
    """
    trained = {(m, str(s)) for m in params.value("grid.models") for s in params.value("grid.seeds")}
    ensembles = {(model, ENSEMBLE) for model in params.value("grid.ensembles")}
    data = {"tokens": set(params.names("tokenizers")), "vocab": set(params.names("tokenizers"))}
    data["prepared"] = set(params.value("grid.models"))
    with waiting(root, "prune"):
        extra = [*_extra(root, trained, trained | ensembles), *_extra_data(root, data)]
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


def _extra_data(root: Path, wanted: dict[str, set[str]]) -> list[Path]:
    """Return what lies in folders of data/ under other names than those wanted in each."""
    return sorted(
        path.relative_to(root)
        for folder, names in wanted.items()
        for path in root.glob(f"data/{folder}/*")
        if path.name not in names and not path.name.startswith(".")
    )


def _set_aside(root: Path, path: Path) -> None:
    target = root / PRUNED / path
    if target.is_dir():
        shutil.rmtree(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    (root / path).replace(target)
    log.info("%s is not in %s: moved to %s", path, _place(path), PRUNED / path)
    _remove_if_empty((root / path).parent)


def _place(path: Path) -> str:
    """Return where params.yaml would name what made a path."""
    return "tokenizers" if path.parts[:2] in (("data", "tokens"), ("data", "vocab")) else "the grid"


def _remove_if_empty(folder: Path) -> None:
    """Remove a model's folder in which nothing is left but the .gitignore that DVC wrote."""
    if folder.name != "scores" and {item.name for item in folder.iterdir()} <= {".gitignore"}:
        shutil.rmtree(folder)
