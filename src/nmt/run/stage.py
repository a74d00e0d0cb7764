"""One stage: its script, the options it was called with, and its name in dvc.yaml."""

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from typer.main import get_command

from nmt.ensembles import ENSEMBLE
from nmt.errors import NmtError

Work = Callable[[], None]


@dataclass(frozen=True)
class Stage:
    """A call of a stage.

    Args:
        name: of its script and of its entry in dvc.yaml.
        options: as its script parsed them; `model`, `seed` and `tokenizer` where it has them.
    """

    name: str
    options: dict[str, Any]

    @property
    def label(self) -> str:
        """Its name in a dvc.yaml, such as "train@additive-1" or "evaluate_ensemble@additive"."""
        if "tokenizer" in self.options:
            return f"{self.name}@{self.options['tokenizer']}"
        if "model" not in self.options:
            return self.name
        item = f"{self.name}@{self.options['model']}"
        return f"{item}-{self.seed}" if "seed" in self.options else item

    @property
    def seed(self) -> str:
        """The seed of its model, ENSEMBLE for all of them at once; "" without a model."""
        return str(self.options.get("seed", ENSEMBLE)) if "model" in self.options else ""

    @property
    def address(self) -> str:
        """Its full name in DVC, such as "params/best/dvc.yaml:train@additive-1".

        As DVC says when it runs the stage, else the label: that of the project's own dvc.yaml.
        """
        given = os.environ.get("DVC_STAGE", "")
        return given if given.rpartition(":")[2] == self.label else self.label

    @property
    def params(self) -> Path:
        """The params file that it reads."""
        return Path(self.options["params"])

    @property
    def lock(self) -> str:
        """Name of its lock: two calls have the same if they write to the same place."""
        if self.params == Path("params.yaml"):
            return self.label
        return f"{self.label}-{self.params}".replace("/", "-")


def stage_names(root: Path) -> list[str]:
    """Return the names of the scripts in pipeline/."""
    names = (path.stem for path in (root / "pipeline").glob("*.py"))
    return sorted(name for name in names if name != "run" and not name.startswith("_"))


def call(
    name: str, options: list[str], around: Callable[[Stage, Callable[[], None]], None]
) -> None:
    """Parse the options of a stage's script, and do its work inside `around`.

    Ends the process for --help (0) and wrong options (2), before `around` is called.

    Args:
        name: one of `stage_names`.
        options: from the command line.
        around: called with the stage and its work.
    """
    script = importlib.import_module(f"pipeline.{name}")
    if not hasattr(script, "app"):
        raise NmtError(f"pipeline/{name}.py has no `app`; make it with nmt.script.command")
    command = get_command(script.app)
    work = command.callback
    assert work is not None

    def wrapped(**options: Any) -> None:
        around(Stage(name, options), partial(work, **options))

    command.callback = wrapped
    command.main(options, f"python -m pipeline.run {name}")
