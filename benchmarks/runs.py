"""Time that `nmt runs` takes, on a made history: fifty runs, ten commits, six models each.

Example:
    python -m benchmarks.runs
"""

import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks.command import program
from benchmarks.figures import Figure, Lap, figure
from benchmarks.rounds import interleave
from benchmarks.setting import Setting
from nmt import script
from nmt.history import Choice, history
from nmt.tracking import open_store
from tests.unit.made_history import Made
from tests.unit.made_runs import MadeRun, write_runs

SEEDS = (1, 2, 3)


def runs(setting: Setting) -> list[Figure]:
    """Time the command, and the reading alone."""
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as name:
        root = Path(name) / "project"
        count = make_history(root, setting.sizes.commits)
        contenders = {"command": partial(_command, root), "reading": partial(_reading, root)}
        laps = interleave(contenders, setting.sizes.rounds, "runs")
    return [
        figure("command", f"`nmt runs` with {count} runs, the start of Python included", "s",
               [lap.seconds for lap in laps["command"]]),
        figure("reading", f"reading and joining {count} runs", "s",
               [lap.seconds for lap in laps["reading"]]),
    ]  # fmt: skip


def make_history(root: Path, commits: int) -> int:
    """Make a project with some commits, each with five runs; return the number of runs."""
    made = Made.make(root)
    open_store(root)
    found = []
    for number in range(commits):
        made.params["models"]["wide"]["hidden"] = 16 * (number + 1)
        made.results()
        made.commit(f"Width {16 * (number + 1)}")
        found += [_training(made, "wide", seed, 20.0 + number) for seed in SEEDS]
        found += [MadeRun(f"train@base-{seed}", "FAILED") for seed in SEEDS[:2]]
    write_runs(made.root, found)
    return len(found)


def _training(made: Made, model: str, seed: int, bleu: float) -> MadeRun:
    path = f"models/{model}/{seed}"
    params = {f"models.{model}.hidden": str(made.params["models"][model]["hidden"])}
    outs = {path: made.entry(path)["md5"]}
    return MadeRun(
        f"train@{model}-{seed}", params=params, metrics={"best.validation_bleu": bleu}, outs=outs
    )


def _command(root: Path) -> Lap:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "nmt.cli", "runs"], cwd=root, check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    return Lap(time.perf_counter() - began, 1)


def _reading(root: Path) -> Lap:
    began = time.perf_counter()
    history(root, Choice())
    return Lap(time.perf_counter() - began, 1)


app = program("runs", runs)

if __name__ == "__main__":
    script.run(app)
