"""The download stage: every file of the corpus from the first source that has it."""

import logging
from collections.abc import Sequence
from pathlib import Path

import httpx
from tqdm import tqdm

from nmt.corpus.raw import raw_path
from nmt.corpus.settings import DataSettings
from nmt.download.payload import AbsentError, SourceError, count_rows
from nmt.download.sources import Folder, Placed, Source
from nmt.download.web import USUAL_LIMITS, Limits, Web
from nmt.errors import DataError
from nmt.files import replacing

_log = logging.getLogger("nmt.download")


def download_corpus(
    data: DataSettings,
    raw: Path,
    archive: Path,
    mirror: str | None,
    limits: Limits = USUAL_LIMITS,
) -> None:
    """Write SPLIT.LANGUAGE for all splits and both languages: all files or, after an error, none.

    Sources in order: the mirror, files placed by hand, `data.sources`. One that lacks a file or
    has another under its name is passed over with a warning; but a file placed by hand is used
    or is an error.

    Args:
        data: the `data` section.
        raw: folder to write; what it held is replaced.
        archive: folder of files placed by hand (NAME.gz or NAME); may be missing.
        mirror: folder or address with NAME.gz; None for none.
        limits: how long to wait for a host.

    Raises:
        DataError: no source has a file, with what each said and what can be done; or a file
            placed by hand is not what it must be; or two sides differ in length.
    """
    with (
        httpx.Client(follow_redirects=True) as client,
        tqdm(desc="download", unit="B", unit_scale=True, disable=None) as bar,
        replacing(raw) as folder,
    ):

        def source(address: str) -> Source:
            if address.startswith(("http://", "https://")):
                return Web(address, client, limits, bar)
            return Folder(Path(address).expanduser())

        first = [source(mirror)] if mirror else []
        sources = [*first, Placed(archive), *map(source, data.sources)]
        folder.mkdir()
        for split in data.splits:
            _write_split(folder, split, data, sources, archive)


def _write_split(
    folder: Path, split: str, data: DataSettings, sources: Sequence[Source], archive: Path
) -> None:
    rows = []
    for language in data.languages:
        text = _obtain(f"{split}.{language}", data, sources, archive)
        raw_path(folder, split, language).write_bytes(text)
        rows.append(count_rows(text))
    if rows[0] != rows[1]:
        source, target = data.languages
        raise DataError(
            f"{split}: {rows[0]} {source} and {rows[1]} {target} rows ({rows[0]} v {rows[1]}); "
            "both sides must be equally long: correct data.files in the params file"
        )


def _obtain(name: str, data: DataSettings, sources: Sequence[Source], archive: Path) -> bytes:
    problems: list[SourceError] = []
    for source in sources:
        try:
            text = source.text(name, data.files[name])
        except SourceError as error:
            problems.append(error)
            continue
        for problem in problems:
            if not isinstance(problem, AbsentError):
                _log.warning("passed over %s", problem)
        return text
    raise DataError(_explain(name, data, problems, archive))


def _explain(name: str, data: DataSettings, problems: list[SourceError], archive: Path) -> str:
    said = "".join(f"\n  {problem}" for problem in problems)
    wanted = ", ".join(
        f"{split}.{language}" for split in data.splits for language in data.languages
    )
    return (
        f"{name}.gz was not to be had:{said}\n"
        f"Put {name}.gz (SHA-256 {data.files[name].archive}) or the text in it as {name} into "
        f"{archive}, or set MULTI30K_MIRROR to a folder or an address that has it, and run the "
        f"download stage again. Wanted: {wanted}"
    )
