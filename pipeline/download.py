"""Get the corpus: every file checked by hash and number of rows, all of them or none.

Reads, in this order
    $MULTI30K_MIRROR/SPLIT.LANGUAGE.gz  a folder or an address, where set
    data/archive/SPLIT.LANGUAGE[.gz]    files placed by hand, packed or plain
    data.sources of the params file     addresses
Writes
    data/raw/SPLIT.LANGUAGE             one sentence a line, as it came

Example:
    MULTI30K_MIRROR=/mnt/corpora/multi30k python -m pipeline.download
"""

from pathlib import Path
from typing import Annotated

import typer

from nmt import script
from nmt.corpus.settings import DataSettings
from nmt.download.corpus import download_corpus
from nmt.params import Params

MirrorOption = Annotated[
    str | None,
    typer.Option(envvar="MULTI30K_MIRROR", help="folder or address that is asked first"),
]


def download(
    params: script.ParamsOption = Path("params.yaml"),
    out: Path = Path("data/raw"),
    archive: Path = Path("data/archive"),
    mirror: MirrorOption = None,
) -> None:
    """Get the corpus, checked, all of it or nothing."""
    data = Params.read(params).section("data", DataSettings)
    download_corpus(data, out, archive, mirror)


app = script.command(download)

if __name__ == "__main__":
    script.run(app)
