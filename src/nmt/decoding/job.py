"""The translation of all test sets by a model or an ensemble, from files to files."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.compute import ComputeSettings
from nmt.corpus.pieces import are_pieces, join_pieces
from nmt.corpus.settings import DataSettings
from nmt.corpus.tokens import read_tokenizer, read_tokens, tokens_path
from nmt.corpus.vocabulary import Vocabulary
from nmt.decoding.settings import DecodingSettings
from nmt.decoding.translator import Translation, Translator
from nmt.device import prepare
from nmt.errors import ModelError
from nmt.files import replacing, sha256
from nmt.model.store import load_model
from nmt.prepared import Prepared
from nmt.spacing import Spacing
from nmt.translations import Record, write_attention, write_hypotheses, write_record

log = logging.getLogger(__name__)

Config = dict[str, Any]
"""What stands in a model's config.json."""


@dataclass(frozen=True)
class Job:
    """Which model translates what, how, and where the result goes.

    Args:
        data: languages and test sets.
        compute: device, precision and threads.
        decoding: how it searches.
        models: folder of the model; of an ensemble, of each member.
        prepared: tokenised sources and vocabularies of the model.
        out: folder of the translations.
    """

    data: DataSettings
    compute: ComputeSettings
    decoding: DecodingSettings
    models: tuple[Path, ...]
    prepared: Prepared
    out: Path


def translate_tests(job: Job) -> None:
    """Translate every test set; write `hypotheses` and `attention` into `job.out`, each whole.

    Raises:
        DataError: a file is missing or damaged.
        ModelError: a model does not belong to these tokens and vocabularies, or the members of an
            ensemble are not one model trained with several seeds.
    """
    translator, configs = _load(job)
    sources = {
        test: read_tokens(tokens_path(job.prepared.tokens, test, job.data.source_language))
        for test in job.data.tests
    }
    found = {test: translator.translate(source, test) for test, source in sources.items()}
    for test, translations in found.items():
        log.info("%s", summary(test, translations))
    _write(job, found, configs)


def _load(job: Job) -> tuple[Translator, list[Config]]:
    """Read the models and their vocabularies, and check that they belong together."""
    device = prepare(job.compute)
    paths = {
        side: job.prepared.vocab / f"{language}.json"
        for side, language in zip(("source", "target"), job.data.languages, strict=True)
    }
    source, target = (Vocabulary.load(path) for path in paths.values())
    models, configs = [], []
    for folder in job.models:
        model, config = load_model(folder, device, len(source), len(target))
        for side, path in paths.items():
            check_vocabulary(folder, path, config["vocabulary"][side]["sha256"])
        check_tokenizer(folder, job.prepared.tokens, config["tokenizer"])
        models.append(model)
        configs.append(config)
    check_members(job.models, configs)
    pieces = are_pieces(configs[0]["tokenizer"])
    join = join_pieces if pieces else Spacing.load(job.prepared.spacing).join
    return Translator(tuple(models), source, target, join, job.decoding, job.compute), configs


def check_members(folders: Sequence[Path], configs: Sequence[Config]) -> None:
    """Refuse models of unlike names or settings: an ensemble is of one model's seeds."""
    first = configs[0]
    for folder, config in zip(folders, configs, strict=True):
        if (config["name"], config["model"]) != (first["name"], first["model"]):
            raise ModelError(
                f"{folders[0]} and {folder} can't translate together: they are {first['name']} "
                f"with {first['model']}, and {config['name']} with {config['model']}; train both "
                "with the same settings"
            )


def check_vocabulary(model: Path, path: Path, trained: str) -> None:
    """Refuse a vocabulary that is not the one a model was trained with, by SHA-256."""
    found = sha256(path)
    if found != trained:
        raise ModelError(
            f"{path}: SHA-256 is {found}, but {model} was trained with a vocabulary of {trained}; "
            "train the model again or bring its vocabulary back"
        )


def check_tokenizer(model: Path, tokens: Path, trained: dict[str, str]) -> None:
    """Refuse tokens of another tokenizer, or another version, than a model was trained on."""
    found = read_tokenizer(tokens)
    differing = [
        f"{key} is {found.get(key)!r}, in training {trained.get(key)!r}"
        for key in sorted(found.keys() | trained.keys())
        if found.get(key) != trained.get(key)
    ]
    if differing:
        raise ModelError(
            f"{tokens}: not the tokenizer that {model} was trained with: {'; '.join(differing)}; "
            "tokenize with the same one or train the model again"
        )


def summary(test: str, translations: list[Translation]) -> str:
    """Return one line on a test set: sentences, cut ones, unknown words on both sides."""
    hypotheses = [translation.hypothesis for translation in translations]
    cut = sum(h.cut for h in hypotheses)
    words = sum(h.source_length for h in hypotheses)
    unknown = sum(h.source_unknown for h in hypotheses)
    return (
        f"{test}: {len(hypotheses)} sentences, "
        f"{cut} cut at the length limit ({cut / max(len(hypotheses), 1):.1%}), "
        f"{sum(not h.tokens for h in hypotheses)} empty, "
        f"{sum(h.unknown for h in hypotheses)} <unk> produced, "
        f"{unknown} of {words} source tokens unknown ({unknown / max(words, 1):.1%})"
    )


def _write(job: Job, found: dict[str, list[Translation]], configs: list[Config]) -> None:
    first, alone = configs[0], len(configs) == 1
    record = Record(
        name=first["name"],
        seed=first["seed"] if alone else tuple(config["seed"] for config in configs),
        parameters=sum(config["parameters"] for config in configs),
        best_epoch=first["best_epoch"] if alone else tuple(c["best_epoch"] for c in configs),
        decoding=job.decoding.model_dump(),
        tokenizer=first["tokenizer"],
        source_language=job.data.source_language,
        target_language=job.data.target_language,
    )
    with (
        replacing(job.out / "hypotheses") as hypotheses,
        replacing(job.out / "attention") as attention,
    ):
        for test, translations in found.items():
            write_hypotheses(hypotheses, test, [t.hypothesis for t in translations])
            write_attention(attention, test, [t.weights for t in translations])
        write_record(hypotheses, record)
