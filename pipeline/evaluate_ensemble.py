"""Score the translations of one model's ensemble against the references.

Reads
    translations/MODEL/ensemble/hypotheses/{TEST}.jsonl, {TEST}.txt, record.json
    data/raw/{TEST}.en                  raw references
    data/tokens/WORDS/{TEST}.en.jsonl, tokenizer.json   of evaluation.tokenizer
Writes
    reports/scores/MODEL-ensemble.json  scores, counts, signatures, settings

Example:
    python -m pipeline.evaluate_ensemble --model additive
"""

from pathlib import Path

from nmt import script
from nmt.corpus.settings import DataSettings
from nmt.ensembles import ENSEMBLE
from nmt.evaluation.evaluate import Evaluation, evaluate_model
from nmt.evaluation.settings import EvaluationSettings
from nmt.grid import GridSettings
from nmt.params import Params


def evaluate_ensemble(
    model: script.ModelOption,
    params: script.ParamsOption = Path("params.yaml"),
    translations: Path = Path("translations"),
    raw: Path = Path("data/raw"),
    tokens: Path = Path("data/tokens"),
    out: Path = Path("reports/scores"),
) -> None:
    """Score the translations of one model's ensemble."""
    values = Params.read(params)
    settings = values.section("evaluation", EvaluationSettings)
    evaluate_model(
        Evaluation(
            model=model,
            seed=values.section("grid", GridSettings).seeds,
            data=values.section("data", DataSettings),
            settings=settings,
            hypotheses=translations / model / ENSEMBLE / "hypotheses",
            raw=raw,
            tokens=tokens / settings.tokenizer,
            out=out,
        )
    )


app = script.command(evaluate_ensemble)

if __name__ == "__main__":
    script.run(app)
