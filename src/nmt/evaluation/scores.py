"""Score files: one for each model and seed, and each ensemble, which is also a metrics file of DVC.

DVC shows every number and text in the mappings of such a file as a column, and nothing that lies
in a list. So the scores are mappings, and signatures and settings are lists of pairs.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from nmt.ensembles import Seed, in_words, label, seed_name, stage_address
from nmt.errors import DataError
from nmt.files import read_json, write_json

Value = str | int | float | bool | None
"""A setting, as params.yaml or a tokenizer's description holds it."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class SetScores(_Strict):
    """One model on one test set; a metric that could not be computed is null, never 0."""

    bleu: float | None = Field(description="BLEU of the detokenised text, 0 to 100")
    bleu_tokens: float | None = Field(description="BLEU on lower-cased tokens, 0 to 100")
    chrf: float | None = Field(description="chrF of the detokenised text, 0 to 100")
    token_accuracy: float | None = Field(description="share of reference positions, 0 to 1")
    sentences: int = Field(ge=1, description="hypotheses scored")
    empty: int = Field(ge=0, description="hypotheses without any text")
    cut: int = Field(ge=0, description="hypotheses that met the length limit")
    with_unknown: int = Field(ge=0, description="hypotheses in which <unk> was produced")
    unknown_tokens: int = Field(ge=0, description="how often it was")
    source_unknown_rate: float = Field(
        ge=0, le=1, description="share of source tokens that the vocabulary lacks"
    )


class ModelScores(_Strict):
    """All scores of one model trained with one seed, or of an ensemble over its seeds."""

    model: str = Field(description="name in params.yaml")
    seed: Seed = Field(description="seed of its training; of an ensemble, those of its members")
    parameters: int = Field(ge=0, description="numbers that it learned; of all members together")
    best_epoch: int | tuple[int, ...] = Field(
        description="epoch whose weights were used; of an ensemble, each member's"
    )
    tests: dict[str, SetScores] = Field(description="by name of the test set")
    signatures: tuple[tuple[str, str], ...] = Field(description="metric, how it was computed")
    settings: tuple[tuple[str, Value], ...] = Field(
        description="dotted key, value: what the hypotheses and the scores were made with"
    )

    @property
    def ensemble(self) -> bool:
        """Whether several models made the translations together."""
        return not isinstance(self.seed, int)

    @property
    def seed_name(self) -> str:
        """What a table has as the seed."""
        return seed_name(self.seed)

    @property
    def label(self) -> str:
        """Name of its row in a table over all seeds."""
        return label(self.model, self.seed)

    def signature(self, metric: str) -> str:
        """Return how a metric was computed."""
        return dict(self.signatures)[metric]


def scores_path(folder: Path, model: str, seed: Seed) -> Path:
    """Return where the scores of one model and seed, or of an ensemble, lie."""
    return folder / f"{model}-{seed_name(seed)}.json"


def write_scores(folder: Path, scores: ModelScores) -> Path:
    """Write a score file into `folder` and return its path."""
    path = scores_path(folder, scores.model, scores.seed)
    write_json(path, scores.model_dump(mode="json"))
    return path


def read_scores(folder: Path, model: str, seed: Seed) -> ModelScores:
    """Read a score file.

    Raises:
        DataError: it is missing (naming the stage to run), damaged, or another model's.
    """
    path = scores_path(folder, model, seed)
    again = f"run `dvc repro {stage_address('evaluate', model, seed)}`"
    if not path.is_file():
        raise DataError(f"{path}: no scores of {in_words(model, seed)}; {again}")
    try:
        # Through JSON: there a list may fill a tuple, strictly.
        scores = ModelScores.model_validate_json(json.dumps(read_json(path)))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"])) or "the file"
        raise DataError(f"{path}: {key}: {first['msg']}; {again}") from None
    if (scores.model, scores.seed) != (model, seed):
        raise DataError(
            f"{path}: expected the scores of {in_words(model, seed)}, "
            f"got those of {in_words(scores.model, scores.seed)}; {again}"
        )
    return scores


def flatten(sections: Mapping[str, Mapping[str, Any]]) -> tuple[tuple[str, Value], ...]:
    """Turn sections of settings into pairs of dotted key and value, in their own order."""
    pairs: dict[str, Value] = {}
    for section, values in sections.items():
        for key, value in values.items():
            if isinstance(value, dict):
                pairs.update(flatten({f"{section}.{key}": value}))
            elif isinstance(value, list | tuple):
                pairs[f"{section}.{key}"] = ", ".join(map(str, value))
            else:
                pairs[f"{section}.{key}"] = value
    return tuple(pairs.items())
