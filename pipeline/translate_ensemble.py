"""Translate the test sets with all seeds of one model at once.

At each step the next token is chosen by the mean of the members' probabilities.

Reads
    models/MODEL/SEED/weights.safetensors, config.json  of each seed of the grid
    data/prepared/MODEL/tokens/TEST.SOURCE.jsonl, tokenizer.json
    data/prepared/MODEL/vocab/SOURCE.json, TARGET.json
    data/prepared/MODEL/spacing.json    of words
Writes
    translations/MODEL/ensemble/hypotheses/TEST.jsonl       tokens, text and counts
    translations/MODEL/ensemble/hypotheses/TEST.txt         the text, one sentence a line
    translations/MODEL/ensemble/hypotheses/record.json      which models, how they searched
    translations/MODEL/ensemble/attention/TEST.safetensors  mean of the members' weights

Example:
    python -m pipeline.translate_ensemble --model additive
"""

from pathlib import Path

from nmt import script
from nmt.compute import ComputeSettings
from nmt.corpus.settings import DataSettings
from nmt.decoding.job import Job, translate_tests
from nmt.decoding.settings import DecodingSettings
from nmt.ensembles import ENSEMBLE
from nmt.grid import GridSettings
from nmt.params import Params
from nmt.prepared import Prepared


def translate_ensemble(
    model: script.ModelOption,
    params: script.ParamsOption = Path("params.yaml"),
    models: Path = Path("models"),
    prepared: Path = Path("data/prepared"),
    out: Path = Path("translations"),
) -> None:
    """Translate the test sets with all seeds of one model."""
    values = Params.read(params)
    seeds = values.section("grid", GridSettings).seeds
    translate_tests(
        Job(
            data=values.section("data", DataSettings),
            compute=values.section("compute", ComputeSettings),
            decoding=values.section("decoding", DecodingSettings),
            models=tuple(models / model / str(seed) for seed in seeds),
            prepared=Prepared(prepared / model),
            out=out / model / ENSEMBLE,
        )
    )


app = script.command(translate_ensemble)

if __name__ == "__main__":
    script.run(app)
