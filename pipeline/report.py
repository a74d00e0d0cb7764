"""Put scores, tests, pictures, data and sample translations into tables and one page.

Reads
    reports/scores/MODEL-SEED.json                  of the grid alone; SEED may be "ensemble"
    reports/{training,attention,encoder_states}/    pictures and captions.json
    translations/MODEL/SEED/hypotheses/{TEST}.jsonl
    data/raw; data/tokens/TOKENIZER, data/vocab/TOKENIZER of the models and of the evaluation
Writes
    reports/bleu.csv            model,seed,test_set,metric,score,signature,sentences
    reports/bleu.md             the same as tables, with mean and spread over seeds; ensembles
    reports/significance.csv    each model against the baseline
    reports/index.html          everything, in one file that needs no other

Example:
    python -m pipeline.report
"""

from pathlib import Path

from nmt import script
from nmt.corpus.settings import DataSettings
from nmt.evaluation.settings import EvaluationSettings
from nmt.grid import GridSettings
from nmt.params import Params
from nmt.report.job import Folders, Report
from nmt.report.settings import ReportSettings
from nmt.report.write import write_report


def report(
    params: script.ParamsOption = Path("params.yaml"),
    raw: Path = Path("data/raw"),
    tokens: Path = Path("data/tokens"),
    vocab: Path = Path("data/vocab"),
    translations: Path = Path("translations"),
    reports: Path = Path("reports"),
) -> None:
    """Write the tables and the page."""
    values = Params.read(params)
    grid = values.section("grid", GridSettings)
    models = {name: values.value(f"models.{name}") for name in grid.models}
    used = {m["tokenizer"]: values.value(f"tokenizers.{m['tokenizer']}") for m in models.values()}
    sections = {name: values.value(name) for name in ("training", "compute")} | {"tokenizers": used}
    write_report(
        Report(
            settings=values.section("report", ReportSettings),
            grid=grid,
            data=values.section("data", DataSettings),
            evaluation=values.section("evaluation", EvaluationSettings),
            models=models,
            sections=sections,
            folders=Folders(raw, tokens, vocab, translations, reports),
        )
    )


app = script.command(report)

if __name__ == "__main__":
    script.run(app)
