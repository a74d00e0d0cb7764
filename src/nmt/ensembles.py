"""How results are named: of one training by its seed, of an ensemble as that of a model's seeds."""

Seed = int | tuple[int, ...]
"""Seed of a training; of an ensemble, those of its members."""

ENSEMBLE = "ensemble"
"""Stands where a model has its seed: in names of files and folders, and in tables."""

_STAGES = "_ensemble"  # ends the names of an ensemble's stages


def seed_name(seed: Seed) -> str:
    """Return what names of files and tables have as the seed."""
    return str(seed) if isinstance(seed, int) else ENSEMBLE


def label(model: str, seed: Seed) -> str:
    """Name a row of a table: a model, or its ensemble with the number of members."""
    return model if isinstance(seed, int) else f"{model} ({ENSEMBLE} of {len(seed)})"


def in_words(model: str, seed: Seed) -> str:
    """Name a result in a sentence, such as "additive, seed 1"."""
    if isinstance(seed, int):
        return f"{model}, seed {seed}"
    return f"{model}, {ENSEMBLE} of seeds {', '.join(map(str, seed))}"


def stage_address(stage: str, model: str, seed: Seed) -> str:
    """Return the name in DVC of the stage that makes a result.

    Args:
        stage: "train", "translate" or "evaluate".
        model: its name.
        seed: such as 1: "translate@additive-1"; of an ensemble: "translate_ensemble@additive".
    """
    if isinstance(seed, int):
        return f"{stage}@{model}-{seed}"
    return f"{stage}{_STAGES}@{model}"


def split_address(address: str) -> tuple[str, str]:
    """Return model and seed in the name of a stage, ENSEMBLE for the seed of an ensemble's.

    Both are "" for a stage that makes no result: it is run once for all, for each tokenizer or
    for each model.
    """
    name, _, item = address.partition("@")
    if name.endswith(_STAGES):
        return item, ENSEMBLE
    model, _, seed = item.rpartition("-")
    return model, seed
