"""What a stage ran in: versions, machine, installed packages. Nothing heavy is imported."""

import os
import platform
import socket
import sys
from importlib import metadata
from pathlib import Path

import psutil

from nmt.files import sha256

PACKAGES = ("torch", "spacy", "sentencepiece", "sacrebleu", "numpy", "dvc", "mlflow")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that can change a result."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def freeze() -> str:
    """Return the installed packages, one `name==version` a line, sorted, as `pip freeze` does."""
    lines = {
        f"{item.metadata['Name']}=={item.version}"
        for item in metadata.distributions()
        if item.metadata["Name"]
    }
    return "".join(f"{line}\n" for line in sorted(lines, key=str.lower))


def requirements_sha256(root: Path) -> str:
    """Return the SHA-256 of requirements.lock, or that there is none."""
    path = root / "requirements.lock"
    return sha256(path) if path.is_file() else "no requirements.lock"


def process() -> dict[str, str]:
    """Return host, pid and start time (seconds since 1970) that tell this process from others."""
    me = psutil.Process()
    return {"host": socket.gethostname(), "pid": str(me.pid), "started": f"{me.create_time():.2f}"}


def is_gone(host: str, pid: int, started: float) -> bool:
    """Tell whether a process of this host has ended; of another host: False (can't tell).

    The start time is compared, for a pid is used again; within seconds, for the clock may be
    set. A zombie has ended.
    """
    if host != socket.gethostname():
        return False
    try:
        other = psutil.Process(pid)
        return abs(other.create_time() - started) > 5 or other.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def machine() -> dict[str, str]:
    """Return the processor's name, its cores as seen by this process, and the system."""
    return {"cpu": _cpu(), "cores": str(_cores()), "system": platform.platform()}


def computing() -> dict[str, str]:
    """Return the device and the threads that torch used in this process.

    To be called when the stage has ended. {} if it never loaded torch.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return {}
    used = torch.cuda.is_available() and torch.cuda.is_initialized()
    device = f"cuda: {torch.cuda.get_device_name()}" if used else "cpu"
    return {"device": device, "threads": str(torch.get_num_threads())}


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n"):
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # no Linux
    return platform.processor() or platform.machine()
