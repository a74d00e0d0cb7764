"""All runs in MLflow, and all revisions and experiments in DVC, joined on hashes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nmt.history.best import METRIC, best_of
from nmt.history.revisions import WORKSPACE, read_revisions
from nmt.history.rows import join
from nmt.history.runs import HistoryError, read_runs
from nmt.history.select import Condition, in_order, require_known
from nmt.history.show import History, default_columns

__all__ = ["Choice", "History", "HistoryError", "history"]


@dataclass(frozen=True)
class Choice:
    """Which rows are shown, and how.

    Args:
        where: conditions, all of which must hold.
        sort: a field, param or metric; "" for the time of the run.
        reverse: whether the order is turned round.
        limit: at most so many rows; None for all.
        columns: fields, params and metrics; () for the usual ones.
        best: the validation metric that the best is chosen by.
    """

    where: Sequence[str] = ()
    sort: str = ""
    reverse: bool = False
    limit: int | None = None
    columns: Sequence[str] = ()
    best: str = METRIC


def history(root: Path, choice: Choice) -> History:
    """Read runs, revisions and experiments, and choose among them. Changes nothing.

    Raises:
        HistoryError: git or the store of runs can't be read, or the choice names what no run has.
    """
    runs = read_runs(root)
    revisions = read_revisions(root)
    every = join(root, runs, revisions)
    conditions = [Condition.parse(said) for said in choice.where]
    asked = [*(c.key for c in conditions), *filter(None, [choice.sort]), *choice.columns]
    require_known(every, asked)
    rows = [row for row in every if all(condition.holds(row) for condition in conditions)]
    best = best_of(rows, choice.best)
    if choice.sort:
        rows = in_order(rows, choice.sort, choice.reverse)
    elif choice.reverse:
        rows.reverse()
    kinds = [revision.kind for revision in revisions if revision.kind != WORKSPACE]
    return History(
        address=runs.address,
        rows=tuple(rows[: choice.limit]),
        columns=tuple(choice.columns) or default_columns(rows, choice.best),
        total=len(every),
        revisions=(kinds.count("commit"), kinds.count("experiment")),
        best=best,
        problems=tuple(revision.problem for revision in revisions if revision.problem),
    )
