"""The report, made from a small invented world of files."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from nmt.errors import DataError, ParamsError
from nmt.evaluation.significance import Comparison, Interval
from nmt.files import write_json
from nmt.grid import GridSettings
from nmt.params import Params
from nmt.report.chart import length_chart
from nmt.report.comparisons import Outcome
from nmt.report.facts import sentence
from nmt.report.neighbours import read_neighbours
from nmt.report.page import settings_by_model, show_setting, signed
from nmt.report.pictures import read_pictures
from nmt.report.quality import MISSING, Cell, mark_best
from nmt.report.samples import draw
from nmt.report.settings import ReportSettings
from nmt.report.trainings import Trainings, compare_trainings
from tests.unit.report_world import (
    MODELS,
    OUTPUTS,
    ROOT,
    TESTS,
    add_ensemble,
    add_picture,
    make_report,
    make_world,
    png,
    sentences,
)


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    """Change what a JSON file holds."""
    values = json.loads(path.read_text())
    write_json(path, change(values) or values)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world with its report, not to be changed."""
    root = make_world(tmp_path_factory.mktemp("world"))
    make_report(root)
    return root


@pytest.fixture
def world(made: Path, tmp_path: Path) -> Path:
    """A copy of the world, without a report, to be tampered with."""
    root = Path(shutil.copytree(made, tmp_path / "world"))
    for name in OUTPUTS:
        (root / "reports" / name).unlink()
    return root


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# --- tables ------------------------------------------------------------------------------------


def test_bleu_csv_is_in_long_form(made: Path) -> None:
    path = made / "reports/bleu.csv"
    header = path.read_text().splitlines()[0]
    assert header == "model,seed,test_set,metric,score,signature,sentences"
    rows = read_csv(path)
    assert len(rows) == 2 * 2 * 2 * 4
    assert [r["test_set"] for r in rows[:5]] == ["test_b"] * 4 + ["test_a"]
    scores = json.loads((made / "reports/scores/tiny-2.json").read_text())
    row = next(r for r in rows if (r["model"], r["seed"], r["metric"]) == ("tiny", "2", "chrf"))
    assert float(row["score"]) == scores["tests"]["test_b"]["chrf"]
    assert row["signature"].startswith("nrefs:1|case:lc") and row["sentences"] == "30"


def test_bleu_md_has_models_down_tests_across_and_the_spread(made: Path) -> None:
    text = (made / "reports/bleu.md").read_text()
    assert "| model | parameters | test_b | test_a |" in text
    assert re.search(r"\| tiny \| 1,000 \| \d\d\.\d\d ± \d+\.\d\d \| \d\d\.\d\d ± ", text)
    assert "Mean ± sample standard deviation over 2 seeds." in text
    assert "No model is marked as the best with fewer than 3 seeds." in text
    assert "outputs and references are both lower-cased" in text
    assert "`nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:" in text
    assert "100 resamples of each test set, drawn with seed 12345" in text
    assert text.endswith("`\n")


def test_significance_csv_pairs_models_with_the_baseline_of_the_same_seed(made: Path) -> None:
    rows = read_csv(made / "reports/significance.csv")
    assert [(r["model"], r["seed"], r["test_set"]) for r in rows] == [
        ("tiny", "1", "test_b"),
        ("tiny", "2", "test_b"),
        ("tiny", "1", "test_a"),
        ("tiny", "2", "test_a"),
    ]
    for row in rows:
        assert row["baseline"] == "baseline" and row["metric"] == "bleu"
        assert float(row["delta"]) == pytest.approx(
            float(row["score"]) - float(row["baseline_score"]), abs=1e-3
        )
        assert 0 < float(row["p_value"]) < 0.05 and "bs:100|seed:12345" in row["signature"]


@pytest.mark.parametrize(
    ("p_value", "delta", "verdict"),
    [(0.01, 1.0, "better"), (0.01, -1.0, "worse"), (0.05, 1.0, "not told apart")],
)
def test_a_verdict_needs_a_small_p(p_value: float, delta: float, verdict: str) -> None:
    around = Interval(10.0, 1.0)
    found = Comparison("tiny", 10.0, 10.0 + delta, around, around, p_value, "")
    assert Outcome("t", 1, "baseline", found).verdict == verdict


def test_spread_is_the_sample_standard_deviation() -> None:
    assert Cell((38.0, 40.0)).text() == "39.00 ± 1.41"
    assert Cell((0.5, 0.5, 0.8)).text(100) == "60.00 ± 17.32"
    assert Cell((38.125,)).text() == "38.12"
    assert Cell((38.0, None)).text() == MISSING


@pytest.mark.parametrize(
    ("values", "best"),
    [
        pytest.param([(30, 31, 32), (33, 34, 35)], 1, id="every seed is better"),
        pytest.param([(30, 31, 34), (33, 34, 35)], None, id="seeds overlap"),
        pytest.param([(30, 31), (33, 34)], None, id="two seeds are too few"),
        pytest.param([(30,), (33,)], None, id="one seed is too few"),
        pytest.param([(30, 31, 32)], None, id="nothing to compare with"),
        pytest.param([(30, 31, None), (33, 34, 35)], None, id="a missing one might be better"),
        pytest.param([(33, 34, 35), (33, 34, 35)], None, id="equal"),
    ],
)
def test_best_is_marked_where_seeds_support_it(
    values: list[tuple[float | None, ...]], best: int | None
) -> None:
    marked = mark_best([Cell(v) for v in values])
    assert [i for i, cell in enumerate(marked) if cell.best] == ([] if best is None else [best])


def test_a_missing_score_is_shown_as_missing(world: Path) -> None:
    def lose(scores: Any) -> None:
        scores["tests"]["test_a"]["chrf"] = None

    edit(world / "reports/scores/tiny-1.json", lose)
    make_report(world)
    assert '<td class="n missing">missing</td>' in (world / "reports/index.html").read_text()
    assert "| tiny | 1,000 | " in (world / "reports/bleu.md").read_text()
    assert re.search(r"\| tiny \|.*\| missing \|", (world / "reports/bleu.md").read_text())
    lost = [r for r in read_csv(world / "reports/bleu.csv") if not r["score"]]
    assert [(r["model"], r["test_set"], r["metric"]) for r in lost] == [("tiny", "test_a", "chrf")]


# --- ensembles ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def together(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same world with an ensemble of `tiny`, and its report."""
    root = Path(shutil.copytree(made, tmp_path_factory.mktemp("together") / "world"))
    edit(root / "params.yaml", lambda p: p["grid"].update(ensembles=["tiny"]))
    add_ensemble(root, "tiny")
    make_report(root)
    return root


def test_an_ensemble_is_a_row_of_its_own(together: Path, made: Path) -> None:
    """It comes last, and changes no figure of the models."""
    before, rows = (read_csv(root / "reports/bleu.csv") for root in (made, together))
    assert rows[: len(before)] == before
    added = rows[len(before) :]
    assert [(r["model"], r["seed"]) for r in added] == [("tiny", "ensemble")] * 2 * 4
    assert [float(r["score"]) for r in added if r["metric"] == "bleu"] == [100.0, 100.0]
    lines, of_models = (
        {line for line in (root / "reports/bleu.md").read_text().split("\n") if line[:1] == "|"}
        for root in (together, made)
    )
    assert of_models < lines
    assert "| tiny (ensemble of 2) | 2,000 | 100.00 | 100.00 |" in lines


def test_an_ensemble_is_tested_against_the_baseline_of_each_seed(together: Path) -> None:
    rows = read_csv(together / "reports/significance.csv")
    added = [r for r in rows if r["model"] == "tiny (ensemble of 2)"]
    assert [(r["seed"], r["test_set"]) for r in added] == [
        ("1", "test_b"), ("2", "test_b"), ("1", "test_a"), ("2", "test_a"),
    ]  # fmt: skip
    scores = {
        (r["seed"], r["test_set"]): float(r["score"])
        for r in read_csv(together / "reports/bleu.csv")
        if (r["model"], r["metric"]) == ("baseline", "bleu")
    }
    for row in added:
        key = row["seed"], row["test_set"]
        assert float(row["baseline_score"]) == pytest.approx(scores[key], abs=1e-3)
        assert float(row["p_value"]) < 0.05 and float(row["delta"]) > 0
    text = (together / "reports/bleu.md").read_text()
    assert "with the same seed, and each ensemble against that of each seed, by" in text
    assert "An ensemble is one result, translated with the models of all seeds at once" in text


def test_the_page_has_ensembles_beside_models_and_their_settings_once(together: Path) -> None:
    page = (together / "reports/index.html").read_text()
    assert "tiny (ensemble of 2)" in page
    assert '<th scope="row">tiny</th><td class="n">ensemble</td><td class="n">3, 4</td>' in page
    (parameters,) = re.findall('<th scope="row">parameters</th>(.*)</tr>', page)
    assert parameters == "<td>1,000</td>" * 2


def test_an_ensemble_of_the_one_model_there_is_has_its_test(together: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(together, tmp_path / "world"))
    edit(root / "params.yaml", lambda p: p["grid"].update(models=["tiny"]))
    edit(root / "params.yaml", lambda p: p["report"].update(baseline="tiny"))
    make_report(root)
    rows = read_csv(root / "reports/significance.csv")
    assert {(r["model"], r["baseline"]) for r in rows} == {("tiny (ensemble of 2)", "tiny")}


def test_an_ensemble_of_other_seeds_is_refused(together: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(together, tmp_path / "world"))
    edit(root / "reports/scores/tiny-ensemble.json", lambda s: s.update(seed=[1, 3]))
    with pytest.raises(DataError, match=r"of seeds 1, 2, got .* 1, 3; .*evaluate_ensemble@tiny`"):
        make_report(root)


def test_hypotheses_of_an_ensemble_that_were_not_scored_are_refused(
    together: Path, tmp_path: Path
) -> None:
    root = Path(shutil.copytree(together, tmp_path / "world"))
    path = root / "reports/scores/tiny-ensemble.json"
    edit(path, lambda s: s["tests"]["test_b"].update(bleu=99.0))
    with pytest.raises(DataError, match=r"tiny, ensemble of seeds 1, 2, test_b: .* BLEU 99\.0"):
        make_report(root)


# --- what may enter ----------------------------------------------------------------------------


def test_a_missing_score_file_names_the_stage(world: Path) -> None:
    (world / "reports/scores/tiny-2.json").unlink()
    with pytest.raises(DataError, match=r"no scores of tiny, seed 2.*evaluate@tiny-2"):
        make_report(world)
    assert not any((world / "reports" / name).exists() for name in OUTPUTS)


def test_left_overs_of_an_earlier_grid_do_not_enter(world: Path, made: Path) -> None:
    shutil.copy(world / "reports/scores/tiny-1.json", world / "reports/scores/gone-1.json")
    shutil.copytree(world / "translations/tiny", world / "translations/gone")
    (world / "reports/attention/gone.png").write_bytes(png())
    make_report(world)
    for name in OUTPUTS:
        assert (world / "reports" / name).read_bytes() == (made / "reports" / name).read_bytes()


def test_a_model_taken_from_the_grid_leaves_the_tables(world: Path) -> None:
    edit(world / "params.yaml", lambda p: p["grid"].update(models=["baseline"], seeds=[2]))
    make_report(world)
    assert {(r["model"], r["seed"]) for r in read_csv(world / "reports/bleu.csv")} == {
        ("baseline", "2")
    }
    assert read_csv(world / "reports/significance.csv") == []
    page = (world / "reports/index.html").read_text()
    assert "tiny" not in page and "There is one model, so nothing to test." in page
    assert "One seed a model" in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            lambda s: s["signatures"][0].__setitem__(1, "nrefs:1|case:mixed"),
            r"baseline-1\.json and tiny-2\.json can't stand in one table: signature of bleu is "
            r"'nrefs:1\|case:lc.* and 'nrefs:1\|case:mixed'",
            id="signature",
        ),
        pytest.param(
            lambda s: s.update(settings=[["decoding.beam", 1]]),
            r"can't stand in one table: data\.source_language is 'de' and None",
            id="settings",
        ),
        pytest.param(
            lambda s: s["tests"]["test_a"].update(sentences=29),
            r"sentences of test_a is 30 and 29; run `dvc repro`",
            id="sentences",
        ),
        pytest.param(
            lambda s: s["tests"].pop("test_a") and None,
            r"tiny-2\.json: no scores on test_a; run `dvc repro evaluate@tiny-2`",
            id="test set",
        ),
        pytest.param(
            lambda s: s["tests"]["test_a"].update(bleu=1.5),
            r"tiny, seed 2, test_a: the score file says BLEU 1\.5, but its hypotheses give \d",
            id="another's score",
        ),
    ],
)
def test_a_table_refuses_what_is_not_comparable(
    world: Path, change: Callable[[Any], Any], message: str
) -> None:
    edit(world / "reports/scores/tiny-2.json", change)
    with pytest.raises(DataError, match=message):
        make_report(world)
    assert not any((world / "reports" / name).exists() for name in OUTPUTS)


def test_an_unknown_baseline_is_refused(world: Path) -> None:
    edit(world / "params.yaml", lambda p: p["report"].update(baseline="other"))
    with pytest.raises(ParamsError, match=r"report\.baseline: got 'other', .*\(baseline, tiny\)"):
        make_report(world)


def test_settings_are_checked(tmp_path: Path) -> None:
    grid = {"models": ["a", "a"], "seeds": [1], "ensembles": []}
    write_json(tmp_path / "p", {"grid": grid, "report": {}})
    with pytest.raises(ParamsError, match="'a', 'a'.*holds one twice; name each once"):
        Params.read(tmp_path / "p").section("grid", GridSettings)
    with pytest.raises(ParamsError, match=r"report\.bootstrap_seed: missing"):
        Params.read(tmp_path / "p").section("report", ReportSettings)


# --- the page ----------------------------------------------------------------------------------


class Page(HTMLParser):
    """Notes what a page refers to, its ids, and whether its elements are closed."""

    VOID = frozenset({"meta", "img", "path", "rect", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.alts: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.tags.append(tag)
        self.addresses += [v or "" for k, v in attrs if k in ("src", "href", "srcset", "data")]
        self.ids += [values["id"] or ""] if "id" in values else []
        if tag == "img":
            self.alts.append(values.get("alt") or "")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag, f"{tag} closed in the wrong place"


def test_the_page_needs_nothing_but_itself(made: Path) -> None:
    text = (made / "reports/index.html").read_text()
    page = Page(text)
    assert not page.open
    outside = [a for a in page.addresses if not a.startswith(("#", "data:image/png;base64,"))]
    assert outside == ["audit.html"]  # made on demand; the page is whole without it
    assert "http" not in text and "url(" not in text and "@import" not in text
    assert not {"script", "link", "iframe"} & set(page.tags)
    assert {a[1:] for a in page.addresses if a.startswith("#")} <= set(page.ids)
    assert len(page.alts) == 3 and all(page.alts)


def test_the_page_fits_phone_print_and_dark(made: Path) -> None:
    text = (made / "reports/index.html").read_text()
    assert 'name="viewport" content="width=device-width' in text
    assert "@media print" in text and "break-inside: avoid" in text
    assert "prefers-color-scheme: dark" in text
    assert len(re.findall(r'<div class="scroll"[^>]*>\s*<table', text)) == text.count("<table")


def test_the_page_escapes_text(made: Path) -> None:
    text = (made / "reports/index.html").read_text()
    assert "im Haus &lt;b&gt;" in text and "im Haus <b>" not in text
    assert "in the house &amp; garden" in text


def test_the_page_shows_every_section(made: Path) -> None:
    text = (made / "reports/index.html").read_text()
    assert "<h1>German to English: translation models compared</h1>" in text
    assert re.search(
        r"baseline and tiny, trained on 30 sentence pairs\s+\(train\) with seeds 1 and 2", text
    )
    for title in ("training", "attention", "encoder_states"):
        assert f"<figcaption>Picture of {title}</figcaption>" in text
    assert text.count('<div class="sample">') == 3 + 2 * len(TESTS)
    assert text.count("<li><span") > 10 and "<svg" in text
    assert "a side was blank: 4. Detokenising gives back 98.4 % of" in text
    for setting in ("decoding", "beam", "tokenizer", "label_smoothing", "attention", "cpu"):
        assert setting in text.lower()
    assert text.endswith("</html>\n")


def test_samples_are_raw_text_beside_every_output(made: Path) -> None:
    text = (made / "reports/index.html").read_text()
    assert len(re.findall(r"<dt>baseline</dt><dd", text)) == 2 * len(TESTS)
    found = re.search(r"Line (\d+)</p>\s*<dl><dt>Source</dt><dd[^>]*>([^<]*)</dd>", text)
    assert found
    source = sentences("test_b", "de")[int(found[1]) - 1].replace("<b>", "&lt;b&gt;")
    assert found[2] == source


def test_the_report_is_the_same_in_another_process(world: Path, made: Path) -> None:
    environment = os.environ | {"PYTHONHASHSEED": "77", "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, "-m", "pipeline.report"], cwd=world, env=environment, check=True
    )
    for name in OUTPUTS:
        assert (world / "reports" / name).read_bytes() == (made / "reports" / name).read_bytes()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda f: (f / "captions.json").unlink(), r"captions\.json: no such file; run `dvc repro"),
        (lambda f: (f / "a.png").unlink(), r"a\.png: no such file, though .*captions\.json names"),
        (lambda f: (f / "a.png").write_text("GIF"), r"a\.png: not a PNG picture; run `dvc repro"),
        (lambda f: write_json(f / "captions.json", {"a.png": "x"}), r"a\.png: expected a title"),
        (lambda f: write_json(f / "captions.json", []), "expected file names and captions"),
    ],
)
def test_a_picture_that_is_not_there_is_an_error(
    tmp_path: Path, damage: Callable[[Path], None], message: str
) -> None:
    add_picture(tmp_path, "a.png", "A")
    picture = read_pictures(tmp_path)[0]
    assert (picture.title, picture.alt, picture.width, picture.height) == ("A", "A in words", 2, 1)
    damage(tmp_path)
    with pytest.raises(DataError, match=message):
        read_pictures(tmp_path)


def test_figures_of_neighbours_stand_beside_the_pictures(made: Path) -> None:
    text = (made / "reports/index.html").read_text()
    row = '<td class="n">20</td><td class="n">31.2</td><td class="n">14.0</td>'
    assert text.count(row) == len(MODELS)


@pytest.mark.parametrize("figures", [{}, {"tiny": {"sentences": 20, "nearest": None}}, []])
def test_missing_figures_of_neighbours_are_refused(tmp_path: Path, figures: Any) -> None:
    with pytest.raises(DataError, match=r"neighbours\.json: no such file; run `dvc repro plot`"):
        read_neighbours(tmp_path, ["tiny"])
    write_json(tmp_path / "neighbours.json", figures)
    with pytest.raises(DataError, match=r"tiny: expected numbers for sentences, nearest and rand"):
        read_neighbours(tmp_path, ["tiny"])


def test_hypotheses_that_do_not_pair_up_are_refused(world: Path) -> None:
    path = world / "translations/tiny/2/hypotheses/test_a.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:29]))
    with pytest.raises(DataError, match=r"test_a\.jsonl and .*test_a\.en: 29 hypotheses and 30"):
        make_report(world)


def test_a_metrics_file_without_its_number_is_refused(world: Path) -> None:
    write_json(world / "data/vocab/words/coverage.json", {})
    with pytest.raises(DataError, match=r"coverage\.json: spacing_exact_lines: expected a number"):
        make_report(world)


# --- parts -------------------------------------------------------------------------------------


def test_draws_are_seeded_distinct_and_in_order() -> None:
    assert draw(1, "train", 1000, 5) == draw(1, "train", 1000, 5) != draw(2, "train", 1000, 5)
    assert draw(1, "train", 1000, 5) != draw(1, "test", 1000, 5)
    found = draw(3, "t", 1000, 50)
    assert found == sorted(set(found)) and len(found) == 50
    assert draw(1, "t", 3, 10) == [0, 1, 2]


def test_the_chart_counts_every_sentence() -> None:
    chart = length_chart({"A & B": [0, 1, 1, 2, 9, 50], "C": []}, 3, "Lengths")
    assert chart.startswith('<svg viewBox="0 0 520 250" role="img" aria-label="Lengths">')
    assert "A &amp; B" in chart and ">3+<" in chart and "NaN" not in chart
    outline = re.search(r'class="side1" d="M52.0 206.0((?:V[\d.]+H[\d.]+)+)', chart)
    assert outline
    heights = [206 - float(y) for y in re.findall(r"V([\d.]+)H", outline[1])]
    assert [round(h / max(heights) * 2) for h in heights] == [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("value", "text"), [(None, "none"), (True, "yes"), (False, "no"), (0.5, "0.5"), ("a", "a")]
)
def test_settings_are_shown_in_words(value: object, text: str) -> None:
    assert show_setting(value) == text


def test_settings_of_models_stand_side_by_side() -> None:
    trainings = Trainings({}, {"a": {"epochs": 9}, "b": {"epochs": 8}})
    models = {"a": {"cell": "gru", "width": 8}, "b": {"cell": "rnn", "extra": 1}}
    assert settings_by_model(models, trainings) == [
        ("cell", ("gru", "rnn")),
        ("width", (8, "–")),
        ("extra", ("–", 1)),
        ("training.epochs", (9, 8)),
    ]


@pytest.mark.parametrize(
    ("changes", "alike", "own"),
    [
        ([{}, {}], {"a": 1, "b.c": 2}, [{}, {}]),
        ([{"a": 1}, {}], {"a": 1, "b.c": 2}, [{}, {}]),
        ([{"b": {"c": 3}}, {}], {"a": 1}, [{"b.c": 3}, {"b.c": 2}]),
        ([{"a": 5}, {"a": 5}], {"a": 5, "b.c": 2}, [{}, {}]),
    ],
)
def test_training_settings_that_differ_are_told_apart(
    changes: list[dict[str, Any]], alike: dict[str, Any], own: list[dict[str, Any]]
) -> None:
    models = {name: {"training": change} for name, change in zip("xy", changes, strict=True)}
    found = compare_trainings(models, {"a": 1, "b": {"c": 2}})
    assert found == Trainings(alike, dict(zip("xy", own, strict=True)))


def test_the_report_says_in_what_trainings_differ(world: Path, made: Path) -> None:
    alike = "All models were trained with the same settings."
    assert alike in (made / "reports/index.html").read_text()
    edit(world / "params.yaml", lambda p: p["models"]["tiny"].update(training={"epochs": 77}))
    make_report(world)
    for name in ("bleu.md", "index.html"):
        text = (world / "reports" / name).read_text()
        assert "The models were not trained alike: they differ in epochs." in text
    assert "<code>training.epochs</code></th><td>9</td><td>77</td>" in text
    assert "<dt><code>epochs</code></dt>" not in text, "not one value for all"
    assert "<dt><code>label_smoothing</code></dt>" in text


def test_words_and_signs() -> None:
    assert sentence(["a"]) == "a" and sentence(["a", "b", "c"]) == "a, b and c"
    assert (signed(1.234), signed(-0.5)) == ("+1.23", "\N{MINUS SIGN}0.50")
