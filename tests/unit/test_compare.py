"""`nmt compare` on projects whose results were written by hand."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.compare import Comparison, Wanted, compare
from nmt.compare.page import as_html
from nmt.compare.sides import CompareError
from nmt.compare.significance import Draws
from nmt.compare.text import as_json, as_text
from nmt.errors import ParamsError
from nmt.history import Choice, history
from nmt.history.locks import LockError
from tests.unit.made_history import TEST, Made

FAST = Wanted(Draws(resamples=100, trials=100), sentences=2)


@pytest.fixture(scope="session")
def two(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return a project with two commits, `one` and `two`; B is a better and wider `wide`."""
    made = Made.make(tmp_path_factory.mktemp("two") / "Kleine Wört")
    made.results()
    made.commit("First")
    made.git("tag", "one")
    made.params["models"]["wide"]["hidden"] = 64
    made.params["training"]["schedule"]["warmup"] = 10
    made.noise["wide"] = 0.2
    (made.root / "src/nmt/model/net.py").write_text("width = 2\n")
    (made.root / "src/nmt/report/page.py").write_text("new = True\n")
    (made.root / "src/nmt/model/new.py").write_text("")
    (made.root / "requirements.lock").write_text("torch==2.14.0\nnew==1.0\n")
    made.results()
    made.commit("Second")
    made.git("tag", "two")
    made.keep_in_cache()
    return made


@pytest.fixture
def made(two: Made, tmp_path: Path) -> Made:
    """Return a copy, elsewhere: a moved folder changes nothing."""
    shutil.copytree(two.root, tmp_path / "moved")
    return Made(tmp_path / "moved", two.params, two.noise)


@pytest.fixture(scope="session")
def found(two: Made) -> Comparison:
    before = everything(two.root)
    result = compare(two.root, "one", "two", Wanted(FAST.draws, 2, attention=True))
    assert everything(two.root) == before, "compare changed the project"
    return result


def everything(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_params_that_differ_and_no_others(found: Comparison) -> None:
    assert [(d.name, d.a, d.b) for d in found.differences.params] == [
        ("models.wide.hidden", "32", "64"),
        ("training.schedule.warmup", "0", "10"),
    ]


def test_code_environment_and_data(found: Comparison) -> None:
    code = found.differences.code
    assert [(f.path, f.change, f.stages) for f in code.files] == [
        ("src/nmt/model/net.py", "changed", ("train",)),
        ("src/nmt/model/new.py", "added", ("train",)),
        ("src/nmt/report/page.py", "changed", ()),
    ]
    assert code.only_a == () and [line[9:] for line in code.only_b] == ["Second"]
    assert [(d.name, d.a, d.b) for d in found.differences.environment] == [
        ("requirements.lock: torch", "2.13.0", "2.14.0"),
        ("requirements.lock: spacy", "3.8.18", "absent"),
        ("requirements.lock: new", "absent", "1.0"),
    ]
    assert found.differences.data == ()


def test_scores_and_verdict(found: Comparison) -> None:
    base, wide = found.scores.cells
    assert base.verdict and wide.verdict and wide.tested
    assert base.verdict.line == "the same translations, word for word: no difference"
    delta = wide.metrics[0].delta
    assert delta is not None and delta == pytest.approx(wide.tested.delta, abs=1e-3)
    assert (
        wide.verdict.line
        == f"{delta:+.2f} BLEU, p = 0.010, beyond the spread of 3 seeds: B is better"
    )
    assert found.verdict == (
        "of 2 comparisons: B is better in 1 (wide on test_one), the same translations in 1"
    )
    assert found.complete


def test_sentences_with_attention_from_the_cache(found: Comparison) -> None:
    first, second = found.sentences
    assert first.cell.model == "wide" and abs(first.change) >= abs(second.change) > 0
    assert first.source == f"de: {first.reference}"
    attention = first.b.attention
    assert attention and attention.output == (*first.b.text.split(), "<eos>")
    assert attention.source == (*first.source.split(), "<eos>")
    assert [sum(row) for row in attention.weights] == pytest.approx([1] * len(attention.output))


def test_text(found: Comparison) -> None:
    text = as_text(found)
    assert "params: 2 differ\n  models.wide.hidden        32 -> 64\n" in text
    assert "code: 3 files differ\n  changed  src/nmt/model/net.py (read by train)\n" in text
    assert "  changed  src/nmt/report/page.py (read by no stage)\n" in text
    assert "data: the same\n" in text
    assert f"verdict: {found.verdict}\n" in text
    assert "note: no run in MLflow is known to have made the models of A or B" in text


def test_json(found: Comparison) -> None:
    content = json.loads(as_json(found))
    assert content["scores"][1]["outcome"] == "B is better"
    assert content["scores"][1]["tested"]["signature"].endswith("|seed:12345|bs:100|ar:100")
    assert content["differences"]["params"][0] == {
        "name": "models.wide.hidden", "a": "32", "b": "64",
    }  # fmt: skip


def test_html_needs_nothing_else(found: Comparison) -> None:
    page = as_html(found)
    assert page.count('<svg class="heat"') == 4
    assert "http://" not in page and "https://" not in page and "<script" not in page
    assert found.verdict in page and "&lt;eos&gt;" in page


def test_a_model_without_attention_says_so(made: Made) -> None:
    made.noise["base"] = 0.3
    restore(made)
    made.results()
    made.commit("Third")
    page = as_html(compare(made.root, "two", "HEAD", Wanted(FAST.draws, 1, attention=True)))
    assert "Attention: base has no attention." in page


def restore(made: Made) -> None:
    """Put the corpus back that the cache has."""
    fresh = Made.make(made.root.parent / "fresh")
    shutil.copytree(fresh.root / "data", made.root / "data", dirs_exist_ok=True)
    shutil.rmtree(fresh.root)


@pytest.mark.parametrize("name", ["one", "refs/tags/one", "main~1", "abbreviated"])
def test_names_of_one_commit(made: Made, name: str) -> None:
    name = made.git("rev-parse", "one")[:10] if name == "abbreviated" else name
    assert compare(made.root, name, "one", Wanted(FAST.draws, 0)).verdict == (
        "the same translations, word for word, in all 2 comparisons"
    )


def test_a_project_in_a_folder_of_its_repository(two: Made, tmp_path: Path) -> None:
    inner = Made(tmp_path / "repository" / "inner", two.params, two.noise)
    shutil.copytree(two.root, inner.root, ignore=shutil.ignore_patterns(".git"))
    restore(inner)
    inner.git("init", "--quiet", "..")
    inner.results()
    inner.commit("First")
    inner.params["models"]["base"]["hidden"] = 20
    (inner.root / "src/nmt/model/net.py").write_text("width = 4\n")
    inner.results()
    inner.commit("Second")
    (inner.root / "params.yaml").unlink()
    found = compare(inner.root, "HEAD~1", "HEAD", FAST)
    assert [d.name for d in found.differences.params] == ["models.base.hidden"]
    assert [f.path for f in found.differences.code.files] == ["src/nmt/model/net.py"]
    assert found.complete
    (row, *_) = history(inner.root, Choice()).rows
    assert len(row.revisions) == 2 and f"{TEST}.bleu" in row.metrics


def test_left_overs_in_git_beside_the_translations(made: Made) -> None:
    """They are not of dvc.lock: without them, from the cache, it would be."""
    (made.root / "translations/wide/1/hypotheses/old.txt").write_text("old\n")
    made.commit("Forget a file")
    found = compare(made.root, "two", "HEAD", FAST)
    assert "translations/wide/1/hypotheses of dvc.lock" in found.missing[0]


def test_workspace_with_uncommitted_changes(made: Made) -> None:
    (made.root / "src/nmt/model/net.py").write_text("width = 3\n")
    (made.root / "src/nmt/model/newer.py").write_text("")
    (made.root / "src/nmt/model/new.py").unlink()
    changes = [
        ("src/nmt/model/net.py", "changed"),
        ("src/nmt/model/new.py", "removed"),
        ("src/nmt/model/newer.py", "added"),
    ]
    code = compare(made.root, "two", "workspace", FAST).differences.code
    assert [(f.path, f.change) for f in code.files] == changes
    code = compare(made.root, "workspace", "two", FAST).differences.code
    assert [(f.path, f.change) for f in code.files] == [
        ("src/nmt/model/net.py", "changed"),
        ("src/nmt/model/new.py", "added"),
        ("src/nmt/model/newer.py", "removed"),
    ]


def test_params_edited_after_the_results(made: Made) -> None:
    path = made.root / "params.yaml"
    path.write_text(path.read_text().replace("beam: 2", "beam: 7"))
    found = compare(made.root, "two", "workspace", FAST)
    assert [d.name for d in found.differences.params] == ["decoding.beam"]
    assert found.differences.notes[0] == (
        "workspace: params.yaml was changed after its results were made: decoding.beam; the "
        "results are those of dvc.lock: run `dvc repro`"
    )


def test_an_experiment_by_name(made: Made) -> None:
    made.git("update-ref", f"refs/exps/{'a' * 2}/{'b' * 38}/wide-one", "two")
    found = compare(made.root, "one", "wide-one", Wanted(FAST.draws, 0))
    assert found.b.startswith("experiment wide-one (commit ")


def test_a_name_of_two_things(made: Made) -> None:
    made.git("update-ref", f"refs/exps/{'a' * 2}/{'b' * 38}/one", "two")
    with pytest.raises(CompareError, match="^one is more than one thing: experiment one .*; give"):
        compare(made.root, "one", "two", FAST)


@pytest.mark.parametrize("name", ["three", "deadbeef", "-h", "one:params.yaml"])
def test_a_name_of_nothing(made: Made, name: str) -> None:
    with pytest.raises(
        CompareError, match="no commit, tag, branch, experiment or run of that name"
    ):
        compare(made.root, "one", name, FAST)


def test_a_merge_conflict(made: Made) -> None:
    path = made.root / "dvc.lock"
    path.write_text(f"<<<<<<< HEAD\n{path.read_text()}=======\n>>>>>>> other\n")
    with pytest.raises(LockError, match="dvc.lock of workspace, line 1: a mark of a merge conf"):
        compare(made.root, "one", "workspace", FAST)


@pytest.mark.parametrize(
    ("content", "message"),
    [("a: [", "params.yaml of workspace: not readable as YAML"), ("3", "expected a mapping")],
)
def test_params_that_are_none(made: Made, content: str, message: str) -> None:
    (made.root / "params.yaml").write_text(content)
    with pytest.raises(ParamsError, match=message):
        compare(made.root, "one", "workspace", FAST)


def lose_cache(made: Made) -> None:
    shutil.rmtree(made.root / ".dvc/cache")


def spoil_cache(made: Made) -> None:
    for path in (made.root / ".dvc/cache").rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes() + b" ")


@pytest.mark.parametrize("harm", [lose_cache, spoil_cache])
def test_without_references_scores_alone(made: Made, harm: Callable[[Made], None]) -> None:
    harm(made)
    found = compare(made.root, "one", "two", FAST)
    assert not found.complete
    assert (
        found.verdict == "can't tell: nothing could be compared on the sentences; 2 can't be told"
    )
    assert "the data/raw of dvc.lock" in found.missing[0] and "`dvc pull`" in found.missing[0]
    delta = found.scores.cells[1].metrics[0].delta
    assert delta is not None and delta > 10


def test_references_of_the_workspace_serve_if_they_are_the_same(made: Made) -> None:
    lose_cache(made)
    restore(made)
    assert compare(made.root, "one", "two", FAST).complete
    (made.root / f"data/raw/{TEST}.en").write_text("other\n")
    assert not compare(made.root, "one", "two", FAST).complete


def test_a_remote_serves_what_the_cache_lacks(made: Made) -> None:
    (made.root / ".dvc/cache").rename(made.root.parent / "remote")
    config = "[core]\n    remote = far\n['remote \"far\"']\n    url = ../../remote\n"
    (made.root / ".dvc/config").write_text(config)
    (made.root / "dvc.yaml").write_text("stages: {}\n")
    assert compare(made.root, "one", "two", FAST).complete


def test_translations_that_are_not_those_of_dvc_lock(made: Made) -> None:
    path = made.root / f"translations/wide/1/hypotheses/{TEST}.jsonl"
    path.write_text(path.read_text().replace("dog", "god"))
    made.commit("Tamper")
    found = compare(made.root, "one", "HEAD", FAST)
    assert [bool(cell.tested) for cell in found.scores.cells] == [True, False]
    assert "translations/wide/1/hypotheses of dvc.lock" in found.missing[0]


def test_scores_older_than_their_model(made: Made) -> None:
    path = made.root / "dvc.lock"
    first = made.entry("models/wide/1")["md5"]
    path.write_text(path.read_text().replace(first, "0" * 32 + ".dir", 1))
    found = compare(made.root, "one", "workspace", FAST)
    assert "the scores of wide, seed 1, are older than its model" in found.missing[0]


def test_a_changed_tokenizer_of_bleu_is_not_compared(made: Made) -> None:
    path = made.root / "reports/scores/wide-1.json"
    before = made.entry("reports/scores/wide-1.json")["md5"]
    path.write_text(path.read_text().replace("tok:13a", "tok:intl"))
    after = made.entry("reports/scores/wide-1.json")["md5"]
    lock = made.root / "dvc.lock"
    lock.write_text(lock.read_text().replace(before, after))
    cell = compare(made.root, "one", "workspace", FAST).scores.cells[1]
    assert cell.tested is None and "BLEU was computed in two ways" in cell.problem


def test_seeds_and_models_of_one_side(made: Made) -> None:
    path = made.root / "params.yaml"
    path.write_text(path.read_text().replace("  - 1\n", "").replace("  - base\n", ""))
    found = compare(made.root, "one", "workspace", FAST)
    assert [cell.place for cell in found.scores.cells] == ["wide on test_one"]
    assert [seed for (_, seed), _ in found.scores.cells[0].items] == [2, 3]
    assert "only commit" in found.scores.notes[0] and found.scores.notes[0].endswith("has base")
    assert found.scores.notes[1] == "wide: seeds [1, 2, 3] of A, [2, 3] of B: 2, 3 compared"
    verdict = found.scores.cells[0].verdict
    assert verdict and verdict.line.endswith("2 seeds are too few to say it of the setting")


def test_ensembles(tmp_path: Path) -> None:
    made = Made.make(tmp_path / "project")
    made.params["grid"]["ensembles"] = ["wide", "base"]
    made.results()
    made.commit("Three seeds")
    made.params["grid"] |= {"seeds": [1, 2], "ensembles": ["wide"]}
    made.noise["wide"] = 0.2
    made.results()
    made.commit("Two seeds")
    found = compare(made.root, "HEAD~1", "HEAD", FAST)
    cell = found.scores.cells[-1]
    assert cell.place == "wide (ensemble of 3) v wide (ensemble of 2) on test_one"
    assert cell.items == ((("wide", (1, 2, 3)), ("wide", (1, 2))),)
    assert len(cell.metrics[0].a) == 1 and cell.tested and cell.tested.delta > 0
    assert [c.place for c in found.scores.cells[:-1]] == ["base on test_one", "wide on test_one"]
    assert any(note.endswith("has the ensemble of base") for note in found.scores.notes)
    assert found.complete and "wide (ensemble of 3) v wide (ensemble of 2)" in as_text(found)


def test_scores_older_than_the_translations_of_an_ensemble(tmp_path: Path) -> None:
    made = Made.make(tmp_path / "project")
    made.params["grid"]["ensembles"] = ["wide"]
    made.results()
    made.commit("First")
    path = made.root / "dvc.lock"
    text, hypotheses = path.read_text(), made.entry("translations/wide/ensemble/hypotheses")["md5"]
    assert text.count(hypotheses) == 2
    path.write_text(text.replace(hypotheses, "0" * 32 + ".dir", 1))
    found = compare(made.root, "HEAD", "workspace", FAST)
    assert "the scores of wide, ensemble of seeds 1, 2, 3, are older than its" in found.missing[0]


def test_an_ensemble_older_than_a_member(tmp_path: Path) -> None:
    made = Made.make(tmp_path / "project")
    made.params["grid"]["ensembles"] = ["wide"]
    made.results()
    made.commit("First")
    for item in ("base/1", "wide/1", "wide/2", "wide/3"):
        made.cache(f"models/{item}")
    path = made.root / "dvc.lock"
    one, other = (made.entry(f"models/{model}/1")["md5"] for model in ("wide", "base"))
    path.write_text(path.read_text().replace(one, other))  # trained and translated anew, alone
    found = compare(made.root, "HEAD", "workspace", FAST)
    (missing,) = found.missing
    assert "workspace: the scores of wide, ensemble of seeds 1, 2, 3, are older than its" in missing
