"""The table of results: rows that replace their like, minutes by MLflow, tables of the page."""

import csv
import io
import shutil
from pathlib import Path

import pytest

from nmt.errors import DataError
from nmt.files import write_json
from nmt.history.locks import LockedStage
from nmt.history.runs import read_runs
from nmt.provenance import names
from nmt.results import PAGE, RESULTS, SIGNIFICANCE, write_page
from nmt.results.finished import Facts
from nmt.results.minutes import Training, training
from nmt.results.page import with_tables
from nmt.results.rows import PairedTest, Result, as_csv, merged, read_rows
from tests.unit.made_runs import MadeRun, write_runs
from tests.world.project import ROOT

EMPTY = """# Results
<!-- quality -->
<!-- end of quality -->
<!-- reference: params/best.yaml -->
<!-- ablations -->
<!-- end of ablations -->
The end.
"""
BEST, LESS = "params/best.yaml", "params/ablations/less.yaml"


def result(
    seed: str, score: float | None, *, model: str = "wide", file: str = BEST, test: str = "one",
    metric: str = "bleu", validation: float = 30.0, minutes: float | None = 2.0,
) -> Result:  # fmt: skip
    alone = seed.isdigit()
    return Result(
        model=model, seed=seed, test_set=test, metric=metric, score=score, signature=f"v1|{metric}",
        sentences=10, params_file=file, parameters=1000, minutes=minutes,
        validation_bleu=validation if alone else None, epochs=3 if alone else None,
        members=1 if alone else 2, device="cpu: A", commit="a" * 40, note=None,
    )  # fmt: skip


def paired(seed: str, delta: float, p: float) -> PairedTest:
    return PairedTest(
        model="wide", baseline="base", seed=seed, test_set="one", metric="bleu", score=30 + delta,
        baseline_score=30, delta=delta, p_value=p, mean=30 + delta, half_interval_95=1,
        baseline_mean=30, baseline_half_interval_95=1, signature="v1", params_file=BEST,
    )  # fmt: skip


def tables(results: list[Result], tests: list[PairedTest] | None = None, page: str = EMPTY) -> str:
    return with_tables(PAGE, page, merged([], results), tests or [])


def line(text: str, start: str) -> list[str]:
    """Return the cells of the only row of a table that begins so."""
    (found,) = (row for row in text.split("\n") if row.startswith(f"| {start} |"))
    return [cell.strip() for cell in found.strip("|").split("|")]


# Rows


def test_a_row_takes_the_place_of_its_like_and_no_other() -> None:
    old = [result("10", 1.0), result("2", 2.0), result("2", 3.0, file="params.yaml")]
    found = merged(old, [result("2", 9.0), result("ensemble", 5.0)])
    assert [(row.params_file, row.seed, row.score) for row in found] == [
        ("params.yaml", "2", 3.0), (BEST, "2", 9.0), (BEST, "10", 1.0), (BEST, "ensemble", 5.0),
    ]  # fmt: skip


def test_rows_come_back_from_the_file_as_they_were(tmp_path: Path) -> None:
    rows = [result("1", None, minutes=None), result("ensemble", 22.807)]
    path = tmp_path / "results.csv"
    path.write_text(as_csv(Result, rows))
    assert read_rows(path, Result) == rows
    cells = list(csv.DictReader(io.StringIO(path.read_text())))
    assert (cells[0]["score"], cells[0]["minutes"], cells[1]["score"]) == ("", "", "22.807")
    assert read_rows(tmp_path / "none.csv", Result) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("model,seed", "model,sed", r"results\.csv: expected the columns model, seed, .*; got mod"),
        ("wide,1,one", "wide,1", r"results\.csv, row 2: 15 cells, expected 16"),
        (",1000,", ",many,", r"results\.csv, row 2: parameters: got 'many'; Input should be"),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "results.csv"
    path.write_text(as_csv(Result, [result("1", 1.0)]).replace(old, new, 1))
    with pytest.raises(DataError, match=message):
        read_rows(path, Result)


# Minutes


@pytest.fixture
def store(tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "toy"\n')
    shutil.copy(database, tmp_path)
    return tmp_path


def run(minutes: float | None, status: str = "FINISHED", **tags: str) -> MadeRun:
    metrics = {} if minutes is None else {"minutes": minutes}
    outs = {"models/wide/1": "d1"} if status == "FINISHED" else {}
    known = {names.DEVICE: "cpu", f"{names.MACHINE}cpu": "A"}
    return MadeRun(status=status, metrics=metrics, tags=known | tags, outs=outs)


OTHER_CODE = {names.CODE: "other"}
RESUMED = {names.CONTINUES: "x"}


@pytest.mark.parametrize(
    ("runs", "minutes"),
    [
        ([run(5.0)], 5.0),
        ([run(5.0), run(6.0)], 6.0),  # the same bytes twice: no sum
        ([run(2.0, "KILLED"), run(5.0)], 5.0),  # began anew
        ([run(2.0, "KILLED"), run(0.5, "FAILED"), run(5.0, **RESUMED)], 7.5),
        ([run(2.0, "KILLED"), run(9.0), run(1.0, "KILLED"), run(5.0, **RESUMED)], 6.0),
        ([run(9.0, "KILLED", **OTHER_CODE), run(1.0, "KILLED"), run(5.0, **RESUMED)], 6.0),
        ([run(None, "KILLED"), run(5.0, **RESUMED)], None),  # killed outright
        ([run(5.0, **RESUMED)], None),  # what it took up is not recorded
        ([run(None)], None),
    ],
)
def test_minutes_are_those_of_all_runs_of_a_training(
    store: Path, runs: list[MadeRun], minutes: float | None
) -> None:
    write_runs(store, runs)
    assert training(read_runs(store), "models/wide/1", "d1") == Training(minutes, "cpu: A")


def test_minutes_are_not_guessed(store: Path) -> None:
    write_runs(store, [run(5.0)])
    assert training(read_runs(store), "models/wide/1", "d2") == Training(None, None)


def test_an_ensemble_has_the_minutes_of_its_members(store: Path) -> None:
    second = MadeRun("train@wide-2", metrics={"minutes": 6.2}, outs={"models/wide/2": "d2"})
    write_runs(store, [run(5.0), second])
    lock = {
        f"train@wide-{seed}": LockedStage({}, {f"models/wide/{seed}": f"d{seed}"}, {})
        for seed in (1, 2)
    }
    scores = {"model": "wide", "seed": [1, 2], "parameters": 2000}
    write_json(store / "reports/scores/wide-ensemble.json", scores)
    assert Facts(store, lock).of("wide", "ensemble") == {
        "parameters": 2000, "minutes": 11.2, "device": "cpu: A", "members": 2, "epochs": None,
        "validation_bleu": None,
    }  # fmt: skip


# The page


def test_seeds_have_a_mean_and_a_spread_and_ensembles_a_row_of_their_own() -> None:
    rows = [
        result(seed, score, validation=v, minutes=m, metric=metric)
        for metric, more in (("bleu", 0.0), ("bleu_tokens", 2.0))
        for seed, score, v, m in (
            ("1", 30.0 + more, 40.0, 2.0), ("2", 32.0 + more, 41.0, 4.0),
            ("ensemble", 35.0 + more, 0.0, 6.0),
        )
    ]  # fmt: skip
    text = tables([*rows, result("1", 20.0, model="base")])
    assert line(text, "wide") == [
        "wide", "2", "40.50 ± 0.71", "31.00 ± 1.41 (33.00 ± 1.41)", "1,000", "3",
    ]  # fmt: skip
    assert line(text, "wide (ensemble of 2)")[1:] == ["", "", "35.00 (37.00)", "1,000", "6"]
    assert line(text, "base")[1:4] == ["1", "30.00", "20.00 (missing)"], "one seed: no spread"
    assert "Repeat: `make repro PARAMS=params/best.yaml`" in text and "- code: aaaaaaa\n" in text
    assert text.startswith("# Results\n") and text.endswith("<!-- end of ablations -->\nThe end.\n")


def test_each_params_file_has_its_table_with_the_command() -> None:
    text = tables([result("1", 30.0), result("1", 20.0, file="params.yaml", minutes=None)])
    assert text.index("### params.yaml\n\nRepeat: `make repro`\n") < text.index(f"### {BEST}")
    assert "| not recorded |" in text


def test_paired_tests_say_for_how_many_seeds_two_are_told_apart() -> None:
    text = tables([result("1", 30.0)], [paired("1", 1.0, 0.01), paired("2", -0.5, 0.2)])
    found = text[text.index("| paired test of") :]
    assert line(found, "wide") == ["wide", "base", "+0.25 (1 of 2)"]


def test_models_with_one_note_are_named_behind_it_together() -> None:
    noted = [
        result("1", 40.0, model=model).model_copy(update={"note": note})
        for model, note in (("a", "paused"), ("b", None), ("c", "paused"), ("d", "shared"))
    ]
    assert "\n- notes: paused (a, c); shared (d)\n" in tables(noted)


def test_ablations_are_differences_to_the_reference() -> None:
    rows = [result(s, 30.0 + int(s), validation=40.0 + int(s)) for s in ("1", "2")]
    rows += [result(s, 29.0 + int(s), validation=39.5 + int(s), file=LESS) for s in ("1", "2")]
    rows.append(result("1", 10.0, model="new", file=LESS))
    text = tables(rows)
    quality, _, ablations = text.partition("<!-- ablations -->")
    assert LESS not in quality
    assert line(ablations, f"`{BEST}`")[1:] == ["wide", "2", "41.50 ± 0.71", "31.50 ± 0.71", "2"]
    assert line(ablations, f"`{LESS}` | wide")[2:] == [
        "2", "-0.50 (41.00 ± 0.71)", "-1.00 (30.50 ± 0.71)", "2",
    ]  # fmt: skip
    assert line(ablations, f"`{LESS}` | new")[3:] == ["missing (30.00)", "missing (10.00)", "2"]


def test_ablations_tell_which_code_made_which() -> None:
    rows = [result("1", 30.0), result("1", 29.0, file=LESS)]
    _, _, same = tables(rows).partition("<!-- ablations -->")
    assert "\n- code: aaaaaaa\n" in same
    rows[1] = rows[1].model_copy(update={"commit": "b" * 40, "note": "paused"})
    _, _, unlike = tables(rows).partition("<!-- ablations -->")
    assert "\n- code: aaaaaaa (best); bbbbbbb (less)\n" in unlike
    assert "\n- notes: paused (less)\n" in unlike


@pytest.mark.parametrize(
    ("scores", "shown"),
    [
        # t = 2.45 with 4 degrees of freedom: p = 0.070.
        ([28.0, 29.0, 30.0], "-2.00 (29.00 ± 1.00)"),
        # t = 4.90 with 4: p = 0.008.
        ([26.0, 27.0, 28.0], "-4.00\\* (27.00 ± 1.00)"),
        # t = 3.29, with 2.44 for unequal spreads: p = 0.061. Student's test, with 4, has 0.030.
        ([22.0, 25.0, 28.0], "-6.00 (25.00 ± 3.00)"),
        ([20.0, 21.0], "-10.50 (20.50 ± 0.71)"),
    ],
)
def test_a_star_marks_means_that_three_seeds_a_side_tell_apart(
    scores: list[float], shown: str
) -> None:
    rows = [result(s, 29.0 + int(s), validation=float(s)) for s in ("1", "2", "3")]
    rows += [result(str(s), x, validation=x, file=LESS) for s, x in enumerate(scores, start=1)]
    assert line(tables(rows), f"`{LESS}` | wide")[-2] == shown


def test_scores_counted_in_two_ways_stand_in_no_table() -> None:
    other = result("2", 30.0).model_copy(update={"signature": "v2|bleu"})
    with pytest.raises(DataError, match=r"bleu of params/best.yaml was counted in different ways"):
        tables([result("1", 30.0), other])


@pytest.mark.parametrize("metric", ["bleu", "bleu_tokens"])
def test_an_ablation_counted_in_another_way_than_its_reference_is_an_error(metric: str) -> None:
    rows = [result("1", 30.0, metric=metric), result("1", 29.0, metric=metric, file=LESS)]
    rows[1] = rows[1].model_copy(update={"signature": "v2|bleu"})
    with pytest.raises(DataError, match=rf"^{metric} of {BEST}, {LESS} was counted in different"):
        tables(rows)


@pytest.mark.parametrize("missing", ["<!-- end of quality -->", "<!-- reference: params/best.yaml"])
def test_a_page_without_its_marks_is_an_error(missing: str) -> None:
    with pytest.raises(DataError, match=r"docs/results\.md: the line <!-- .* is missing; put"):
        tables([result("1", 30.0)], page=EMPTY.replace(missing, ""))


def test_the_committed_page_shows_the_committed_results(tmp_path: Path) -> None:
    for path in (RESULTS, SIGNIFICANCE, PAGE):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    write_page(tmp_path)
    assert (tmp_path / PAGE).read_bytes() == (ROOT / PAGE).read_bytes()
    for path, kind in ((RESULTS, Result), (SIGNIFICANCE, PairedTest)):
        rows = read_rows(ROOT / path, kind)
        assert as_csv(kind, merged([], rows)) == (ROOT / path).read_text(encoding="utf-8")
