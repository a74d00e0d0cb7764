"""Where tensors live and how exactly they are computed: one code path for CPU and CUDA."""

import ctypes
import os
import sys
from contextlib import AbstractContextManager

import torch

from nmt.compute import ComputeSettings
from nmt.errors import ParamsError


def prepare(settings: ComputeSettings) -> torch.device:
    """Apply the settings to this process and return the device.

    Deterministic algorithms are switched on. Threads are set here and not by the environment,
    so that any driver gives the same bytes.

    Raises:
        ParamsError: CUDA is asked for and there is none.
    """
    torch.set_num_threads(settings.threads)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    _keep_freed_memory()
    cuda = torch.cuda.is_available()
    if settings.device == "cuda" and not cuda:
        raise ParamsError("compute.device: got 'cuda', but no CUDA device is seen; use cpu or auto")
    return torch.device("cuda" if cuda and settings.device != "cpu" else "cpu")


def autocast(device: torch.device, settings: ComputeSettings) -> AbstractContextManager[None]:
    """Return the context in which a model is run at the asked precision."""
    enabled = settings.precision == "bfloat16"
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=enabled)


def _keep_freed_memory() -> None:
    """Let glibc keep large freed blocks instead of giving them back to the system at once.

    The logits of a batch are tens of megabytes; paging them in anew at each step costs as much
    as computing them.
    """
    if sys.platform != "linux":
        return
    try:
        libc = ctypes.CDLL("libc.so.6")
        m_trim_threshold, m_mmap_threshold = -1, -3
        libc.mallopt(m_mmap_threshold, 1 << 30)
        libc.mallopt(m_trim_threshold, (1 << 31) - 1)
    except (OSError, AttributeError):  # another C library: only speed is lost
        return
