"""What the figures were measured on; no host name, no path."""

import os

import torch

from benchmarks.project import compute_settings, wanted_device
from benchmarks.setting import Setting
from nmt.provenance.environment import machine, versions


def facts(setting: Setting) -> dict[str, str]:
    """Return processor, cores, versions, threads and how waiting threads wait."""
    compute, found = compute_settings(setting), machine()
    cuda = wanted_device(setting).type == "cuda"
    return {
        "processor": found["cpu"],
        "cores": found["cores"],
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "device": torch.cuda.get_device_name() if cuda else "cpu",
        "precision": compute.precision,
        "threads": str(compute.threads),
        "omp_wait_policy": os.environ.get("OMP_WAIT_POLICY", "not set"),
        "python": versions()["python"],
        "torch": torch.__version__,
        "spacy": versions()["spacy"],
    }
