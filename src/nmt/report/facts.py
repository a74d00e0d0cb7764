"""The sentences of the report that say what was compared, and how."""

from collections.abc import Sequence
from dataclasses import dataclass

from nmt.evaluation.scores import ModelScores
from nmt.report.comparisons import LEVEL
from nmt.report.job import LANGUAGES, Report
from nmt.report.quality import SEEDS_FOR_BEST
from nmt.report.trainings import Trainings

EXPLAINED = {
    "bleu": "Detokenised text against the raw references.",
    "bleu_tokens": "Lower-cased spaCy tokens joined by spaces: the convention of tutorials, "
    "not comparable with other BLEU figures.",
    "chrf": "Detokenised text against the raw references.",
    "token_accuracy": "Share of reference positions, the end included, at which the output has "
    "the same token, running on its own words.",
}
"""One sentence on each metric."""


@dataclass(frozen=True)
class Facts:
    """What the templates say in words ("" where there is nothing); names as in params.yaml."""

    pair: str
    languages: tuple[str, ...]
    codes: tuple[str, ...]
    models: tuple[str, ...]
    baseline: str
    seeds: tuple[int, ...]
    seeds_text: str
    ensembles: str
    train: str
    train_pairs: int
    validation: str
    tests: tuple[str, ...]
    spread: str
    best: str
    case: str
    training: str
    significance: str


def gather(
    report: Report,
    scores: Sequence[ModelScores],
    train_pairs: int,
    comparisons: int,
    trainings: Trainings,
) -> Facts:
    """Put the facts of a report into words.

    Args:
        report: what is shown.
        scores: the files of the grid, all made with the same settings.
        train_pairs: sentence pairs that the models could train on.
        comparisons: how many paired tests were made.
        trainings: what the models were trained with.
    """
    seeds = report.grid.seeds
    return Facts(
        pair=report.pair,
        languages=tuple(LANGUAGES[language] for language in report.data.languages),
        codes=report.data.languages,
        models=report.grid.models,
        baseline=report.settings.baseline,
        seeds=seeds,
        seeds_text=f"seed{'s' if len(seeds) > 1 else ''} {sentence(list(map(str, seeds)))}",
        ensembles=_ensembles(len(report.grid.ensembles)),
        train=report.data.train,
        train_pairs=train_pairs,
        validation=report.data.validation,
        tests=report.data.tests,
        spread=_spread(len(seeds)),
        best=_best(len(seeds), len(report.grid.models)),
        case=_case(dict(scores[0].settings)),
        training=_training(trainings.differing),
        significance=_significance(report, comparisons),
    )


def sentence(names: Sequence[str]) -> str:
    """Join names as a sentence does: a, b and c."""
    *front, last = names
    return f"{', '.join(front)} and {last}" if front else last


def _spread(seeds: int) -> str:
    if seeds == 1:
        return "One seed a model: how much the scores vary from training to training is not known."
    return f"Mean ± sample standard deviation over {seeds} seeds."


def _ensembles(count: int) -> str:
    if not count:
        return ""
    return (
        "An ensemble is one result, translated with the models of all seeds at once; it enters "
        "no mean and is never marked as the best, and its parameters are those of all members "
        "together."
    )


def _best(seeds: int, models: int) -> str:
    if models < 2:
        return "With one model, none is marked as the best."
    if seeds < SEEDS_FOR_BEST:
        return f"No model is marked as the best with fewer than {SEEDS_FOR_BEST} seeds."
    return (
        "A model is marked as the best on a test set where its worst seed beats "
        "the best seed of every other."
    )


def _case(settings: dict[str, object]) -> str:
    tokenizer = settings["evaluation.bleu_tokenizer"]
    split = f"BLEU of the detokenised text is split by sacreBLEU's own tokenizer, {tokenizer}."
    if settings.get("tokenizer.lowercase") == "true":
        return (
            f"The models write lower-case text, so outputs and references are both "
            f"lower-cased before they are scored. {split}"
        )
    return f"Outputs and references are scored in their own case. {split}"


def _training(differing: Sequence[str]) -> str:
    if not differing:
        return "All models were trained with the same settings."
    return f"The models were not trained alike: they differ in {sentence(differing)}."


def _significance(report: Report, comparisons: int) -> str:
    if not comparisons:
        return "There is one model, so nothing to test."
    settings = report.settings
    ensembles = ", and each ensemble against that of each seed" if report.grid.ensembles else ""
    return (
        f"Each model is tested against {settings.baseline} trained with the same seed{ensembles}, "
        f"by sacreBLEU's paired bootstrap on BLEU of the detokenised text: "
        f"{settings.bootstrap_samples} resamples of each test set, drawn with seed "
        f"{settings.bootstrap_seed}. Two systems count "
        f"as told apart where p is below {LEVEL}. The least that p can be is "
        f"1/{settings.bootstrap_samples + 1}; it is not corrected for the number of tests, "
        f"{comparisons}; equal scores have a p of 1."
    )
