"""All sections of params.yaml in one table, and the check of the whole file.

Outside every stage's imports: a stage reads its own sections, and nothing here makes one stale.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from typing_extensions import TypeForm

from nmt.compute import ComputeSettings
from nmt.corpus.settings import DataSettings
from nmt.decoding.settings import DecodingSettings
from nmt.describe import Key, keys
from nmt.errors import ParamsError
from nmt.evaluation.settings import EvaluationSettings
from nmt.grid import GridSettings
from nmt.model.settings import ModelSettings, read_model
from nmt.params import Params, Settings
from nmt.plots.settings import PlotSettings
from nmt.report.settings import ReportSettings
from nmt.tokenization.settings import TokenizerSettings
from nmt.training.settings import TrainingSettings, read_training
from nmt.vocab.settings import VocabSettings

ENTRIES = ".NAME"
"""Ends the key of a section that holds one entry for each name of the user's choice."""

MODELS = "models" + ENTRIES
"""Of these entries a part is read with the `training` section."""

OWN_TRAINING = Key(
    f"{MODELS}.training",
    "any keys of training",
    "what differs from the training section for this model; {} for nothing",
)

SECTIONS: dict[str, TypeForm[Settings]] = {
    "data": DataSettings,
    "compute": ComputeSettings,
    "tokenizer": TokenizerSettings,
    "vocab": VocabSettings,
    MODELS: ModelSettings,
    "training": TrainingSettings,
    "grid": GridSettings,
    "decoding": DecodingSettings,
    "evaluation": EvaluationSettings,
    "plots": PlotSettings,
    "report": ReportSettings,
}


def every_key() -> Iterator[Key]:
    """Yield all keys that the file has, in the order of the sections."""
    for section, kind in SECTIONS.items():
        yield from keys(section, kind)
        if section == MODELS:
            yield OWN_TRAINING


def check(params: Params) -> None:
    """Check every section, and that they fit each other.

    Raises:
        ParamsError: naming everything that is wrong: dotted key, value, what is allowed.
    """
    problems = list(_each_section(params)) or list(_between_sections(params))
    if problems:
        # What is wrong in `training` is found again with each model.
        raise ParamsError(f"{params.path}: " + "; ".join(dict.fromkeys(problems)))


def _each_section(params: Params) -> Iterator[str]:
    known = [key.removesuffix(ENTRIES) for key in SECTIONS]
    for name in params.names():
        if name not in known:
            yield f"{name}: unknown section; remove it or correct its name ({', '.join(known)})"
    for key, kind in SECTIONS.items():
        read = partial(params.section, key, kind)
        yield from _models(params) if key == MODELS else _fault(params, read)


def _models(params: Params) -> Iterator[str]:
    try:
        names = params.names("models")
    except ParamsError as error:
        yield _without_path(params, error)
        return
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9_]+", name):  # it names folders and stages
            yield f"models.{name}: a name may hold letters A to Z, digits and _ alone; rename it"
        else:
            yield from _fault(params, partial(read_model, params, name))
            yield from _fault(params, partial(read_training, params, name))


def _fault(params: Params, read: Callable[[], object]) -> Iterator[str]:
    try:
        read()
    except ParamsError as error:
        yield _without_path(params, error)


def _without_path(params: Params, error: ParamsError) -> str:
    return str(error).removeprefix(f"{params.path}: ")


def _between_sections(params: Params) -> Iterator[str]:
    """Tell now what a late stage would stumble over after hours of training."""
    data = params.section("data", DataSettings)
    grid = params.section("grid", GridSettings)
    plots = params.section("plots", PlotSettings)
    report = params.section("report", ReportSettings)
    for name in grid.models:
        yield from _not_in("grid.models", name, "models", params.names("models"))
    yield from _not_in("report.baseline", report.baseline, "grid.models", grid.models)
    yield from _not_in("plots.seed", plots.seed, "grid.seeds", grid.seeds)
    for key, test, number in (
        ("attention", plots.attention_test, max(plots.attention_sentences)),
        ("states", plots.states_test, plots.states_sentences),
    ):
        yield from _not_in(f"plots.{key}_test", test, "data.tests", data.tests)
        rows = data.files[f"{test}.{data.source_language}"].rows if test in data.tests else number
        if number > rows:
            yield f"plots.{key}_sentences: got {number}, but {test} has {rows} sentences"


def _not_in(key: str, value: object, where: str, allowed: Sequence[object]) -> Iterator[str]:
    if value not in allowed:
        names = ", ".join(map(str, allowed))
        yield f"{key}: got {value!r}, which is not in {where} ({names}); name one of them"
