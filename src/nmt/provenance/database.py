"""Where the project keeps its runs. Without mlflow, whose import takes seconds."""

import re
import tomllib
from pathlib import Path

DATABASE = "mlflow.db"
VARIABLE = "MLFLOW_TRACKING_URI"


def database_uri(root: Path) -> str:
    """Return the address of the project's own database, wherever the folder lies now."""
    return f"sqlite:///{store_folder(root) / DATABASE}"


def store_folder(root: Path) -> Path:
    """Return the folder of the project's store.

    An experiment that DVC runs in a temporary copy is recorded in the project it was copied
    from, for the copy is thrown away.
    """
    parts = root.resolve().parts
    for i in range(len(parts)):
        if parts[i : i + 3] == (".dvc", "tmp", "exps"):
            return Path(*parts[:i])
    return root.resolve()


def project_name(root: Path) -> str:
    """Return the name in pyproject.toml; it is that of the experiment too."""
    try:
        content = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        return str(content["project"]["name"])
    except (OSError, ValueError, KeyError):
        return root.resolve().name


def without_password(text: str) -> str:
    """Return a text with the passwords in its addresses (http://me:secret@host) blotted out."""
    return re.sub(r"(://[^/:@\s]*:)[^/@\s]+@", r"\1***@", text)
