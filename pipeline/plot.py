"""Draw training curves, attention and encoder states of all models of the grid.

Reads
    models/MODEL/SEED/history.jsonl, iterations.csv, config.json, weights.safetensors
    translations/MODEL/SEED/hypotheses/TEST.jsonl
    translations/MODEL/SEED/attention/TEST.safetensors
    data/prepared/MODEL/tokens/TEST.{SOURCE,TARGET}.jsonl, tokenizer.json
    data/prepared/MODEL/vocab/SOURCE.json, TARGET.json
Writes, each with captions.json: the pictures' titles and texts for those who don't see them
    reports/training/*.png              epochs and batches; curves.csv: the epochs' figures
    reports/attention/*.png             one picture a sentence, the models side by side
    reports/encoder_states/*.png        one picture a model; neighbours.json: chrF of near points

Example:
    python -m pipeline.plot
"""

from pathlib import Path

from nmt import script
from nmt.compute import ComputeSettings
from nmt.corpus.settings import DataSettings
from nmt.grid import GridSettings
from nmt.params import Params
from nmt.plots.draw import draw_pictures
from nmt.plots.job import Folders, Job
from nmt.plots.settings import PlotSettings


def plot(
    params: script.ParamsOption = Path("params.yaml"),
    prepared: Path = Path("data/prepared"),
    models: Path = Path("models"),
    translations: Path = Path("translations"),
    reports: Path = Path("reports"),
) -> None:
    """Draw training curves, attention and encoder states."""
    values = Params.read(params)
    draw_pictures(
        Job(
            settings=values.section("plots", PlotSettings),
            grid=values.section("grid", GridSettings),
            data=values.section("data", DataSettings),
            compute=values.section("compute", ComputeSettings),
            folders=Folders(prepared, models, translations, reports),
        )
    )


app = script.command(plot)

if __name__ == "__main__":
    script.run(app)
