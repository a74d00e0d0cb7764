"""`python -m pipeline.run STAGE [options]`: a stage with everything around it.

The stage's script knows nothing of this package, and works without it. Around it, in order:

1. the whole params file is checked;
2. the stage is locked, so that no two processes write to one place;
3. it ends with the DVC that started it, and on SIGINT, SIGTERM and SIGHUP;
4. results that the grid no longer has are set aside before stages that read whole folders;
5. its code, params and data are noted, and must be the same at its end;
6. trainings, evaluations and plots are recorded as runs in MLflow.

Exit codes: 0 done; 1 an error, told in one message; 2 wrong options; 129, 130, 143 stopped.
"""

import logging
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path

from nmt import script
from nmt.errors import NmtError
from nmt.params import Params
from nmt.provenance.code import code_digests
from nmt.run.declared import declared
from nmt.run.inputs import Inputs, require_unchanged
from nmt.run.locks import locked
from nmt.run.prune import prune
from nmt.run.record import Record
from nmt.run.signals import Interrupted, end_with_driver, interruptible
from nmt.run.stage import Stage, Work, call, stage_names

TRACKED = ("train", "evaluate", "evaluate_ensemble", "plot")
PRUNED_BEFORE = ("prepare", "translate_ensemble", "plot", "report")

log = logging.getLogger(__name__)


def main(root: Path) -> None:
    """Run the stage that the command line names.

    Args:
        root: the project's folder. Paths are relative to it, wherever the command is given.
    """
    script.configure_logging()
    os.chdir(root)
    stages = ", ".join(stage_names(root))
    if sys.argv[1:] in ([], ["--help"]):
        sys.exit(f"usage: python -m pipeline.run STAGE [--help]; stages: {stages}")
    name, *options = sys.argv[1:]
    if name not in stages.split(", "):
        sys.exit(f"error: no stage {name}; stages: {stages}")
    try:
        with interruptible():
            end_with_driver()
            code = code_digests(root, name)  # noted before any of it is loaded
            call(name, options, partial(run_stage, root, code))
    except NmtError as error:
        sys.exit(f"error: {error}")
    except Interrupted as stop:
        log.warning("stopped by %s", stop)
        sys.exit(stop.exit_code)


def run_stage(root: Path, code: dict[str, str], stage: Stage, work: Work) -> None:
    """Do a stage's work with everything around it.

    Args:
        root: the project's folder.
        code: digests of the stage's code before it was loaded.
        stage: the call.
        work: what the stage's script does.

    Raises:
        NmtError: whatever is wrong, from the params file to the work itself.
    """
    from nmt.settings import check  # imports the settings of all packages

    params = Params.read(stage.params)
    check(params)
    with locked(root, stage.lock):
        if stage.name in PRUNED_BEFORE:
            prune(root, params)
        says = declared(root, stage.address)
        start = Inputs.now(root, stage, says, code)
        with _recorded(Record(root, stage, says, start)):
            work()
            require_unchanged(root, stage, says, start)


def _recorded(record: Record) -> AbstractContextManager[None]:
    if record.stage.name not in TRACKED:
        return nullcontext()
    from nmt.tracking import recorded  # slow: it imports mlflow

    return recorded(record)
