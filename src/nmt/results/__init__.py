"""docs/results.csv and docs/results.md: what finished runs of params files scored."""

from pathlib import Path

from nmt.errors import DataError
from nmt.files import read_text, write_text
from nmt.results.finished import read_finished
from nmt.results.page import with_tables
from nmt.results.rows import PairedTest, Result, as_csv, merged, read_rows

__all__ = ["RESULTS", "SIGNIFICANCE", "PAGE", "add", "write_page"]

RESULTS = Path("docs/results.csv")
SIGNIFICANCE = Path("docs/results_significance.csv")
PAGE = Path("docs/results.md")


def add(root: Path, params_file: Path, note: str = "") -> int:
    """Add the finished run in the working tree to the results; return how many scores it has.

    A row takes the place of one with the same params file, model, seed, test set and metric; all
    others stay. After an error nothing is changed.

    Args:
        root: the project's folder.
        params_file: that the run was made with.
        note: kept with each row.

    Raises:
        NmtError: the run is stale or not whole, or the files of results are damaged.
    """
    run = read_finished(root, params_file, note)
    results = merged(read_rows(root / RESULTS, Result), run.results)
    paired = merged(read_rows(root / SIGNIFICANCE, PairedTest), run.paired)
    page = with_tables(PAGE, _page(root), results, paired)
    write_text(root / RESULTS, as_csv(Result, results))
    write_text(root / SIGNIFICANCE, as_csv(PairedTest, paired))
    write_text(root / PAGE, page)
    return len(run.results)


def write_page(root: Path) -> None:
    """Make the tables of the page again from the files of results.

    Raises:
        DataError: one of the files is damaged.
    """
    results, paired = read_rows(root / RESULTS, Result), read_rows(root / SIGNIFICANCE, PairedTest)
    write_text(root / PAGE, with_tables(PAGE, _page(root), results, paired))


def _page(root: Path) -> str:
    if not (root / PAGE).is_file():
        raise DataError(f"{PAGE}: no such file; `git checkout -- {PAGE}`")
    return read_text(root / PAGE)
