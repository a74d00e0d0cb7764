"""Raw data and archives against the checksums that params.yaml pins."""

import os
from collections.abc import Iterator
from pathlib import Path

from nmt.audit.findings import Check, Link, Status
from nmt.audit.outs import short
from nmt.audit.tree import Project
from nmt.corpus.settings import DataSettings
from nmt.download.payload import SourceError, check_archive, check_text

ARCHIVES = Path("data/archive")
MIRROR = "MULTI30K_MIRROR"


def names(data: DataSettings) -> list[str]:
    """Return the files of the corpus that the project uses, such as train.de."""
    return [f"{split}.{language}" for split in data.splits for language in data.languages]


def check_raw(link: Link, data: DataSettings, project: Project) -> None:
    """Compare each raw file with its pinned SHA-256 and number of rows."""
    missing, wrong = [], 0
    for name in names(data):
        path = project.root / link.path / name
        if not path.is_file():
            missing.append(name)
            continue
        try:
            check_text(path.read_bytes(), data.files[name], f"{link.path}/{name}")
        except SourceError as error:
            wrong += 1
            link.add(Check.SOURCE, Status.BROKEN, str(error))
    if missing:
        link.add(
            Check.SOURCE,
            Status.UNKNOWN,
            f"not compared with the pinned checksums: {', '.join(missing)} not here; "
            f"`dvc pull {link.path}` or `nmt audit --replay {link.stage}` would settle it",
        )
    elif not wrong:
        n = len(names(data))
        link.add(Check.SOURCE, Status.OK, f"{n} files have the SHA-256 and rows that are pinned")


def check_archives(data: DataSettings, project: Project) -> Link:
    """Return the link for the archives: pinned, and compared where a copy is at hand."""
    link = Link("source archives", "data.files of params.yaml")
    hold = list(_at_hand(data, project.root))
    for name, path in hold:
        try:
            check_archive(path.read_bytes(), data.files[name], str(path))
        except SourceError as error:
            link.add(Check.SOURCE, Status.MARKED, f"a copy at hand is another: {error}")
    pinned = ", ".join(f"{name}.gz {short(data.files[name].archive)}" for name in names(data)[:2])
    link.add(
        Check.SOURCE,
        Status.OK,
        f"{len(names(data))} archives are pinned by SHA-256 ({pinned} and so on) and compared "
        f"when they are downloaded; copies at hand now: {len(hold)}",
    )
    return link


def _at_hand(data: DataSettings, root: Path) -> Iterator[tuple[str, Path]]:
    mirror = os.environ.get(MIRROR, "")
    folders = [root / ARCHIVES]
    if mirror and not mirror.startswith(("http://", "https://")):
        folders.append(Path(mirror).expanduser())
    for folder in folders:
        for name in names(data):
            if (folder / f"{name}.gz").is_file():
                yield name, folder / f"{name}.gz"
