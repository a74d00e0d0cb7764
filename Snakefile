"""The stages of dvc.yaml as rules, to run them in parallel or on a cluster, with logs and times.

DVC alone decides by content which stages are stale, and runs them; Snakemake schedules. A rule's
output is a stamp, for Snakemake would delete DVC's outputs. Before a run the stamps are made to
agree with DVC; a dry run shows what is stale and what follows.

    snakemake -c2
"""

import os
import sys
import time
from functools import cache, partial
from pathlib import Path

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "src"))  # this copy's own library, wherever another is installed

from nmt import dag
from nmt.params import Params


workdir: ROOT


STAGES = dag.stages(ROOT)
# Jobs on a cluster read this file anew while others run: they neither ask DVC nor touch stamps.
STALE = dag.stale(ROOT) if workflow.is_main_process else set()
DRY = workflow.output_settings.dryrun
SHOWN = dag.followers(STAGES, STALE) if DRY else set(STAGES)
COMPUTE = Params.read(ROOT / "params.yaml").value("compute")


def file(address, ending):
    """Return the path of a stage's stamp, log or times; `@` and `-` may not stand in a rule's name."""
    return f".snakemake/stages/{address.replace('@', '_').replace('-', '_')}.{ending}"


def stamp(address):
    """Return the path of a stage's stamp; in a dry run, one that is never there."""
    return file(address, "dry" if DRY else "done")


def cores(stage):
    """Return how many threads a stage keeps busy, in all of its processes."""
    if not {"compute", "compute.threads"} & set(stage.params):
        return 1
    return COMPUTE["threads"] * (COMPUTE["processes"] if stage.name == "train" else 1)


@cache
def agree_with_dvc():
    """Remove the stamps of stale stages; make all others, equally old."""
    now = time.time()
    for address in STAGES:
        path = Path(stamp(address))
        path.parent.mkdir(parents=True, exist_ok=True)
        if address in STALE:
            path.unlink(missing_ok=True)
        else:
            path.touch()
            os.utime(path, (now, now))


def before(address, wildcards):
    """Return the stamps that a stage waits for."""
    if workflow.is_main_process and workflow.executor_plugin and not DRY:  # jobs will run
        agree_with_dvc()
    return [stamp(need) for need in STAGES[address].needs if need in SHOWN]


rule all:
    input:
        "dvc.yaml",  # so that a dry run has nothing to do when nothing is stale
        [stamp(address) for address in STAGES if address in SHOWN],


for stage in STAGES.values():
    if stage.address not in SHOWN:
        continue

    rule:
        name:
            Path(file(stage.address, "rule")).stem
        input:
            partial(before, stage.address),
        output:
            touch(stamp(stage.address)),
        log:
            file(stage.address, "log"),
        benchmark:
            file(stage.address, "tsv")
        threads: cores(stage)
        params:
            address=stage.address,
        shell:
            "dvc --wait-for-lock repro --single-item {params.address} > {log} 2>&1"
