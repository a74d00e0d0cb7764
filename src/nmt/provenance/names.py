"""Names of what a run holds: written here, read by whoever joins runs with DVC's hashes.

Params: the dotted keys of params.yaml that the stage reads, and `model` and `seed`, which is
"ensemble" for an evaluation of all seeds at once.
Metrics: a stage's figures by epoch; `best.*` of the epoch kept; scores as `TEST.METRIC`; minutes.
"""

PROJECT = "project"  # name in pyproject.toml
STAGE = "stage"  # name in DVC, such as "train@additive-1"
DECLARED = "stage.declared"  # "true"; "false" for a stage that dvc.yaml does not have
EXPERIMENT = "dvc.experiment"  # name of the DVC experiment that ran the stage, if one did
COMMIT = "git.commit"  # 40 digits, or in words why there is none
DIRTY = "git.dirty"  # "true", "false" or "unknown": of code and params, not of dvc.lock and reports
DIFF = "git.diff_sha256"  # of the artifact git/diff.patch; "" when clean
CODE = "code.sha256"  # of all files of the stage's code, at its start
PARAMS = "params.sha256"  # of all values that the stage reads, at its start
DEP = "dep."  # + path: the hash in dvc.lock, at the stage's start
OUT = "out."  # + path: likewise, at its end
VERSION = "version."  # + package
REQUIREMENTS = "requirements.sha256"  # of requirements.lock
MACHINE = "machine."  # + cpu, cores, system
DEVICE = "device"  # "cpu", or "cuda: NAME"
THREADS = "threads"  # that torch used
PROCESS = "process."  # + host, pid, started
ENDED_BY = "ended_by"  # SIGINT, SIGTERM, SIGHUP or "sweep" of a KILLED run
SIGNATURE = "signature."  # + metric: how an evaluation computed it
ERROR = "error"  # message of a FAILED run
DIVERGED = "diverged"  # "true" when a figure was not a finite number
CONTINUES = "continues"  # id of the run whose training this one took up

# Artifacts
DIFF_FILE = "git/diff.patch"
PARAMS_FILE = "params/params.yaml"
FREEZE_FILE = "environment/freeze.txt"
CODE_FILE = "code/sha256.txt"
