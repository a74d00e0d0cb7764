"""Where DVC keeps files by their hash."""

import configparser
from pathlib import Path


def cache_folder(root: Path) -> Path:
    """Return the folder of DVC's cache, also if its config names another place than the usual.

    Args:
        root: the project's folder.
    """
    place = ".dvc/cache"
    for name in ("config", "config.local"):
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        try:
            parser.read(root / ".dvc" / name, encoding="utf-8")
            place = str(Path(".dvc") / parser["cache"]["dir"])
        except (KeyError, configparser.Error):
            continue
    return root / place / "files" / "md5"
