"""Hypotheses: one a source sentence, in input order."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from nmt.errors import DataError
from nmt.files import read_jsonl, write_jsonl, write_lines


@dataclass(frozen=True)
class Hypothesis:
    """The translation of one source sentence.

    Args:
        tokens: as they are shown, without special symbols at the ends; an `<unk>` that was
            replaced is the source token here.
        text: the tokens joined as a reader expects, without a line end.
        log_probability: natural logarithm of the probability of the tokens, `<eos>` included
            unless it was cut.
        cut: whether it met the length limit without an end sign.
        unknown: how many `<unk>` were produced, before any was replaced.
        source_unknown: how many source tokens the vocabulary lacks.
        source_length: how many tokens the source has, `<eos>` not counted.
    """

    tokens: list[str]
    text: str
    log_probability: float
    cut: bool
    unknown: int
    source_unknown: int
    source_length: int


_HYPOTHESIS = TypeAdapter(Hypothesis)


def write_hypotheses(folder: Path, split: str, hypotheses: list[Hypothesis]) -> None:
    """Write SPLIT.jsonl (everything) and SPLIT.txt (the text, one a line) into `folder`.

    Raises:
        DataError: a text holds a line end, so that the lines would no longer pair up.
    """
    for number, hypothesis in enumerate(hypotheses, 1):
        if "\n" in hypothesis.text:
            raise DataError(
                f"{split}, hypothesis {number}: the text {hypothesis.text!r} holds a line end; "
                "one line a sentence is expected: look for it in the vocabulary and the source"
            )
    write_jsonl(folder / f"{split}.jsonl", map(asdict, hypotheses))
    write_lines(folder / f"{split}.txt", (hypothesis.text for hypothesis in hypotheses))


def read_hypotheses(folder: Path, split: str) -> list[Hypothesis]:
    """Read SPLIT.jsonl of `folder`.

    Raises:
        DataError: the file is missing, or a line is no hypothesis.
    """
    path = folder / f"{split}.jsonl"
    return [_parse(row, path, number) for number, row in enumerate(read_jsonl(path), 1)]


def _parse(row: object, path: Path, number: int) -> Hypothesis:
    try:
        # Through JSON: there a mapping may fill a dataclass, strictly.
        return _HYPOTHESIS.validate_json(json.dumps(row), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"])) or "the line"
        raise DataError(
            f"{path}, line {number}: {key}: {first['msg']}; run the translate stage again"
        ) from None
