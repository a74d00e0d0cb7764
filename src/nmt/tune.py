"""Ways to search compared on the validation set: which beam and length penalty to take.

The choice must not be made on a test set, and training's own figures are of greedy translations.
"""

import itertools
import logging
import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from nmt.compute import ComputeSettings
from nmt.corpus.settings import DataSettings
from nmt.decoding.job import Job, translate_tests
from nmt.decoding.settings import DecodingSettings
from nmt.ensembles import Seed, in_words, stage_address
from nmt.errors import ModelError, ParamsError
from nmt.evaluation.evaluate import Evaluation, evaluate_model
from nmt.evaluation.scores import SetScores
from nmt.evaluation.settings import EvaluationSettings
from nmt.grid import GridSettings
from nmt.params import Params
from nmt.prepared import Prepared
from nmt.report.quality import TITLES, Cell

log = logging.getLogger(__name__)

_SCORED = ("bleu", "bleu_tokens", "chrf")


@dataclass(frozen=True)
class Ways:
    """Ways to search: every beam with every length penalty and treatment of unknown words.

    Args:
        beams: widths; none for that of the params.
        penalties: length penalties; none for that of the params.
        replace: whether <unk> is replaced; none for what the params say.
    """

    beams: Sequence[int] = ()
    penalties: Sequence[float] = ()
    replace: Sequence[bool] = ()

    def settings(self, usual: DecodingSettings) -> Iterator[DecodingSettings]:
        """Yield each way as settings, which are checked; all else is as usual."""
        for beam, penalty, replace in itertools.product(
            self.beams or (usual.beam,),
            self.penalties or (usual.length_penalty,),
            self.replace or (usual.replace_unknown,),
        ):
            way = {"beam": beam, "length_penalty": penalty, "replace_unknown": replace}
            values = {"decoding": usual.model_dump() | way}
            yield Params(values, Path("nmt tune")).section("decoding", DecodingSettings)


@dataclass(frozen=True)
class Tried:
    """What one way to search scores on the validation set.

    Args:
        decoding: the way.
        scores: of each seed, or of the one ensemble.
    """

    decoding: DecodingSettings
    scores: tuple[SetScores, ...]

    def cell(self, metric: str) -> Cell:
        """Return the scores by one metric."""
        return Cell(tuple(getattr(score, metric) for score in self.scores))

    @property
    def mean_bleu(self) -> float:
        """What ways are ranked by: BLEU of text, the mean over the seeds."""
        known = self.cell("bleu").known
        return fmean(known) if known else -math.inf


def tune(root: Path, model: str, ways: Ways, *, ensemble: bool = False) -> Iterator[Tried]:
    """Translate and score the validation set with every seed of a trained model, way by way.

    Nothing is written in the project.

    Args:
        root: the project's folder.
        model: an entry of `models` that is trained with all seeds of the grid.
        ways: how to search.
        ensemble: whether all seeds translate together, instead of each alone.

    Raises:
        NmtError: the model is not trained, or its files don't belong together.
    """
    values = Params.read(root / "params.yaml")
    usual = values.section("decoding", DecodingSettings)
    grid = values.section("grid", GridSettings)
    if model not in grid.models:
        raise ParamsError(f"{model} is not in grid.models: {', '.join(grid.models)}")
    if ensemble and len(grid.seeds) < 2:
        raise ParamsError("an ensemble takes two seeds at least; grid.seeds has one")
    seeds: list[Seed] = [grid.seeds] if ensemble else list(grid.seeds)
    for seed in grid.seeds:
        folder = root / "models" / model / str(seed)
        if not folder.is_dir():
            stage = stage_address("train", model, seed)
            raise ModelError(f"{folder}: no such folder; run `dvc repro {stage}`, or `dvc pull` it")
    for decoding in list(ways.settings(usual)):  # a bad one is told before the work
        scores = tuple(_score(root, values, model, seed, decoding) for seed in seeds)
        yield Tried(decoding, scores)


def _score(
    root: Path, values: Params, model: str, seed: Seed, decoding: DecodingSettings
) -> SetScores:
    """Translate the validation set as if it were the one test set, in a folder of its own."""
    data = values.section("data", DataSettings)
    data = data.model_copy(update={"tests": (data.validation,)})
    settings = values.section("evaluation", EvaluationSettings)
    members = (seed,) if isinstance(seed, int) else seed
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        translate_tests(
            Job(
                data=data,
                compute=values.section("compute", ComputeSettings),
                decoding=decoding,
                models=tuple(root / "models" / model / str(member) for member in members),
                prepared=Prepared(root / "data/prepared" / model),
                out=out,
            )
        )
        scores = evaluate_model(
            Evaluation(
                model=model,
                seed=seed,
                data=data,
                settings=settings,
                hypotheses=out / "hypotheses",
                raw=root / "data/raw",
                tokens=root / "data/tokens" / settings.tokenizer,
                out=out / "scores",
            )
        )
    found = scores.tests[data.validation]
    log.info("%s: beam %d, length penalty %g: BLEU %.2f", in_words(model, seed), decoding.beam,
             decoding.length_penalty, found.bleu)  # fmt: skip
    return found


def as_text(found: Sequence[Tried]) -> str:
    """Return a table of all ways in their order; the best by BLEU is marked."""
    best = max(found, key=lambda tried: tried.mean_bleu)
    titles = " | ".join(TITLES[metric] for metric in _SCORED)
    lines = [
        f"| beam | length penalty | unknown words | {titles} | |",
        "| ---: | ---: | --- | ---: | ---: | ---: | --- |",
    ]
    for tried in found:
        decoding = tried.decoding
        unknown = "replaced" if decoding.replace_unknown else "kept"
        scores = " | ".join(tried.cell(metric).text() for metric in _SCORED)
        mark = "best" if tried is best else ""
        lines.append(
            f"| {decoding.beam} | {decoding.length_penalty:g} | {unknown} | {scores} | {mark} |"
        )
    return "\n".join(lines) + "\n"
