"""Translate the test sets with a trained model.

Reads
    models/MODEL/SEED/weights.safetensors, config.json
    data/prepared/MODEL/tokens/TEST.SOURCE.jsonl, tokenizer.json
    data/prepared/MODEL/vocab/SOURCE.json, TARGET.json
    data/prepared/MODEL/spacing.json    of words
Writes
    translations/MODEL/SEED/hypotheses/TEST.jsonl       tokens, text and counts of each sentence
    translations/MODEL/SEED/hypotheses/TEST.txt         the text, one sentence a line
    translations/MODEL/SEED/hypotheses/record.json      which model, how it searched
    translations/MODEL/SEED/attention/TEST.safetensors  weights of each token over the source

Example:
    python -m pipeline.translate --model additive --seed 1
"""

from pathlib import Path

from nmt import script
from nmt.compute import ComputeSettings
from nmt.corpus.settings import DataSettings
from nmt.decoding.job import Job, translate_tests
from nmt.decoding.settings import DecodingSettings
from nmt.params import Params
from nmt.prepared import Prepared


def translate(
    model: script.ModelOption,
    seed: script.SeedOption,
    params: script.ParamsOption = Path("params.yaml"),
    models: Path = Path("models"),
    prepared: Path = Path("data/prepared"),
    out: Path = Path("translations"),
) -> None:
    """Translate the test sets with one model."""
    values = Params.read(params)
    translate_tests(
        Job(
            data=values.section("data", DataSettings),
            compute=values.section("compute", ComputeSettings),
            decoding=values.section("decoding", DecodingSettings),
            models=(models / model / str(seed),),
            prepared=Prepared(prepared / model),
            out=out / model / str(seed),
        )
    )


app = script.command(translate)

if __name__ == "__main__":
    script.run(app)
