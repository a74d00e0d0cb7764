"""The whole graph in the small world: by DVC, by Snakemake, as an experiment, in a clone."""

import csv
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from nmt.dag import followers, stages, stale
from tests.world.project import World, stages_run

MADE = ("data", "models", "translations", "reports")
UP_TO_DATE = "Data and pipelines are up to date."


def items(names: str, *which: str) -> set[str]:
    """Return the addresses of stages, such as "train@additive-1"."""
    return {f"{name}@{item}" for name in names.split() for item in which}


def test_a_second_run_does_nothing(world: World) -> None:
    before = world.files(*MADE, "dvc.lock")
    output = world.dvc("repro")
    assert stages_run(output) == [] and UP_TO_DATE in output
    assert UP_TO_DATE in world.dvc("status")
    assert world.would_run() == []
    assert world.files(*MADE, "dvc.lock") == before
    assert world.run("git", "status", "--porcelain") == ""


def test_the_report_covers_the_grid(finished: World) -> None:
    single = {"baseline-1", "baseline-2", "additive-1", "additive-2"}
    assert scored(finished) == single | {"additive-ensemble"}
    page = (finished.root / "reports/index.html").read_text(encoding="utf-8")
    assert "additive" in page and "data:image/png;base64," in page
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page), "asks for another file"


def test_dvc_shows_metrics_and_plots(finished: World) -> None:
    shown = json.loads(finished.dvc("metrics", "show", "--json"))[""]["data"]
    assert "reports/scores/additive-2.json" in shown and "data/vocab/words/coverage.json" in shown
    plots = json.loads(finished.dvc("plots", "show", "--json"))
    assert set(plots["data"]) == {"validation BLEU", "validation loss", "training loss"}
    assert "errors" not in plots
    rows = plots["data"]["training loss"][0]["content"]["data"]
    assert {(row["model"], row["seed"]) for row in rows} == {
        (model, seed) for model in ("baseline", "additive") for seed in "12"
    }


def test_an_experiment_reruns_the_changed_model_and_what_follows(world: World) -> None:
    """Then the old value again: trainings come out of the cache, and all bytes are as before."""
    before = world.files(*MADE)
    world.set("models.additive.hidden", 20)
    assert set(world.would_run()) == items("train", "additive-1", "additive-2") | {"report"}
    world.run("git", "checkout", "--quiet", "params.yaml")

    output = world.dvc("exp", "run", "--name", "wide", "--set-param", "models.additive.hidden=20")
    additive = items("train translate evaluate", "additive-1", "additive-2")
    additive |= items("translate_ensemble evaluate_ensemble", "additive")
    assert set(stages_run(output)) == additive | {"plot", "report"}
    after = world.files(*MADE)
    changed = {path for path in before if before[path] != after[path]}
    assert changed and not [path for path in changed if re.search(r"/baseline[-/]", path)]
    shown = world.dvc("exp", "show", "--csv")
    assert "wide" in shown
    difference = json.loads(world.dvc("metrics", "diff", "--json"))
    scores = {f"reports/scores/additive-{seed}.json" for seed in ("1", "2", "ensemble")}
    assert set(difference) == scores

    world.run("git", "checkout", "--quiet", "params.yaml")
    output = world.dvc("repro", "evaluate", "evaluate_ensemble")
    assert "Stage 'train@additive-1' is cached - skipping run" in output
    made = MADE[:-1]
    assert world.files(*made, "reports/scores") == {
        path: content
        for path, content in before.items()
        if path.startswith((*made, "reports/scores"))
    }


def test_a_model_less_and_a_seed_more(world: World) -> None:
    world.set("grid.ensembles", [])
    world.set("grid.models", ["baseline"])
    assert set(stages_run(world.dvc("repro"))) == {"plot", "report"}
    assert scored(world) == {"baseline-1", "baseline-2"}
    assert "additive" not in (world.root / "reports/bleu.md").read_text(encoding="utf-8")

    before = world.files("models", "translations")
    world.set("grid.seeds", [1, 2, 3])
    new = items("train translate evaluate", "baseline-3")
    assert set(stages_run(world.dvc("repro"))) == new | {"plot", "report"}
    kept = world.files("models", "translations")
    assert {path: kept[path] for path in before} == before
    assert scored(world) == {"baseline-1", "baseline-2", "baseline-3"}
    assert UP_TO_DATE in world.dvc("status")


def test_words_and_pieces_stand_in_one_table(world: World) -> None:
    """And a changed tokenizer trains the models that use it anew, and no other."""
    world.set("grid.models", ["baseline", "subwords"])
    world.set("grid.seeds", [1])
    world.set("grid.ensembles", [])
    new = items("train translate evaluate", "subwords-1") | {"prepare@subwords"}
    assert set(stages_run(world.dvc("repro"))) == new | {"plot", "report"}
    assert scored(world) == {"baseline-1", "subwords-1"}
    page = (world.root / "reports/index.html").read_text(encoding="utf-8")
    assert "Most frequent tokens, tokenizer pieces: English" in page
    assert UP_TO_DATE in world.dvc("status")
    checked = world.try_run("nmt", "audit")
    assert checked.returncode == 0, checked.stdout

    before = world.files("models", "translations")
    world.set("tokenizers.pieces.splitting.pieces", 250)
    changed = items("tokenize build_vocab", "pieces") | items("prepare", "baseline", "subwords")
    run = set(stages_run(world.dvc("repro")))
    assert run == changed | new | {"plot", "report"}
    after = world.files("models", "translations")
    differing = {path for path in before if before[path] != after.get(path)}
    assert differing and not [path for path in differing if "/subwords/" not in path]


def test_an_ensemble_comes_and_goes(world: World) -> None:
    """All else keeps its bytes, for its figures enter no mean and no spread of the models."""
    before = world.files("models", "translations", "reports/scores")
    with_it = (world.root / "reports/bleu.md").read_text(encoding="utf-8")
    world.set("grid.ensembles", [])
    assert set(stages_run(world.dvc("repro"))) == {"plot", "report"}
    assert UP_TO_DATE in world.dvc("status")
    assert scored(world) == {"baseline-1", "baseline-2", "additive-1", "additive-2"}
    kept = world.files("models", "translations", "reports/scores")
    assert kept == {path: content for path, content in before.items() if "ensemble" not in path}
    without = (world.root / "reports/bleu.md").read_text(encoding="utf-8")
    assert "ensemble" not in without
    rows = [line for line in without.split("\n") if line.startswith(("| baseline", "| additive"))]
    assert rows and set(rows) < set(with_it.split("\n"))

    world.set("grid.ensembles", ["additive", "baseline"])
    new = items("translate_ensemble evaluate_ensemble", "additive", "baseline")
    assert set(stages_run(world.dvc("repro"))) <= new | {"plot", "report"}
    assert scored(world) >= {"additive-ensemble", "baseline-ensemble"}
    again = world.files("translations/additive/ensemble", "reports/scores")
    assert {path: again[path] for path in before if path in again} == {
        path: content for path, content in before.items() if path in again
    }
    assert UP_TO_DATE in world.dvc("status")


def test_a_seed_more_translates_the_ensemble_anew(world: World) -> None:
    world.set("grid.seeds", [1, 2, 3])
    ensemble = items("translate_ensemble evaluate_ensemble", "additive")
    new = items("train translate evaluate", "baseline-3", "additive-3")
    assert set(stages_run(world.dvc("repro"))) == new | ensemble | {"plot", "report"}
    assert "additive (ensemble of 3)" in (world.root / "reports/bleu.md").read_text("utf-8")
    world.set("grid.seeds", [1, 2])
    stages_again = set(stages_run(world.dvc("repro")))
    assert stages_again <= ensemble | {"plot", "report"}
    assert UP_TO_DATE in world.dvc("status")


def test_snakemake_gives_the_same_bytes(finished: World, tmp_path: Path) -> None:
    world = World.make(tmp_path / "by Snakemake")
    assert dry_run(world) == set(stages(world.root))
    world.run("snakemake", "-c2")
    assert world.files(*MADE) == finished.files(*MADE)
    assert locked(world) == locked(finished)
    assert dry_run(world) == set() and world.would_run() == []
    assert "Nothing to be done" in world.run("snakemake", "-c2")
    logs = {path.stem for path in (world.root / ".snakemake/stages").glob("*.log")}
    assert {"download", "train_additive_1", "report"} <= logs


def test_snakemake_runs_what_dvc_calls_stale(world: World) -> None:
    """In a project that DVC has run alone so far: there are no stamps yet."""
    (world.root / "data/raw/train.de").touch()  # new in time, not in content
    assert dry_run(world) == set()
    world.set("plots.dpi", 60)
    assert stale(world.root) == set(world.would_run())
    expected = followers(stages(world.root), stale(world.root))
    assert expected == {"plot", "report"}
    assert dry_run(world) == expected
    assert not (world.root / ".snakemake/stages").exists()
    output = world.run("snakemake", "-c2")
    assert rules_run(world, output) == expected
    assert world.would_run() == [] and dry_run(world) == set()


def test_snakemake_stops_at_a_failed_stage_and_shows_its_log(world: World) -> None:
    world.set("tokenizers.words.splitting.spacy_source", "de_core_news_smX")
    for _ in range(2):  # the second time too
        done = world.try_run("snakemake", "-c2")
        assert done.returncode != 0 and "error: " in done.stdout
        assert "de_core_news_smX" in done.stdout
        assert "rule build_vocab_words" not in done.stdout


def test_a_temporary_copy_runs_its_own_code(world: World) -> None:
    """Not that of the folder it was copied from, though an editable install may name that."""
    world = world.renamed("small world")  # DVC 3.67 can't make the copy where a path is not ASCII
    script = world.root / "src/nmt/vocab/build.py"
    script.write_text(script.read_text() + "\nprint('code in', __file__)\n")
    output = world.dvc("exp", "run", "--temp", "build_vocab@words")
    (place,) = re.findall("code in (.*)", output)
    assert Path(place).is_relative_to(world.root / ".dvc/tmp/exps")


def test_a_clone_pulls_what_was_pushed(world: World, tmp_path: Path) -> None:
    world.dvc("push")
    remote = world.base / "nmt-dvc-remote"
    assert remote.is_dir(), "the default remote lies beside the project"
    clone = World(tmp_path / "clone")
    shutil.copytree(remote, clone.base / remote.name)
    clone.base.mkdir(exist_ok=True)
    world.run("git", "clone", "--quiet", ".", str(clone.root))
    assert clone.files("translations", "reports"), "hypotheses and reports come with git"
    clone.dvc("pull")
    assert clone.files(*MADE) == world.files(*MADE)
    assert UP_TO_DATE in clone.dvc("status")


@pytest.mark.parametrize("driver", ["dvc", "snakemake"])
def test_params_are_checked_before_hours_of_work(world: World, driver: str) -> None:
    """What only a late stage would stumble over stops the first."""
    world.set("plots.attention_sentences", [13])
    world.set("tokenizers.words.splitting.lowercase", False)
    command = ("dvc", "repro") if driver == "dvc" else ("snakemake", "-c1")
    done = world.try_run(*command)
    assert done.returncode != 0
    assert "plots.attention_sentences: got 13, but test_one has 12 sentences" in done.stdout
    assert "train@" not in "".join(stages_run(done.stdout))


def locked(world: World) -> Any:
    """Return the content of dvc.lock. Its order is that in which stages ended."""
    return YAML(typ="safe").load(world.root / "dvc.lock")


def scored(world: World) -> set[str]:
    """Return models and seeds in bleu.csv."""
    with (world.root / "reports/bleu.csv").open(encoding="utf-8", newline="") as file:
        return {f"{row['model']}-{row['seed']}" for row in csv.DictReader(file)}


def dry_run(world: World) -> set[str]:
    """Return the stages that `snakemake -n` names."""
    return rules_run(world, world.run("snakemake", "-n"))


def rules_run(world: World, output: str) -> set[str]:
    """Return the stages whose rules Snakemake says it runs."""
    addresses = {re.sub("[@-]", "_", address): address for address in stages(world.root)}
    rules = re.findall(r"^(?:local)?rule (\w+):", output, re.MULTILINE)
    return {addresses[name] for name in rules if name != "all"}
