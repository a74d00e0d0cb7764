"""Measure speed and cost, side by side in one run: all parts, on a machine that does nothing else.

Reads
    data/raw (or gets the corpus as the download stage does), params.yaml
Writes
    OUT/results.json    figures by part, with spread, and what they were measured on
    OUT/results.png     a picture of them
    PAGE                its table of figures

It takes under twenty minutes on two cores; with --to-bleu, six more.

Example:
    python -m benchmarks --out benchmarks --page docs/performance.md
"""

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.command import (
    Options,
    OutOption,
    PageOption,
    ParamsOption,
    Part,
    QuickOption,
    RepeatOption,
    measure,
)
from benchmarks.decoding import decoding
from benchmarks.floor import floor
from benchmarks.growth import growth
from benchmarks.runs import runs
from benchmarks.threads import threads
from benchmarks.to_bleu import to_bleu as minutes_to_bleu
from benchmarks.tokenization import tokenization
from benchmarks.training import training
from nmt import script

PARTS: dict[str, Part] = {
    "training": training,
    "floor": floor,
    "decoding": decoding,
    "growth": growth,
    "tokenization": tokenization,
    "runs": runs,
    "threads": threads,
}


def main(
    params: ParamsOption = Path("params.yaml"),
    quick: QuickOption = False,
    repeat: RepeatOption = 1,
    out: OutOption = None,
    page: PageOption = None,
    to_bleu: Annotated[
        bool, typer.Option("--to-bleu", help="also the minutes to a validation BLEU of 33")
    ] = False,
) -> None:
    """Measure all parts."""
    parts = PARTS | ({"to_bleu": minutes_to_bleu} if to_bleu else {})
    measure(parts, Options(params, quick, repeat, out, page))


app = script.command(main)

if __name__ == "__main__":
    script.run(app)
