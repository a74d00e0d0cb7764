"""Score the translations of one model and seed against the references.

Reads
    translations/MODEL/SEED/hypotheses/{TEST}.jsonl, {TEST}.txt, record.json
    data/raw/{TEST}.en                  raw references
    data/tokens/WORDS/{TEST}.en.jsonl, tokenizer.json   of evaluation.tokenizer
Writes
    reports/scores/MODEL-SEED.json      scores, counts, signatures, settings

Example:
    python -m pipeline.evaluate --model additive --seed 1
"""

from pathlib import Path

from nmt import script
from nmt.corpus.settings import DataSettings
from nmt.evaluation.evaluate import Evaluation, evaluate_model
from nmt.evaluation.settings import EvaluationSettings
from nmt.params import Params


def evaluate(
    model: script.ModelOption,
    seed: script.SeedOption,
    params: script.ParamsOption = Path("params.yaml"),
    translations: Path = Path("translations"),
    raw: Path = Path("data/raw"),
    tokens: Path = Path("data/tokens"),
    out: Path = Path("reports/scores"),
) -> None:
    """Score the translations of one model and seed."""
    values = Params.read(params)
    settings = values.section("evaluation", EvaluationSettings)
    evaluate_model(
        Evaluation(
            model=model,
            seed=seed,
            data=values.section("data", DataSettings),
            settings=settings,
            hypotheses=translations / model / str(seed) / "hypotheses",
            raw=raw,
            tokens=tokens / settings.tokenizer,
            out=out,
        )
    )


app = script.command(evaluate)

if __name__ == "__main__":
    script.run(app)
