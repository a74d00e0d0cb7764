"""A model on disk: plain tensors as safetensors beside a JSON of plain values; no pickle."""

from pathlib import Path
from typing import Any

import torch
from pydantic import TypeAdapter, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from nmt.errors import ModelError
from nmt.files import read_json, write_json
from nmt.model.seq2seq import Seq2Seq
from nmt.model.settings import ModelSettings

WEIGHTS = "weights.safetensors"
CONFIG = "config.json"


def save_model(folder: Path, weights: dict[str, torch.Tensor], config: dict[str, Any]) -> None:
    """Write weights (as `Seq2Seq.copy_weights` gives them) and config into an existing folder."""
    save_file(weights, folder / WEIGHTS)
    write_json(folder / CONFIG, config)


def load_model(
    folder: Path, device: torch.device, source_size: int, target_size: int
) -> tuple[Seq2Seq, dict[str, Any]]:
    """Read a model for evaluation, on any device.

    Args:
        folder: where `save_model` wrote.
        device: where the model shall live.
        source_size: size of the source vocabulary in use.
        target_size: size of the target vocabulary in use.

    Returns:
        the model, in evaluation mode, and its config.

    Raises:
        ModelError: the vocabularies have other sizes, the config describes no model, or the
            weights do not fit it.
    """
    config = read_json(folder / CONFIG)
    for side, size in (("source", source_size), ("target", target_size)):
        trained = config["vocabulary"][side]["size"]
        if trained != size:
            raise ModelError(
                f"{folder}: trained with a {side} vocabulary of {trained} tokens, got {size}; "
                "train it again or use the vocabulary that it was trained with"
            )
    model = Seq2Seq(_settings(folder, config), source_size, target_size)
    try:
        missing, unexpected = model.load_state_dict(load_file(folder / WEIGHTS), strict=False)
    except (OSError, SafetensorError, RuntimeError) as error:
        raise ModelError(f"{folder / WEIGHTS}: does not fit its config: {error}") from None
    tied = {"output.weight"} if model.settings.tie_target else set()
    if model.settings.tie_source:
        tied.add("decoder.embedding.weight")
    if set(missing) - tied or unexpected:
        raise ModelError(
            f"{folder / WEIGHTS}: tensors missing {sorted(missing)}, unknown {sorted(unexpected)}; "
            "train the model again"
        )
    return model.to(device).eval(), config


def _settings(folder: Path, config: dict[str, Any]) -> ModelSettings:
    kinds: TypeAdapter[ModelSettings] = TypeAdapter(ModelSettings)
    try:
        return kinds.validate_python(config["model"], strict=False)
    except ValidationError as error:
        raise ModelError(
            f"{folder / CONFIG}: describes no model that this version knows: {error}; "
            "train the model again"
        ) from None
