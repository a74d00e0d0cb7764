"""The paired tests against sacreBLEU's own command, and what may be said of them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.compare.significance import Draws, Evidence, paired_tests
from nmt.compare.verdict import Outcome, Verdict, corrected, judge, summary
from nmt.evaluation.metrics import bleu_metric
from tests.unit.made_history import EVALUATION, references, translations

METRIC = bleu_metric(EVALUATION, lowercase=True)


@pytest.mark.parametrize(
    ("noise", "seeds"), [((0.4, 0.38), (1, 2)), ((0.4, 0.3), (3, 4)), ((0.3, 0.4), (5, 6))]
)
@pytest.mark.parametrize(("option", "name"), [("bs", "bootstrap"), ("ar", "randomization")])
def test_one_seed_gives_what_sacrebleu_gives(
    tmp_path: Path, noise: tuple[float, float], seeds: tuple[int, int], option: str, name: str
) -> None:
    texts = [translations(n, s) for n, s in zip(noise, seeds, strict=True)]
    for file, lines in zip(("a", "b", "ref"), (*texts, references()), strict=True):
        (tmp_path / file).write_text("".join(f"{line}\n" for line in lines))
    command = [
        sys.executable, "-m", "sacrebleu", "ref", "-i", "a", "b", f"--paired-{option}",
        f"--paired-{option}-n", "500", "--lowercase", "--format", "json", "--width", "6",
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "SACREBLEU_SEED": "321"}, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    theirs = [row["BLEU"] for row in json.loads(done.stdout)]
    ours = paired_tests([texts[0]], [texts[1]], references(), METRIC, Draws(500, 500, 321))
    assert (*ours.a, *ours.b) == pytest.approx([row["score"] for row in theirs], abs=1e-5)
    assert getattr(ours, name) == pytest.approx(theirs[1]["p_value"], abs=1e-5)


def test_several_seeds_that_are_alike_count_as_one() -> None:
    a, b = translations(0.4, 1), translations(0.35, 2)
    one = paired_tests([a], [b], references(), METRIC, Draws(200, 200, 1))
    three = paired_tests([a] * 3, [b] * 3, references(), METRIC, Draws(200, 200, 1))
    assert (three.bootstrap, three.randomization) == (one.bootstrap, one.randomization)
    assert three.delta == pytest.approx(one.delta) and three.interval == pytest.approx(one.interval)


def test_swapping_the_sides_turns_the_sign_alone() -> None:
    a, b = translations(0.4, 1), translations(0.35, 2)
    one = paired_tests([a], [b], references(), METRIC, Draws(200, 200, 1))
    other = paired_tests([b], [a], references(), METRIC, Draws(200, 200, 1))
    assert other.delta == -one.delta and other.bootstrap == one.bootstrap
    assert other.randomization == one.randomization


def test_equal_translations_are_no_discovery() -> None:
    a = translations(0.4, 1)
    tested = paired_tests([a], [a], references(), METRIC, Draws(100, 100, 1))
    assert tested.same and tested.p == 1.0 and tested.delta == 0


def evidence(a: list[float], b: list[float]) -> Evidence:
    delta = sum(b) / len(b) - sum(a) / len(a)
    return Evidence(tuple(a), tuple(b), delta, (0.0, 0.0), 0.5, 0.5, a == b, "")


@pytest.mark.parametrize(
    ("a", "b", "p", "outcome", "line"),
    [
        ([30.0], [30.0], 1.0, Outcome.SAME, "the same translations, word for word: no difference"),
        ([30.0], [30.4], 0.21, Outcome.NOT_SHOWN, "+0.40 BLEU, p = 0.210: no difference shown"),
        (
            [30.0], [31.2], 0.0001, Outcome.THIS_TRAINING,
            "+1.20 BLEU, p < 0.001: this result of B is higher; one a side can't tell luck "
            "from setting",
        ),
        (
            [30.0, 30.6], [30.2, 31.2], 0.21, Outcome.NOT_SHOWN,
            "+0.40 BLEU, p = 0.210, within the spread of seeds: no difference shown",
        ),
        (
            [30.0, 30.6, 31.0], [30.7, 31.2, 31.9], 0.01, Outcome.NOT_SHOWN,
            "+0.73 BLEU, p = 0.010 on the sentences, but within the spread of seeds: no "
            "difference shown",
        ),
        (
            [30.0, 30.2, 30.1], [30.3, 30.4, 30.5], 0.05, Outcome.NOT_SHOWN,
            "+0.30 BLEU, p = 0.050: no difference shown",
        ),
        (
            [30.0, 30.2], [32.0, 32.1], 0.002, Outcome.THIS_TRAINING,
            "+1.95 BLEU, p = 0.002: these trainings of B score higher; 2 seeds are too few to "
            "say it of the setting",
        ),
        (
            [30.0, 30.2, 30.4], [32.0, 32.1, 32.2], 0.002, Outcome.B_BETTER,
            "+1.90 BLEU, p = 0.002, beyond the spread of 3 seeds: B is better",
        ),
        (
            [32.0, 32.1, 32.2], [30.0, 30.2, 30.4], 0.002, Outcome.A_BETTER,
            "-1.90 BLEU, p = 0.002, beyond the spread of 3 seeds: A is better",
        ),
    ],
)  # fmt: skip
def test_verdicts(a: list[float], b: list[float], p: float, outcome: Outcome, line: str) -> None:
    assert judge(evidence(a, b), p) == Verdict(outcome, line)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([0.04], [0.04]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),  # 3 * 0.01; 2 * 0.03; the greater of 0.04, 0.06
        ([0.6, 0.7], [1.0, 1.0]),
        ([], []),
    ],
)
def test_correction_for_many_tests(given: list[float], expected: list[float]) -> None:
    assert corrected(given) == pytest.approx(expected)


B = Verdict(Outcome.B_BETTER, "+1.9 BLEU: B is better")
NOT = Verdict(Outcome.NOT_SHOWN, "+0.1 BLEU: no difference shown")
SAME = Verdict(Outcome.SAME, "the same")


@pytest.mark.parametrize(
    ("verdicts", "missing", "line"),
    [
        ([("m on t", B)], 0, "m on t: +1.9 BLEU: B is better"),
        ([("m on t", NOT)], 1, "m on t: +0.1 BLEU: no difference shown; 1 can't be told"),
        (
            [("m on t", B), ("n on t", NOT), ("m on u", B)], 0,
            "of 3 comparisons: B is better in 2 (m on t; m on u), no difference shown in 1",
        ),
        (
            [("m", SAME), ("n", SAME)], 0,
            "the same translations, word for word, in all 2 comparisons",
        ),
        ([], 3, "can't tell: nothing could be compared on the sentences; 3 can't be told"),
        ([], 0, "can't tell: there is no model and test set that both sides have"),
    ],
)  # fmt: skip
def test_one_line_for_all(verdicts: list[tuple[str, Verdict]], missing: int, line: str) -> None:
    assert summary(verdicts, missing) == line
