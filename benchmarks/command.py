"""What the programs share: their options, and the way from a part to its results."""

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.corpora import prepared
from benchmarks.figures import Figure, combined
from benchmarks.machine import facts
from benchmarks.picture import draw
from benchmarks.results import RESULTS_FILE, Results, fill_in, table
from benchmarks.setting import FULL, QUICK, Setting
from benchmarks.worker import ROOT
from nmt import script

log = logging.getLogger(__name__)

PICTURE_FILE = "results.png"
BUSY = 0.5  # mean number of running processes above which figures would mislead

ParamsOption = Annotated[Path, typer.Option(help="file of parameters")]
QuickOption = Annotated[
    bool, typer.Option("--quick", help="a look whether all works: few batches, tiny sizes")
]
RepeatOption = Annotated[int, typer.Option(min=1, help="whole runs, of which the median is taken")]
OutOption = Annotated[
    Path | None,
    typer.Option(help=f"folder whose {RESULTS_FILE} and {PICTURE_FILE} are brought up to date"),
]
PageOption = Annotated[
    Path | None, typer.Option(help="text file whose table of figures is filled in from them")
]

Part = Callable[[Setting], list[Figure]]


@dataclass(frozen=True)
class Options:
    """How parts are measured, and where the results go.

    Args:
        params: file of parameters.
        quick: whether only a look is taken.
        repeat: whole runs, of which the median is taken.
        out: folder of the results; None for none.
        page: text file whose table is filled in; needs `out`; None for none.
    """

    params: Path
    quick: bool = False
    repeat: int = 1
    out: Path | None = None
    page: Path | None = None


def program(name: str, part: Part) -> typer.Typer:
    """Make a command-line program that measures one part; the part's module is its --help."""

    def main(
        params: ParamsOption = Path("params.yaml"),
        quick: QuickOption = False,
        repeat: RepeatOption = 1,
        out: OutOption = None,
        page: PageOption = None,
    ) -> None:
        measure({name: part}, Options(params, quick, repeat, out, page))

    main.__module__ = part.__module__
    return script.command(main)


def measure(parts: Mapping[str, Part], options: Options) -> None:
    """Measure parts, print a table of all figures, and write the results if asked.

    Raises:
        NmtError: a part can't be measured; nothing is written.
    """
    if options.page is not None and options.out is None:
        raise typer.BadParameter("--page is filled in from results, so it needs --out")
    if os.getloadavg()[0] > BUSY and not options.quick:
        log.warning("the machine is busy (load %.1f): figures may mislead", os.getloadavg()[0])
    runs: dict[str, list[list[Figure]]] = {name: [] for name in parts}
    with prepared(options.params, ROOT, QUICK if options.quick else FULL) as setting:
        for _ in range(options.repeat):
            for name, part in parts.items():
                runs[name].append(part(setting))
        found = {name: combined(figures) for name, figures in runs.items()}
        results = Results(
            facts(setting), options.quick, dict.fromkeys(parts, options.repeat), found
        )
    typer.echo(table(results))
    if options.out is not None:
        _write(results, options.out, options.page)


def _write(results: Results, out: Path, page: Path | None) -> None:
    results.added_to(out / RESULTS_FILE).write(out / RESULTS_FILE)
    whole = Results.read(out / RESULTS_FILE)  # rounded, so that the file alone gives the same page
    draw(whole, out / PICTURE_FILE)
    if page is not None:
        fill_in(page, whole)
