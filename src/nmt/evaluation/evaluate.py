"""From hypotheses and references to the score file of one model or ensemble."""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.corpus.raw import raw_path
from nmt.corpus.settings import DataSettings
from nmt.corpus.tokens import (
    TOKENIZER_FILE,
    Sentence,
    lowercased,
    read_tokenizer,
    read_tokens,
    tokens_path,
)
from nmt.ensembles import Seed, in_words, stage_address
from nmt.errors import DataError
from nmt.evaluation.metrics import (
    METRICS,
    Score,
    bleu,
    bleu_tokens,
    check_lengths,
    chrf,
    rounded,
    token_accuracy,
)
from nmt.evaluation.references import read_references
from nmt.evaluation.scores import ModelScores, SetScores, flatten, write_scores
from nmt.evaluation.settings import EvaluationSettings
from nmt.files import read_lines
from nmt.tokenization.tokenizer import reopen_target
from nmt.translations import Hypothesis, Record, read_hypotheses, read_record

log = logging.getLogger(__name__)
metrics_log = logging.getLogger("nmt.metrics")


@dataclass(frozen=True)
class Evaluation:
    """What is scored, how, against what, and where the result goes.

    Args:
        model: name in params.yaml.
        seed: of its training; of an ensemble, those of its members.
        data: languages and test sets.
        settings: of the metrics.
        hypotheses: folder of the model's hypotheses and their record.
        raw: folder of raw references.
        tokens: folder of tokenised references, as `evaluation.tokenizer` makes them.
        out: folder of score files.
    """

    model: str
    seed: Seed
    data: DataSettings
    settings: EvaluationSettings
    hypotheses: Path
    raw: Path
    tokens: Path
    out: Path


def evaluate_model(job: Evaluation) -> ModelScores:
    """Score the translations of every test set and write the score file.

    Raises:
        DataError: files are missing or do not pair up, or tokenizers differ.
    """
    record = read_record(job.hypotheses)
    tokenizer = read_tokenizer(job.tokens)
    _check_record(job, record)
    split = _splitter(record, tokenizer, job)
    tests: dict[str, SetScores] = {}
    signatures: dict[str, str] = {}
    for test in job.data.tests:
        tests[test], signatures = _score_test(job, test, lowercased(tokenizer), split)
    scores = ModelScores(
        model=job.model,
        seed=job.seed,
        parameters=record.parameters,
        best_epoch=record.best_epoch,
        tests=tests,
        signatures=tuple(signatures.items()),
        settings=_settings(job, record, tokenizer),
    )
    path = write_scores(job.out, scores)
    _tell(scores, path)
    return scores


def _splitter(
    record: Record, tokenizer: dict[str, str], job: Evaluation
) -> Callable[[Hypothesis], Sentence]:
    """Return how a hypothesis becomes tokens that can be compared with the references'.

    Where the model has the references' tokenizer, its tokens are taken as they are: `<unk>` would
    not stay whole. Else its text is split as the references were.
    """
    if record.tokenizer.get("name") == tokenizer.get("name"):
        check_tokenizer(record, tokenizer, job.hypotheses, job.tokens)
        return lambda hypothesis: hypothesis.tokens
    split = reopen_target(tokenizer, job.tokens / TOKENIZER_FILE)
    return lambda hypothesis: split(hypothesis.text)


def check_tokenizer(
    record: Record, tokenizer: dict[str, str], hypotheses: Path, tokens: Path
) -> None:
    """Check that the hypotheses and the tokenised references come from the same tokenizer.

    Raises:
        DataError: naming each difference, such as another version of spaCy.
    """
    keys = sorted(record.tokenizer.keys() | tokenizer.keys())
    differences = [
        f"{key} {record.tokenizer.get(key)!r} and {tokenizer.get(key)!r}"
        for key in keys
        if record.tokenizer.get(key) != tokenizer.get(key)
    ]
    if differences:
        raise DataError(
            f"{hypotheses} was made with another tokenizer than {tokens}: "
            f"{'; '.join(differences)}. Tokens of the two can't be compared: "
            "run `dvc repro` from the tokenize stage on"
        )


def _check_record(job: Evaluation, record: Record) -> None:
    expected = (job.model, job.seed, *job.data.languages)
    got = (record.name, record.seed, record.source_language, record.target_language)
    if got != expected:
        raise DataError(
            f"{job.hypotheses}: expected translations of (model, seed, from, into) {expected}, "
            f"got {got}: run `dvc repro {stage_address('translate', job.model, job.seed)}`"
        )


def _score_test(
    job: Evaluation, test: str, lowercase: bool, split: Callable[[Hypothesis], Sentence]
) -> tuple[SetScores, dict[str, str]]:
    language = job.data.target_language
    hypotheses = _read(job.hypotheses, test)
    references = read_references(job.raw, test, language)
    tokens = read_tokens(tokens_path(job.tokens, test, language))
    file = job.hypotheses / f"{test}.jsonl"
    for path, n in (
        (raw_path(job.raw, test, language), len(references)),
        (tokens_path(job.tokens, test, language), len(tokens)),
    ):
        check_lengths(len(hypotheses), n, f"{file} and {path}")
    produced = [split(hypothesis) for hypothesis in hypotheses]
    scores = _metrics(hypotheses, produced, references, tokens, job.settings, lowercase)
    values = {name: score.value for name, score in scores.items()}
    return (
        SetScores.model_validate(values | _counts(hypotheses)),
        {name: score.signature for name, score in scores.items()},
    )


def _read(folder: Path, test: str) -> list[Hypothesis]:
    """Read the hypotheses, and check that the text file for readers is the text that is scored."""
    hypotheses = read_hypotheses(folder, test)
    path = folder / f"{test}.txt"
    for number, (line, hypothesis) in enumerate(zip(read_lines(path), hypotheses, strict=False), 1):
        if line != hypothesis.text:
            raise DataError(
                f"{path}, line {number}: {line!r} is not the text of {test}.jsonl beside it, "
                f"{hypothesis.text!r}: run the translate stage again"
            )
    return hypotheses


def _metrics(
    hypotheses: list[Hypothesis],
    produced: list[Sentence],
    references: list[str],
    tokens: list[Sentence],
    settings: EvaluationSettings,
    lowercase: bool,
) -> dict[str, Score]:
    text = [h.text for h in hypotheses]
    return {
        "bleu": bleu(text, references, settings, lowercase),
        "bleu_tokens": bleu_tokens(produced, tokens),
        "chrf": chrf(text, references, settings, lowercase),
        "token_accuracy": token_accuracy(produced, tokens, [h.cut for h in hypotheses]),
    }


def _counts(hypotheses: list[Hypothesis]) -> dict[str, int | float]:
    total = Counter[str]()
    for h in hypotheses:
        total["sentences"] += 1
        total["empty"] += not h.text.strip()
        total["cut"] += h.cut
        total["with_unknown"] += h.unknown > 0
        total["unknown_tokens"] += h.unknown
        total["source_unknown"] += h.source_unknown
        total["source_length"] += h.source_length
    # Sources that are all empty hold no unknown word either.
    rate = total.pop("source_unknown") / max(1, total.pop("source_length"))
    return {**total, "source_unknown_rate": rounded(rate)}


def _settings(
    job: Evaluation, record: Record, tokenizer: dict[str, str]
) -> tuple[tuple[str, str | int | float | None], ...]:
    """Return what the scores depend on, beside the model; the tokenizer is the references'."""
    languages = {
        "source_language": job.data.source_language,
        "target_language": job.data.target_language,
    }
    sections: dict[str, dict[str, Any]] = {
        "data": languages,
        "tokenizer": tokenizer,
        "decoding": record.decoding,
        "evaluation": job.settings.model_dump(),
    }
    return tuple(sorted(flatten(sections)))


def _tell(scores: ModelScores, path: Path) -> None:
    for test, values in scores.tests.items():
        log.info(
            "%s, %s: BLEU %.2f, on tokens %.2f, chrF %.2f (%d of %d empty, %d cut)",
            in_words(scores.model, scores.seed), test, values.bleu, values.bleu_tokens,
            values.chrf, values.empty, values.sentences, values.cut,
        )  # fmt: skip
        measured = {f"{test}/{name}": getattr(values, name) for name in METRICS}
        metrics_log.info("%s", test, extra={"step": 0, "metrics": measured})
    log.info("scores in %s", path)
