"""Paired tests of every model of the grid against the baseline of the same seed.

An ensemble is tested against the baseline of each seed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tqdm import tqdm

from nmt.corpus.raw import raw_path
from nmt.corpus.tokens import lowercased, read_tokenizer
from nmt.ensembles import Seed, in_words, label, stage_address
from nmt.errors import DataError
from nmt.evaluation.metrics import check_lengths
from nmt.evaluation.references import read_references
from nmt.evaluation.scores import ModelScores
from nmt.evaluation.significance import Bootstrap, Comparison, paired_bootstrap
from nmt.report.job import Report
from nmt.translations import read_hypotheses

LEVEL = 0.05
"""Two systems are told apart where the p-value is below this."""


@dataclass(frozen=True)
class Outcome:
    """One comparison, and where it was made.

    Args:
        test: name of the test set.
        seed: of the baseline; and of the model, unless that is an ensemble.
        baseline: the model that another was tested against.
        comparison: what came of it.
    """

    test: str
    seed: int
    baseline: str
    comparison: Comparison

    @property
    def verdict(self) -> str:
        """Say in words what the test tells."""
        if self.comparison.p_value >= LEVEL:
            return "not told apart"
        return "better" if self.comparison.delta > 0 else "worse"


def compare_all(report: Report, scores: Sequence[ModelScores]) -> list[Outcome]:
    """Test each model and ensemble against the baseline, on each test set and for each seed.

    Raises:
        DataError: hypotheses and references do not pair up, or the hypotheses are not those
            that were scored.
    """
    if len(report.grid.models) + len(report.grid.ensembles) < 2:
        return []
    places = [(test, seed) for test in report.data.tests for seed in report.grid.seeds]
    found = []
    for test, seed in tqdm(places, desc="paired bootstrap", disable=None):
        found += _compare_one(report, test, seed)
    for tested in found:
        _check_scored(tested, scores)
    return found


def _compare_one(report: Report, test: str, seed: int) -> list[Outcome]:
    references = read_references(report.folders.raw, test, report.data.target_language)
    grid = report.grid
    systems = [(m, s) for m, s in grid.results() if s in (seed, grid.seeds)]
    texts = {label(m, s): _texts(report, m, s, test, len(references)) for m, s in systems}
    baseline = texts.pop(report.settings.baseline)
    comparisons = paired_bootstrap(
        baseline,
        texts,
        references,
        report.evaluation,
        lowercased(read_tokenizer(report.folders.tokens / report.evaluation.tokenizer)),
        Bootstrap(report.settings.bootstrap_samples, report.settings.bootstrap_seed),
    )
    return [Outcome(test, seed, report.settings.baseline, c) for c in comparisons]


def _texts(report: Report, model: str, seed: Seed, test: str, expected: int) -> list[str]:
    folder = report.folders.hypotheses(model, seed)
    texts = [h.text for h in read_hypotheses(folder, test)]
    path = raw_path(report.folders.raw, test, report.data.target_language)
    check_lengths(len(texts), expected, f"{folder / test}.jsonl and {path}")
    return texts


def _check_scored(tested: Outcome, scores: Sequence[ModelScores]) -> None:
    """Check that the score file tells of these very hypotheses."""
    found = {tested.baseline: tested.comparison.baseline_score}
    found[tested.comparison.system] = tested.comparison.score
    for one in scores:
        if (one.seed != tested.seed and not one.ensemble) or one.label not in found:
            continue
        kept, new = one.tests[tested.test].bleu, found[one.label]
        if kept is not None and abs(kept - new) > 1e-3:
            raise DataError(
                f"{in_words(one.model, one.seed)}, {tested.test}: the score file says BLEU "
                f"{kept}, but its hypotheses give {new}; "
                f"run `dvc repro {stage_address('evaluate', one.model, one.seed)}`"
            )
