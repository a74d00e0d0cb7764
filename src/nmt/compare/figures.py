"""The scores of one model on one side, from its score file or from the run's own record."""

from dataclasses import dataclass

from sacrebleu.metrics import BLEU

from nmt.compare.sides import Side
from nmt.ensembles import Seed, in_words, seed_name, stage_address
from nmt.errors import DataError
from nmt.evaluation.metrics import METRICS, bleu_metric
from nmt.evaluation.scores import ModelScores, read_scores
from nmt.evaluation.settings import EvaluationSettings
from nmt.history.runs import Run
from nmt.provenance import names

Item = tuple[str, Seed]
"""A model and the seed of its training, or the seeds of its ensemble."""


@dataclass(frozen=True)
class Figures:
    """Scores, how they were computed, and with what.

    Args:
        tests: value of each metric by test set; None for a missing one.
        signatures: by metric.
        settings: by dotted key, as text.
    """

    tests: dict[str, dict[str, float | None]]
    signatures: dict[str, str]
    settings: dict[str, str]

    @property
    def bleu(self) -> BLEU:
        """The metric that BLEU was computed with."""
        evaluation = EvaluationSettings.model_validate(
            {
                "tokenizer": self.settings.get("tokenizer.name", ""),
                "bleu_tokenizer": self.settings["evaluation.bleu_tokenizer"],
                "chrf_word_order": 0,
            }
        )
        return bleu_metric(evaluation, "case:lc" in self.signatures["bleu"])


def read_figures(side: Side, item: Item) -> Figures:
    """Return the scores of a model and seed, or of an ensemble.

    Raises:
        DataError: they are not at hand, or are older than the model.
    """
    model, seed = item
    if side.bare and side.run:
        return _recorded(side.title, side.run)
    path, reason = side.files.out(f"reports/scores/{model}-{seed_name(seed)}.json")
    if path is None:
        raise DataError(reason)
    if not side.files.lock.scored(model, seed) or _other_members(side, item):
        raise DataError(
            f"{side.title}: the scores of {in_words(model, seed)}, are older than its model or "
            "its translations: run `dvc repro` there"
        )
    try:
        return _of_file(read_scores(path.parent, model, seed))
    except DataError as error:
        raise DataError(str(error).replace(f"{side.files.folder}/", f"{side.title}: ")) from None


def _other_members(side: Side, item: Item) -> bool:
    """Tell whether an ensemble was translated with other models than those of dvc.lock.

    It depends on the folder that they share; without DVC's lists of their files nobody can tell.
    """
    model, seed = item
    if isinstance(seed, int):
        return False
    folder = f"models/{model}"
    made = side.files.filled(folder, (f"{folder}/{member}" for member in seed))
    used = side.files.lock.stages[stage_address("translate", model, seed)].deps[folder]
    return made not in (None, used)


def _of_file(scores: ModelScores) -> Figures:
    tests = {
        test: {name: getattr(values, name) for name in METRICS}
        for test, values in scores.tests.items()
    }
    settings = {key: str(value) for key, value in scores.settings}
    return Figures(tests, dict(scores.signatures), settings)


def _recorded(title: str, run: Run) -> Figures:
    """Return what an evaluation's run recorded; its files are gone."""
    tests: dict[str, dict[str, float | None]] = {}
    for key, value in run.metrics.items():
        test, _, name = key.rpartition(".")
        if name in METRICS:
            tests.setdefault(test, dict.fromkeys(METRICS))[name] = value
    if not tests:
        raise DataError(f"{title}: it recorded no scores; compare a run of evaluate")
    start = names.SIGNATURE
    signatures = {k.removeprefix(start): v for k, v in run.tags.items() if k.startswith(start)}
    return Figures(tests, signatures, run.params)
