"""Scores counted again from hypotheses and references."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from nmt.audit.environment import REQUIREMENTS, pins
from nmt.audit.findings import Check, Link, Status
from nmt.audit.tree import Project
from nmt.corpus.settings import DataSettings
from nmt.ensembles import Seed, seed_name
from nmt.errors import DataError
from nmt.evaluation.evaluate import Evaluation, evaluate_model
from nmt.evaluation.scores import ModelScores, read_scores
from nmt.evaluation.settings import EvaluationSettings
from nmt.params import Params
from nmt.run.inputs import flatten

RAW, TOKENS, SCORES = Path("data/raw"), Path("data/tokens"), Path("reports/scores")


def check_scores(link: Link, model: str, seed: Seed, params: Params, project: Project) -> None:
    """Compare a score file with what its hypotheses score, and its signatures with the pin."""
    root = project.root
    try:
        reported = read_scores(root / SCORES, model, seed)
    except DataError as error:
        link.add(Check.SCORE, Status.BROKEN, relative(str(error), root))
        return
    _check_signatures(link, reported, root)
    missing = [path for path in (RAW, reference_tokens(params)) if not project.md5s(str(path))]
    if missing:
        names = " ".join(map(str, missing))
        link.add(
            Check.SCORE,
            Status.UNKNOWN,
            f"not counted again: {names} not here; `dvc pull {names}` would settle it",
        )
        return
    try:
        counted = count_again(model, seed, params, root)
    except DataError as error:
        link.add(
            Check.SCORE, Status.BROKEN, f"can't be counted again: {relative(str(error), root)}"
        )
        return
    differing = list(_differing(reported, counted))
    for text in differing:
        link.add(Check.SCORE, Status.BROKEN, text)
    if not differing:
        link.add(
            Check.SCORE,
            Status.OK,
            "counted again from hypotheses and references: every score equal",
        )


def reference_tokens(params: Params) -> Path:
    """Return the folder of the tokens that metrics compare with."""
    return TOKENS / params.section("evaluation", EvaluationSettings).tokenizer


def count_again(model: str, seed: Seed, params: Params, root: Path) -> ModelScores:
    """Score the hypotheses that are here, as the evaluate stage does.

    Raises:
        DataError: hypotheses and references are damaged or don't pair up.
    """
    with TemporaryDirectory() as out, quiet("nmt.evaluation", "nmt.metrics", "sacrebleu"):
        return evaluate_model(
            Evaluation(
                model=model,
                seed=seed,
                data=params.section("data", DataSettings),
                settings=params.section("evaluation", EvaluationSettings),
                hypotheses=root / "translations" / model / seed_name(seed) / "hypotheses",
                raw=root / RAW,
                tokens=root / reference_tokens(params),
                out=Path(out),
            )
        )


@contextmanager
def quiet(*loggers: str) -> Iterator[None]:
    """Keep the log of a stage's code to warnings: here it is no stage that runs."""
    before = {name: logging.getLogger(name).level for name in loggers}
    for name in loggers:
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def relative(text: str, root: Path) -> str:
    """Return a message with the paths in it relative to the project's folder."""
    return text.replace(f"{root}/", "")


def _differing(reported: ModelScores, counted: ModelScores) -> Iterator[str]:
    there, here = _values(reported), _values(counted)
    for key in [*here, *(key for key in there if key not in here)]:
        if there.get(key) != here.get(key):
            yield f"{key}: {there.get(key)} in the file, {here.get(key)} counted again"


def _values(scores: ModelScores) -> dict[str, object]:
    content = scores.model_dump(mode="json")
    pairs = {
        f"{kind[:-1]} {key}": value
        for kind in ("signatures", "settings")
        for key, value in content.pop(kind)
    }
    return flatten("", content) | pairs


def _check_signatures(link: Link, scores: ModelScores, root: Path) -> None:
    try:
        pinned = pins((root / REQUIREMENTS).read_text(encoding="utf-8")).get("sacrebleu")
    except (OSError, UnicodeDecodeError):
        pinned = None
    found = {v for _, sign in scores.signatures for v in re.findall(r"version:([^|]+)", sign)}
    if pinned is None:
        link.add(Check.SCORE, Status.MARKED, f"{REQUIREMENTS} pins no sacreBLEU")
    elif found != {pinned}:
        link.add(
            Check.SCORE,
            Status.BROKEN,
            f"its signatures say sacreBLEU {', '.join(sorted(found)) or 'nothing'}; "
            f"{REQUIREMENTS} pins {pinned}",
        )
    else:
        link.add(Check.SCORE, Status.OK, f"its signatures say the pinned sacreBLEU {pinned}")
