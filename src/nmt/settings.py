"""All sections of params.yaml in one table, and the check of the whole file.

Outside every stage's imports: a stage reads its own sections, and nothing here makes one stale.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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
    "tokenizers" + ENTRIES: TokenizerSettings,
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
        if key.endswith(ENTRIES):
            yield from _entries(params, key.removesuffix(ENTRIES), kind)
        else:
            yield from _fault(params, partial(params.section, key, kind))


def _entries(params: Params, section: str, kind: TypeForm[Settings]) -> Iterator[str]:
    try:
        names = params.names(section)
    except ParamsError as error:
        yield _without_path(params, error)
        return
    for name in names:
        if not re.fullmatch(r"[A-Za-z0-9_]+", name):  # it names folders and stages
            yield f"{section}.{name}: a name may hold letters A to Z, digits and _ alone; rename it"
        elif section + ENTRIES == MODELS:
            yield from _fault(params, partial(read_model, params, name))
            yield from _fault(params, partial(read_training, params, name))
        else:
            yield from _fault(params, partial(params.section, f"{section}.{name}", kind))


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
    tokenizers = {
        name: params.section(f"tokenizers.{name}", TokenizerSettings)
        for name in params.names("tokenizers")
    }
    for name in grid.models:
        yield from _not_in("grid.models", name, "models", params.names("models"))
    for name in params.names("models"):
        yield from _tokenizer_of(name, read_model(params, name), tokenizers)
    scored = params.section("evaluation", EvaluationSettings).tokenizer
    words = [name for name, tokenizer in tokenizers.items() if tokenizer.kind == "spacy"]
    yield from _not_in("evaluation.tokenizer", scored, "tokenizers of kind spacy", words)
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


def _tokenizer_of(
    name: str, model: ModelSettings, tokenizers: Mapping[str, TokenizerSettings]
) -> Iterator[str]:
    """Tell if a model's tokenizer is not there, or not one that it can have."""
    key = f"models.{name}"
    yield from _not_in(f"{key}.tokenizer", model.tokenizer, "tokenizers", list(tokenizers))
    if not model.tie_source or model.tokenizer not in tokenizers:
        return
    tokenizer = tokenizers[model.tokenizer]
    if tokenizer.kind == "spacy" or not tokenizer.splitting.joint:
        yield (
            f"{key}.tie_source: got True, but tokenizers.{model.tokenizer} has a vocabulary for "
            "each language; name one whose splitting.joint is true, or choose false"
        )


def _not_in(key: str, value: object, where: str, allowed: Sequence[object]) -> Iterator[str]:
    if value not in allowed:
        names = ", ".join(map(str, allowed))
        yield f"{key}: got {value!r}, which is not in {where} ({names}); name one of them"
