"""Two revisions, experiments or runs compared: what differs, and whether one is really better."""

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from nmt.compare.cells import Cells, compare_scores
from nmt.compare.differences import Differences, differences
from nmt.compare.sentences import Changed, changed_most
from nmt.compare.sides import CompareError, Project, Side, find
from nmt.compare.significance import Draws
from nmt.compare.verdict import summary

__all__ = ["CompareError", "Comparison", "Wanted", "compare"]


@dataclass(frozen=True)
class Wanted:
    """What a comparison shall show.

    Args:
        draws: of the paired tests.
        sentences: how many that changed most.
        attention: whether their attention is wanted.
    """

    draws: Draws = Draws()
    sentences: int = 5
    attention: bool = False


@dataclass(frozen=True)
class Comparison:
    """All that was found.

    Args:
        a: title of one side.
        b: title of the other.
        differences: in params, code, data and environment.
        scores: each model on each test set.
        sentences: that changed most.
        verdict: one line.
    """

    a: str
    b: str
    differences: Differences
    scores: Cells
    sentences: tuple[Changed, ...]
    verdict: str

    @property
    def complete(self) -> bool:
        """Whether everything that both sides have could be compared."""
        return bool(self.scores.cells) and all(cell.tested for cell in self.scores.cells)

    @property
    def missing(self) -> tuple[str, ...]:
        """What could not be told, and why; each reason once."""
        problems = (cell.problem for cell in self.scores.cells if cell.problem)
        return tuple(dict.fromkeys(problems))


def compare(root: Path, a: str, b: str, wanted: Wanted) -> Comparison:
    """Compare two sides. Nothing is checked out, trained or changed.

    Args:
        root: the project's folder.
        a: commit, tag, branch, experiment of DVC, run of MLflow or "workspace".
        b: likewise; differences are counted from A to B.
        wanted: what to show.

    Raises:
        CompareError: a side does not exist, or is more than one thing.
        LockError: a dvc.lock can't be read, for instance for a merge conflict.
        ParamsError: likewise a params.yaml.
    """
    project = Project.at(root)
    with TemporaryDirectory() as folder:
        one = find(project, a, Path(folder) / "a")
        other = find(project, b, Path(folder) / "b")
        one, other = _alike(one, other)
        differing = differences(project, one, other)
        scores = compare_scores(one, other, wanted.draws)
        sentences = changed_most(one, other, scores.cells, wanted.sentences, wanted.attention)
    verdicts = [(cell.place, cell.verdict) for cell in scores.cells if cell.verdict]
    line = summary(verdicts, sum(1 for cell in scores.cells if not cell.tested))
    return Comparison(one.title, other.title, differing, scores, tuple(sentences), line)


def _alike(a: Side, b: Side) -> tuple[Side, Side]:
    """Beside a run, which is of one model and seed, look at these alone."""
    return (
        (a, replace(b, only=a.only))
        if a.only and not b.only
        else ((replace(a, only=b.only), b) if b.only and not a.only else (a, b))
    )
