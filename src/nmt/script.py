"""What every command shares: one way to parse, to log, and to tell the user of an error."""

import inspect
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from nmt.errors import NmtError

ParamsOption = Annotated[Path, typer.Option(help="file of parameters")]
ModelOption = Annotated[str, typer.Option(help="name of an entry of `models` in the params file")]
TokenizerOption = Annotated[
    str, typer.Option(help="name of an entry of `tokenizers` in the params file")
]
SeedOption = Annotated[int, typer.Option(min=0, help="seed of all random draws")]


def command(function: Callable[..., None]) -> typer.Typer:
    """Make a command-line program of a typed function.

    The module's docstring is its --help: purpose, what it reads and writes, an example.
    """
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # else "[a, b]" is taken for a colour and not shown
    )
    app.command(help=_as_written(inspect.getmodule(function)))(function)
    return app


def _as_written(module: ModuleType | None) -> str:
    """Return a module's docstring, each paragraph marked as one whose lines are kept."""
    text = inspect.cleandoc((module.__doc__ if module else None) or "")
    return "\n\n".join("\b\n" + paragraph for paragraph in text.split("\n\n"))


def run(app: typer.Typer) -> None:
    """Run a program; end with 1 and one plain message if it meets an error of ours."""
    configure_logging()
    try:
        app()
    except NmtError as error:
        sys.exit(f"error: {error}")


def configure_logging() -> None:
    """Send the log to standard error, one short line a message."""
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s", stream=sys.stderr)
    for noisy in ("httpx", "httpcore", "matplotlib", "fontTools", "sacrebleu"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
