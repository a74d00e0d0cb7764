"""Scores: golden values from public trouble reports, counts, refusals, the paired bootstrap.

The golden BLEU values are those of sacreBLEU's own command (13a, exp smoothing, one reference)
on the texts written out here.
"""

import json
import logging
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import spacy

from nmt.corpus.settings import DataSettings
from nmt.corpus.tokens import lowercased, tokens_path, write_tokens
from nmt.errors import DataError
from nmt.evaluation.evaluate import Evaluation, evaluate_model
from nmt.evaluation.metrics import (
    bleu,
    bleu_tokens,
    check_lengths,
    chrf,
    rounded,
    token_accuracy,
)
from nmt.evaluation.references import read_references
from nmt.evaluation.scores import flatten, read_scores
from nmt.evaluation.settings import EvaluationSettings
from nmt.evaluation.significance import Bootstrap, paired_bootstrap
from nmt.files import write_json, write_lines
from nmt.params import Params
from nmt.translations import Hypothesis, Record, write_hypotheses, write_record

SETTINGS = EvaluationSettings(tokenizer="words", bleu_tokenizer="13a", chrf_word_order=0)
REFERENCES = ["A man rides a red bike.", "Two dogs play in the snow.", "A girl is reading a book."]
HYPOTHESES = ["A man rides a red bike.", "Two dogs play in the snow.", "A woman reads a book."]
SPACED = [h.lower().replace(".", " .") for h in HYPOTHESES]
LONG = "A man in a blue shirt is standing on a ladder cleaning a window."


@pytest.mark.parametrize(
    ("hypotheses", "references", "lowercase", "expected"),
    [
        pytest.param(HYPOTHESES, REFERENCES, False, 76.74, id="one reference a sentence"),
        pytest.param(HYPOTHESES[::-1], REFERENCES[::-1], False, 76.74, id="shuffled alike"),
        pytest.param(SPACED, REFERENCES, False, 62.44, id="cased against lower-cased"),
        pytest.param(SPACED, REFERENCES, True, 76.74, id="both lower-cased"),
        pytest.param(["", *HYPOTHESES[1:]], REFERENCES, False, 37.61, id="one empty"),
        pytest.param(["", "", ""], REFERENCES, False, 0.0, id="all empty"),
        pytest.param(
            ["A man rides a <unk> bike."],
            ["A man rides a penny-farthing bike."],
            False,
            35.49,
            id="an unknown word matches nothing",
        ),
        pytest.param(
            ["A man in a blue shirt is standing"], [LONG], False, 41.69, id="reference not cut"
        ),
    ],
)
def test_bleu_is_sacrebleus_on_raw_references(
    hypotheses: list[str], references: list[str], lowercase: bool, expected: float
) -> None:
    score = bleu(hypotheses, references, SETTINGS, lowercase)
    assert score.value == pytest.approx(expected, abs=0.005)
    case = "lc" if lowercase else "mixed"
    assert score.signature.startswith(f"nrefs:1|case:{case}|eff:no|tok:13a|smooth:exp|version:")


def test_sacrebleus_warning_about_tokenised_text_is_shown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bleu(SPACED * 40, REFERENCES * 40, SETTINGS, True)
    assert "That's 100 lines that end in a tokenized period" in caplog.text
    caplog.clear()
    bleu_tokens([h.split() for h in SPACED] * 40, [h.split() for h in SPACED] * 40)
    assert not caplog.text


def test_bleu_on_tokens_is_lower_cased_and_names_no_tokenizer() -> None:
    reference = [["A", "girl", "is", "reading", "a", "book", "."]]
    score = bleu_tokens([["a", "girl", "is", "reading", "a", " ", "book", "."]], reference)
    assert score.value == 100
    assert "case:lc" in score.signature and "tok:none" in score.signature


@pytest.mark.parametrize(("order", "sign"), [(0, "nw:0"), (2, "nw:2")])
def test_chrf_says_whether_it_counts_words(order: int, sign: str) -> None:
    settings = EvaluationSettings.model_validate(
        {"tokenizer": "words", "bleu_tokenizer": "13a", "chrf_word_order": order}
    )
    score = chrf(SPACED, REFERENCES, settings, lowercase=True)
    assert 70 < score.value < 100 and sign in score.signature and "case:lc" in score.signature
    assert chrf([""], ["a b"], settings, lowercase=True).value == 0


@pytest.mark.parametrize(
    ("hypothesis", "reference", "cut", "expected"),
    [
        pytest.param(["a", "b"], ["a", "b"], False, 1, id="all right"),
        pytest.param(["a", "b"], ["a", "b"], True, 2 / 3, id="no end"),
        pytest.param(["x", "a", "b"], ["a", "b"], False, 0, id="shifted by one"),
        pytest.param(["a", "b", "c"], ["a", "b"], False, 2 / 3, id="too long"),
        pytest.param(["a"], ["a", "b", "c"], False, 1 / 4, id="too short"),
        pytest.param([], ["a"], False, 0, id="empty"),
        pytest.param(["<unk>"], ["<unk>"], False, 1 / 2, id="unknown is never right"),
    ],
)
def test_token_accuracy_compares_position_by_position(
    hypothesis: list[str], reference: list[str], cut: bool, expected: float
) -> None:
    score = token_accuracy([hypothesis], [reference], [cut])
    assert score.value == pytest.approx(expected, abs=1e-4)
    assert "free-running" in score.signature


def test_token_accuracy_counts_positions_not_sentences() -> None:
    assert token_accuracy([["a"], ["x"] * 7], [["a"], ["b"] * 7], [False] * 2).value == 0.3


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_score_is_a_number(value: float) -> None:
    with pytest.raises(DataError, match=r"a score is (nan|inf), which is no number"):
        rounded(value)


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        (2, 3, "a and b: 2 hypotheses and 3 references; they must pair line by line"),
        (0, 0, "a and b: no sentence in either file; nothing to score"),
    ],
)
def test_lengths_must_agree(hypotheses: int, references: int, message: str) -> None:
    with pytest.raises(DataError, match=message):
        check_lengths(hypotheses, references, "a and b")


def test_references_are_the_raw_text(tmp_path: Path) -> None:
    (tmp_path / "t.en").write_bytes("\ufeffA  man.\r\n \u2028 two\r\n".encode())
    assert read_references(tmp_path, "t", "en") == ["A  man.", " \u2028 two"]


@pytest.mark.parametrize("blank", ["", " \t"])
def test_an_empty_reference_is_refused_with_its_line(tmp_path: Path, blank: str) -> None:
    write_lines(tmp_path / "t.en", ["a", blank, "b"])
    with pytest.raises(DataError, match=r"t\.en, line 2: the reference is empty"):
        read_references(tmp_path, "t", "en")


# --- a whole evaluation -----------------------------------------------------------------------

TOKENIZER = {"kind": "spacy", "spacy": "3.8.18", "lowercase": "true"}
RECORD = Record("tiny", 1, 1234, 2, {"beam": 5, "length_penalty": 1.0}, TOKENIZER, "de", "en")


def hypothesis(text: str, **changes: Any) -> Hypothesis:
    return replace(Hypothesis(text.split(), text, -1.0, False, 0, 0, 5), **changes)


@pytest.fixture
def job(tmp_path: Path) -> Evaluation:
    """One test set of three sentences, translated as in HYPOTHESES."""
    files = {f"{s}.{la}": _FILE for s in ("train", "val", "t") for la in ("de", "en")}
    values = {
        "source_language": "de", "target_language": "en", "train": "train", "validation": "val",
        "tests": ["t"], "sources": [], "files": files,
    }  # fmt: skip
    write_json(tmp_path / "params.json", {"data": values})
    data = Params.read(tmp_path / "params.json").section("data", DataSettings)
    write_lines(tmp_path / "raw/t.en", REFERENCES)
    tokens = [r.lower().replace(".", " .").split() for r in REFERENCES]
    write_tokens(tokens_path(tmp_path / "tokens", "t", "en"), tokens)
    write_json(tmp_path / "tokens/tokenizer.json", TOKENIZER)
    hypotheses = [
        hypothesis("a man rides a red bike.", tokens=SPACED[0].split()),
        hypothesis("two dogs play in the snow.", tokens=SPACED[1].split(), source_unknown=2),
        hypothesis("a woman reads a book.", tokens=SPACED[2].split(), cut=True, unknown=2),
    ]
    folder = tmp_path / "hypotheses"
    folder.mkdir()
    write_hypotheses(folder, "t", hypotheses)
    write_record(folder, RECORD)
    return Evaluation(
        "tiny", 1, data, SETTINGS, folder, tmp_path / "raw", tmp_path / "tokens", tmp_path / "out"
    )


_FILE = {"rows": 3, "archive": "0" * 64, "text": "0" * 64}


def test_a_score_file_holds_scores_counts_signatures_and_settings(job: Evaluation) -> None:
    evaluate_model(job)
    scores = read_scores(job.out, "tiny", 1)
    t = scores.tests["t"]
    assert t.bleu == pytest.approx(76.74, abs=0.005)
    assert t.bleu_tokens == pytest.approx(76.74, abs=0.005)
    # 7 tokens and the end, three times; the third has its first word alone right, and no end.
    assert t.token_accuracy == pytest.approx(17 / 24, abs=1e-4)
    counts = (t.sentences, t.empty, t.cut, t.with_unknown, t.unknown_tokens)
    assert counts == (3, 0, 1, 1, 2)
    assert t.source_unknown_rate == pytest.approx(2 / 15, abs=1e-4)
    assert (scores.parameters, scores.best_epoch) == (1234, 2)
    assert "case:lc" in scores.signature("bleu")
    settings = dict(scores.settings)
    assert settings["decoding.beam"] == 5 and settings["evaluation.bleu_tokenizer"] == "13a"
    assert settings["tokenizer.spacy"] == "3.8.18"


def test_the_metrics_that_dvc_shows_are_numbers(job: Evaluation) -> None:
    evaluate_model(job)
    values = json.loads((job.out / "tiny-1.json").read_text())
    shown = {k: v for k, v in values.items() if not isinstance(v, list)}
    assert sorted(shown) == ["best_epoch", "model", "parameters", "seed", "tests"]
    assert all(isinstance(v, int | float) for v in shown["tests"]["t"].values())


def test_evaluating_twice_gives_the_same_bytes(job: Evaluation) -> None:
    evaluate_model(job)
    first = (job.out / "tiny-1.json").read_bytes()
    evaluate_model(job)
    assert (job.out / "tiny-1.json").read_bytes() == first and first.endswith(b"}\n")


def test_scores_are_logged_for_tracking(job: Evaluation, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "nmt.metrics")
    evaluate_model(job)
    logged = {r.name: getattr(r, "metrics", None) for r in caplog.records}["nmt.metrics"]
    assert logged is not None and logged["t/bleu"] == pytest.approx(76.74, abs=0.005)


def test_an_empty_output_is_scored_and_counted(job: Evaluation) -> None:
    write_hypotheses(job.hypotheses, "t", [hypothesis("")] * 3)
    t = evaluate_model(job).tests["t"]
    assert (t.bleu, t.bleu_tokens, t.chrf, t.empty) == (0.0, 0.0, 0.0, 3)


def test_all_unknown_sources_are_told(job: Evaluation) -> None:
    write_hypotheses(job.hypotheses, "t", [hypothesis("a", source_unknown=5)] * 3)
    assert evaluate_model(job).tests["t"].source_unknown_rate == 1.0


def test_empty_sources_give_no_nan(job: Evaluation) -> None:
    write_hypotheses(job.hypotheses, "t", [hypothesis("a", source_length=0)] * 3)
    assert evaluate_model(job).tests["t"].source_unknown_rate == 0.0


def test_too_few_hypotheses_are_not_scored_on_a_prefix(job: Evaluation) -> None:
    write_hypotheses(job.hypotheses, "t", [hypothesis("a")] * 2)
    with pytest.raises(DataError, match=r"t\.jsonl and .*raw/t\.en: 2 hypotheses and 3 references"):
        evaluate_model(job)
    assert not (job.out / "tiny-1.json").exists()


def test_too_few_reference_tokens_are_refused(job: Evaluation) -> None:
    write_tokens(tokens_path(job.tokens, "t", "en"), [["a"]] * 4)
    with pytest.raises(DataError, match=r"tokens/t\.en\.jsonl: 3 hypotheses and 4 references"):
        evaluate_model(job)


def test_text_files_that_disagree_are_refused(job: Evaluation) -> None:
    write_lines(job.hypotheses / "t.txt", ["a man rides a red bike.", "another line", "x"])
    with pytest.raises(DataError, match=r"t\.txt, line 2: 'another line' is not the text of t"):
        evaluate_model(job)


def test_another_version_of_the_tokenizer_is_refused(job: Evaluation) -> None:
    write_record(job.hypotheses, replace(RECORD, tokenizer=TOKENIZER | {"spacy": "2.3"}))
    with pytest.raises(
        DataError, match=r"made with another tokenizer than .*tokens: spacy '2\.3' and '3\.8\.18'"
    ):
        evaluate_model(job)


def test_text_of_another_tokenizer_is_split_as_the_references(job: Evaluation) -> None:
    """Pieces of words are no tokens to compare with."""
    words = TOKENIZER | {
        "name": "words", "spacy": spacy.__version__, "source": "de blank", "target": "en blank",
        "normalize_spaces": "false",
    }  # fmt: skip
    write_json(job.tokens / "tokenizer.json", words)
    pieces = {"kind": "sentencepiece", "name": "pieces", "lowercase": "true"}
    write_record(job.hypotheses, replace(RECORD, tokenizer=pieces))
    texts = ["a man rides a red bike.", "two dogs play in the snow.", "a woman reads a book."]
    split = [list(text) for text in texts]
    write_hypotheses(
        job.hypotheses, "t", [hypothesis(t, tokens=s) for t, s in zip(texts, split, strict=True)]
    )
    t = evaluate_model(job).tests["t"]
    assert t.bleu_tokens == t.bleu == pytest.approx(76.74, abs=0.005)
    write_json(job.tokens / "tokenizer.json", words | {"spacy": "2.3"})
    with pytest.raises(DataError, match=r"tokenizer\.json: made by spaCy 2\.3 .* installed is 3"):
        evaluate_model(job)
    write_json(job.tokens / "tokenizer.json", words | {"kind": "sentencepiece"})
    with pytest.raises(DataError, match=r"not words by spaCy .*evaluation\.tokenizer"):
        evaluate_model(job)


@pytest.mark.parametrize(
    "record",
    [replace(RECORD, name="other"), replace(RECORD, seed=2), replace(RECORD, source_language="fr")],
)
def test_translations_of_another_model_are_refused(job: Evaluation, record: Record) -> None:
    write_record(job.hypotheses, record)
    with pytest.raises(DataError, match=r"\('tiny', 1, 'de', 'en'\), got .*translate@tiny-1"):
        evaluate_model(job)


def test_an_ensemble_is_scored_as_one(job: Evaluation) -> None:
    job = replace(job, seed=(1, 2))
    with pytest.raises(DataError, match=r"\('tiny', \(1, 2\), .*translate_ensemble@tiny`"):
        evaluate_model(job)
    record = replace(RECORD, seed=(1, 2), parameters=2 * 1234, best_epoch=(2, 3))
    write_record(job.hypotheses, record)
    scores = evaluate_model(job)
    assert read_scores(job.out, "tiny", (1, 2)) == scores
    assert (job.out / "tiny-ensemble.json").is_file()
    assert (scores.parameters, scores.best_epoch) == (2468, (2, 3))
    with pytest.raises(DataError, match=r"expected .* ensemble of seeds 1, 3, got .* 1, 2; .*`$"):
        read_scores(job.out, "tiny", (1, 3))


def test_a_description_without_case_is_refused() -> None:
    assert lowercased({"lowercase": "false"}) is False
    with pytest.raises(DataError, match="says lowercase: '', expected 'true' or 'false'"):
        lowercased({})


# --- score files ------------------------------------------------------------------------------


def test_missing_scores_name_the_stage_to_run(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no scores of tiny, seed 2; run `dvc repro evaluate@"):
        read_scores(tmp_path, "tiny", 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 3}, r"tiny-1\.json: expected the scores of tiny, seed 1, got .* seed 3"),
        ({"best_epoch": "2"}, r"tiny-1\.json: best_epoch.*: .*evaluate@tiny-1"),
        ({"extra": 1}, r"tiny-1\.json: extra: .*evaluate@tiny-1"),
    ],
)
def test_damaged_scores_are_refused(job: Evaluation, change: dict[str, Any], message: str) -> None:
    evaluate_model(job)
    path = job.out / "tiny-1.json"
    write_json(path, json.loads(path.read_text()) | change)
    with pytest.raises(DataError, match=message):
        read_scores(job.out, "tiny", 1)


def test_nan_in_a_score_file_is_refused(job: Evaluation) -> None:
    evaluate_model(job)
    path = job.out / "tiny-1.json"
    values = json.loads(path.read_text())
    values["tests"]["t"]["bleu"] = math.nan
    path.write_text(json.dumps(values))
    with pytest.raises(DataError, match="NaN is not a JSON number"):
        read_scores(job.out, "tiny", 1)


def test_settings_become_dotted_pairs() -> None:
    pairs = flatten({"b": {"y": [1, 2], "x": {"z": None}}, "a": {"on": True}})
    assert pairs == (("b.y", "1, 2"), ("b.x.z", None), ("a.on", True))


# --- paired bootstrap -------------------------------------------------------------------------

GOOD = [f"the {a} {b} runs in the {c} street" for a in "abcd" for b in "efg" for c in "hij"]
BAD = [line if i % 3 else "a thing" for i, line in enumerate(GOOD)]


def compare(systems: dict[str, list[str]], seed: int = 12345) -> dict[str, Any]:
    found = paired_bootstrap(BAD, systems, GOOD, SETTINGS, True, Bootstrap(200, seed))
    return {c.system: c for c in found}


def test_a_better_system_is_told_from_an_equal_one() -> None:
    found = compare({"good": GOOD, "same": list(BAD)})
    good = found["good"]
    assert good.score == 100 and good.delta == pytest.approx(100 - good.baseline_score)
    assert good.p_value < 0.01 and good.interval.half_width == 0
    assert good.baseline_interval.mean == pytest.approx(good.baseline_score, abs=3)
    assert 0 < good.baseline_interval.half_width < 30
    # sacreBLEU itself gives 1/201 to two equal outputs.
    assert (found["same"].delta, found["same"].p_value) == (0, 1.0)
    assert "bs:200|seed:12345|case:lc" in good.signature


def test_the_bootstrap_is_seeded_and_leaves_the_environment_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SACREBLEU_SEED", "none")
    almost = [*GOOD[:-8], *(["the a e runs"] * 8)]
    assert compare({"s": almost}, 7) == compare({"s": almost}, 7) != compare({"s": almost}, 8)
    assert os.environ["SACREBLEU_SEED"] == "none"
    monkeypatch.delenv("SACREBLEU_SEED")
    compare({"s": almost}, 7)
    assert "SACREBLEU_SEED" not in os.environ
