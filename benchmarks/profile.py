"""Where the time of training goes: the share of each operation in steps of the default model.

Prints a table of torch's profiler: time that the operation itself took, without those that it
called. Measuring takes time too, so the shares are worth more than the seconds.

Example:
    python -m benchmarks.profile
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.command import ParamsOption, QuickOption
from benchmarks.corpora import prepared
from benchmarks.processes.profile import Operation, operations
from benchmarks.project import DEFAULT_MODEL
from benchmarks.setting import FULL, QUICK
from benchmarks.worker import ROOT, Worker
from nmt import script


def table(found: Sequence[Operation], most: int) -> str:
    """Return a table of the first operations, and what the rest takes together."""
    lines = ["| operation | share of time | calls a step |", "| --- | ---: | ---: |"]
    lines += [f"| `{name}` | {share:.1%} | {calls} |" for name, share, calls in found[:most]]
    rest = sum(operation.share for operation in found[most:])
    return "\n".join([*lines, f"| all others | {rest:.1%} | |"])


def main(
    params: ParamsOption = Path("params.yaml"),
    model: script.ModelOption = DEFAULT_MODEL,
    rows: Annotated[int, typer.Option(min=1, help="operations shown")] = 20,
    quick: QuickOption = False,
) -> None:
    """Print the share of time of each operation in training."""
    with prepared(params, ROOT, QUICK if quick else FULL) as setting:
        tasks = {"operations": partial(operations, setting, model)}
        with Worker(partial(dict, tasks)) as worker:
            typer.echo(table(worker.run("operations"), rows))


app = script.command(main)

if __name__ == "__main__":
    script.run(app)
