"""Memory of this process, as Linux tells it."""

from dataclasses import dataclass
from pathlib import Path

from nmt.errors import NmtError


@dataclass(frozen=True)
class Memory:
    """Mebibytes of this process.

    Args:
        peak: the most that was resident since it began, mapped files and libraries included.
        anonymous: resident now and backed by no file.
    """

    peak: float
    anonymous: float


def memory() -> Memory:
    """Return the memory of this process.

    The system's own high-water mark is read, not getrusage's: that is handed on by the parent.

    Raises:
        NmtError: this system does not tell it.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").split("\n")
    except OSError:
        raise NmtError("memory is read from /proc/self/status, which only Linux has") from None
    values = dict(line.split(":", 1) for line in lines if ":" in line)
    return Memory(*(int(values[name].split()[0]) / 1024 for name in ("VmHWM", "RssAnon")))
