"""All sections of params.yaml in one table, and the check of the whole file.

Outside every stage's imports: a stage reads its own sections, and nothing here makes one stale.
"""

import re
from collections.abc import Iterator, Sequence

from typing_extensions import TypeForm

from nmt.compute import ComputeSettings
from nmt.corpus.settings import DataSettings
from nmt.decoding.settings import DecodingSettings
from nmt.errors import ParamsError
from nmt.evaluation.settings import EvaluationSettings
from nmt.grid import GridSettings
from nmt.model.settings import ModelSettings
from nmt.params import Params, Settings
from nmt.plots.settings import PlotSettings
from nmt.report.settings import ReportSettings
from nmt.tokenization.settings import TokenizerSettings
from nmt.training.settings import TrainingSettings
from nmt.vocab.settings import VocabSettings

ENTRIES = ".NAME"
"""Ends the key of a section that holds one entry for each name of the user's choice."""

SECTIONS: dict[str, TypeForm[Settings]] = {
    "data": DataSettings,
    "compute": ComputeSettings,
    "tokenizer": TokenizerSettings,
    "vocab": VocabSettings,
    "models" + ENTRIES: ModelSettings,
    "training": TrainingSettings,
    "grid": GridSettings,
    "decoding": DecodingSettings,
    "evaluation": EvaluationSettings,
    "plots": PlotSettings,
    "report": ReportSettings,
}


def check(params: Params) -> None:
    """Check every section, and that they fit each other.

    Raises:
        ParamsError: naming everything that is wrong: dotted key, value, what is allowed.
    """
    problems = list(_each_section(params)) or list(_between_sections(params))
    if problems:
        raise ParamsError(f"{params.path}: " + "; ".join(problems))


def _each_section(params: Params) -> Iterator[str]:
    known = [key.removesuffix(ENTRIES) for key in SECTIONS]
    for name in params.names():
        if name not in known:
            yield f"{name}: unknown section; remove it or correct its name ({', '.join(known)})"
    for key, kind in SECTIONS.items():
        yield from (
            _entries(params, key, kind) if key.endswith(ENTRIES) else _fault(params, key, kind)
        )


def _entries(params: Params, key: str, kind: TypeForm[Settings]) -> Iterator[str]:
    section = key.removesuffix(ENTRIES)
    try:
        names = params.names(section)
    except ParamsError as error:
        yield _without_path(params, error)
        return
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9_]+", name):  # it names folders and stages
            yield f"{section}.{name}: a name may hold letters A to Z, digits and _ alone; rename it"
        else:
            yield from _fault(params, f"{section}.{name}", kind)


def _fault(params: Params, key: str, kind: TypeForm[Settings]) -> Iterator[str]:
    try:
        params.section(key, kind)
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
