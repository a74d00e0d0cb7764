"""Each stage by the very command of dvc.yaml: its result, and what bad input makes it say.

An error is one plain message and exit code 1. What the stage wrote before stays as it was, and
nothing half-written lies about.
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.dag import stages
from tests.world.grammar import packed, text
from tests.world.project import Done, World


def run(world: World, address: str, **environment: str) -> Done:
    """Run the command of a stage, as DVC would."""
    command = stages(world.root)[address].command
    return world.try_run("sh", "-c", command, **environment)


@pytest.mark.parametrize(
    "address",
    [
        "download",
        "tokenize@words",
        "tokenize@pieces",
        "build_vocab@words",
        "build_vocab@pieces",
        "prepare@additive",
        "train@baseline-2",
        "translate@baseline-2",
        "evaluate@baseline-2",
        "translate_ensemble@additive",
        "evaluate_ensemble@additive",
        "plot",
        "report",
    ],
)
def test_gives_the_same_bytes_in_a_fresh_process(
    world: World, finished: World, address: str
) -> None:
    outs = stages(world.root)[address].outs
    for out in outs:
        remove(world.root / out)
    # Another order of hashes, the poorest locale, and no display.
    poor = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "DISPLAY": ""}
    done = run(world, address, PYTHONHASHSEED="4", **poor)
    assert done.returncode == 0, done.stdout
    assert world.files(*outs) == finished.files(*outs)
    for out in outs:
        assert (world.root / out).exists()


def remove(path: Path) -> None:
    """Remove a file or a folder."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


# What spoils a world, by what it is called below.


def stale_mirror(world: World) -> None:
    """One word differs from what the checksum was made of."""
    content = text("train", "de").replace(b"Hund", b"Rind", 1)
    (world.mirror / "train.de.gz").write_bytes(packed(content))


def page_in_mirror(world: World) -> None:
    (world.mirror / "train.de.gz").write_bytes(b"<!DOCTYPE html><title>Not found</title>")


def rows_missing(world: World) -> None:
    path = world.root / "data/raw/train.en"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def nul_byte(world: World) -> None:
    path = world.root / "data/raw/val.de"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\0\n", 2).replace(b"\0", b"", 1))


def latin1(world: World) -> None:
    path = world.root / "data/raw/train.de"
    path.write_bytes(path.read_bytes().decode().encode("latin-1"))


def no_pipeline(world: World) -> None:
    world.set("tokenizers.words.splitting.spacy_source", "de_core_news_smX")


def too_many(world: World) -> None:
    world.set("tokenizers.pieces.splitting.pieces", 5000)


def no_tokenizer(world: World) -> None:
    world.set("models.additive.tokenizer", "old")


def typo(world: World) -> None:
    path = world.root / "params.yaml"
    path.write_text(path.read_text().replace("min_freq:", "min_freqq:"))


def no_number(world: World) -> None:
    world.set("training.learning_rate", 3e38)


def other_vocabulary(world: World) -> None:
    path = world.root / "data/prepared/additive/vocab/en.json"
    path.write_text(path.read_text().replace('"meadow"', '"maedow"'))


def other_spacy(world: World) -> None:
    path = world.root / "data/tokens/words/tokenizer.json"
    path.write_text(path.read_text().replace('"3.', '"2.'))


def hypotheses_short(world: World) -> None:
    path = world.root / "translations/additive/1/hypotheses/test_one.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


def other_width(world: World) -> None:
    """Another model's files in the place of a member's."""
    remove(world.root / "models/additive/2")
    shutil.copytree(world.root / "models/baseline/2", world.root / "models/additive/2")


def other_members(world: World) -> None:
    path = world.root / "translations/additive/ensemble/hypotheses/record.json"
    path.write_text(re.sub(r"(\"seed\": \[[^]]*)2", r"\g<1>3", path.read_text()))


def no_weights(world: World) -> None:
    remove(world.root / "models/additive/1/weights.safetensors")


def score_missing(world: World) -> None:
    remove(world.root / "reports/scores/additive-2.json")


def history_missing(world: World) -> None:
    remove(world.root / "models/additive/2/history.jsonl")


CASES = [
    ("download", stale_mirror, "train.de.gz", "SHA-256"),
    ("download", page_in_mirror, "train.de.gz", "HTML"),
    ("tokenize@words", rows_missing, "240 de and 239 en lines (240 v 239)", "get both files again"),
    ("tokenize@words", nul_byte, "data/raw/val.de, line 2: a NUL byte", "get it again"),
    ("tokenize@words", latin1, "data/raw/train.de, line", "is not UTF-8; convert"),
    ("tokenize@words", no_pipeline, "de_core_news_smX", "download"),
    ("tokenize@pieces", too_many, "tokenizers.pieces.splitting.pieces: got 5000", "value <="),
    ("build_vocab@words", typo, "encoding.min_freqq: unknown key", "encoding.min_freq: missing"),
    ("prepare@additive", no_tokenizer, "models.additive.tokenizer: got 'old'", "words, pieces"),
    ("train@additive-1", no_number, "the loss is nan", "lower training.learning_rate"),
    ("translate@additive-1", other_vocabulary, "vocab/en.json: SHA-256 is", "train the model"),
    ("translate@additive-1", no_weights, "weights.safetensors: does not fit", "No such file"),
    ("evaluate@additive-1", other_spacy, "made with another tokenizer", "spacy"),
    ("evaluate@additive-1", hypotheses_short, "test_one", "11"),
    ("translate_ensemble@additive", other_width, "can't translate together", "same settings"),
    ("evaluate_ensemble@additive", other_members, "(1, 2)", "translate_ensemble@additive"),
    ("plot", history_missing, "models/additive/2/history.jsonl", "dvc repro train@additive-2"),
    ("report", score_missing, "reports/scores/additive-2.json", "dvc repro evaluate@additive-2"),
]


@pytest.mark.parametrize(("address", "spoil", "what", "how"), CASES)
def test_bad_input_is_told_and_leaves_no_trace(
    world: World, address: str, spoil: Callable[[World], None], what: str, how: str
) -> None:
    spoil(world)
    before = world.files("data", "models", "translations", "reports")
    done = run(world, address)
    assert done.returncode == 1, done.stdout
    errors = [line for line in done.stdout.split("\n") if line.startswith("error: ")]
    assert len(errors) == 1 and "Traceback" not in done.stdout, done.stdout
    told = done.stdout[done.stdout.index("error: ") :]
    assert what in told and how in told
    assert world.files("data", "models", "translations", "reports") == before
    assert [path for path in world.root.rglob("*.partial") if ".dvc" not in path.parts] == []


def test_an_editor_s_traces_change_no_token(world: World, finished: World) -> None:
    """A byte order mark, and line ends of another system."""
    for path in (world.root / "data/raw").iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert run(world, "tokenize@words").returncode == 0
    assert world.files("data/tokens/words") == finished.files("data/tokens/words")


def test_a_blank_side_drops_a_training_pair_and_no_test_sentence(world: World) -> None:
    for split in ("train", "test_one"):
        path = world.root / f"data/raw/{split}.de"
        lines = path.read_text().split("\n")
        lines[1], lines[3] = "", " \t"
        path.write_text("\n".join(lines))
    prepared = ("tokenize@words", "build_vocab@words", "prepare@additive")
    for address in (*prepared, "train@additive-1", "translate@additive-1"):
        done = run(world, address)
        assert done.returncode == 0, done.stdout
    tokens = world.root / "data/tokens/words"
    sentences = {p.name: p.read_text().split("\n")[:-1] for p in tokens.glob("*.jsonl")}
    assert len(sentences["train.de.jsonl"]) == len(sentences["train.en.jsonl"]) == 238
    assert '"dropped_training_pairs": 2' in (tokens / "counts.json").read_text()
    assert len(sentences["test_one.de.jsonl"]) == 12
    assert sentences["test_one.de.jsonl"][1] == "[]"
    output = world.root / "translations/additive/1/hypotheses/test_one.txt"
    assert len(output.read_text().split("\n")[:-1]) == 12
    assert run(world, "evaluate@additive-1").returncode == 0


def test_a_model_may_train_unlike_the_others(world: World, finished: World) -> None:
    world.set("models.additive.training", {"epochs": 2, "teacher_forcing": {"end": 0.5}})
    for address in ("train@additive-1", "train@baseline-1", "report"):
        done = run(world, address)
        assert done.returncode == 0, done.stdout
    models = world.root / "models"
    trained = json.loads((models / "additive/1/config.json").read_text())
    assert trained["epochs"] == trained["training"]["epochs"] == 2
    assert trained["training"]["teacher_forcing"] == {"start": 1.0, "end": 0.5, "epochs": 1}
    assert "training" not in trained["model"]
    assert world.files("models/baseline") == finished.files("models/baseline")
    page = (world.root / "reports/index.html").read_text()
    assert "<code>training.teacher_forcing.end</code></th><td>1.0</td><td>0.5</td>" in page


def test_files_placed_by_hand_need_no_source(world: World, finished: World) -> None:
    """DVC removes a stage's outputs before it runs: the folder lies outside of them."""
    shutil.copytree(world.root / "data/raw", world.root / "data/archive")
    remove(world.root / "data/raw")
    done = world.try_run("dvc", "repro", "--force", "download", MULTI30K_MIRROR="")
    assert done.returncode == 0, done.stdout
    assert world.files("data/raw") == finished.files("data/raw")


def test_a_failed_download_stops_what_follows(world: World) -> None:
    remove(world.root / "data/raw")
    world.set("data.sources", ["http://127.0.0.1:9"])
    for path in world.mirror.iterdir():
        path.unlink()
    done = world.try_run("dvc", "repro", "--force")
    assert done.returncode != 0
    assert "data/archive" in done.stdout and "127.0.0.1:9" in done.stdout
    assert "Running stage 'tokenize@words'" not in done.stdout
    assert not (world.root / "data/raw").exists()
