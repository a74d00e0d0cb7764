"""The audit of the small world: right as it was made, and twelve ways of tampering with it."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from nmt.audit.audit import audit
from nmt.audit.findings import Audit, AuditError, Link, Status
from nmt.audit.page import as_html
from nmt.audit.replay import Replay
from nmt.audit.text import as_json, as_text
from tests.world.project import World


@pytest.fixture(autouse=True)
def own_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """The project's own database is meant, and no mirror that the tester may have."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.delenv("MULTI30K_MIRROR", raising=False)


def command(
    world: World, *arguments: str, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run `nmt audit` in the project."""
    words = (sys.executable, "-m", "nmt.cli", "audit", *arguments)
    return world.try_run(*words, PYTHONPATH="src")


def state_of_all_files(world: World) -> dict[str, tuple[int, int]]:
    """Return time of change and size of every file, git's and DVC's own included."""
    return {
        str(path): (path.stat().st_mtime_ns, path.stat().st_size)
        for path in world.root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def bad_texts(link: Link) -> str:
    return "\n".join(f.text for f in link.findings if f.status > Status.MARKED)


def test_all_is_right_and_nothing_is_changed(finished: World) -> None:
    before = state_of_all_files(finished)
    done = command(finished, "--format", "json")
    assert done.returncode == 0, done.stdout
    assert state_of_all_files(finished) == before
    found = json.loads(done.stdout[done.stdout.index("{") :])
    assert found["verdict"].startswith("All 40 figures hold")
    assert {f["status"] for link in found["links"] for f in link["findings"]} == {"ok"}
    assert {f["score"] for f in found["figures"]} and len(found["figures"]) == 40
    chain = [
        "record dvc.lock",
        "record of runs sqlite:///mlflow.db",
        "pinned environment requirements.lock",
        "source archives data.files of params.yaml",
        "raw data data/raw (download)",
        "tokens data/tokens/words (tokenize@words)",
        "vocabulary data/vocab/words (build_vocab@words)",
        "model's data data/prepared/additive (prepare@additive)",
        "model models/additive/1 (train@additive-1)",
        "hypotheses translations/additive/1 (translate@additive-1)",
        "score file reports/scores/additive-1.json (evaluate@additive-1)",
        "table reports/bleu.csv (report)",
    ]
    figure = next(f for f in found["figures"] if (f["model"], f["seed"]) == ("additive", "1"))
    assert figure["chain"] == chain
    ensemble = next(f for f in found["figures"] if f["seed"] == "ensemble")
    assert ensemble["chain"] == [
        *chain[:9],
        "model models/additive/2 (train@additive-2)",
        "hypotheses translations/additive/ensemble (translate_ensemble@additive)",
        "score file reports/scores/additive-ensemble.json (evaluate_ensemble@additive)",
        chain[-1],
    ]
    model = next(link for link in found["links"] if link["title"] == chain[8])
    assert "src/nmt/model" in model["code"]
    assert model["params"]["models.additive.hidden"] == "16"
    assert model["environment"]["device"] == "cpu"


def flip_byte(world: World) -> None:
    path = world.root / "models/additive/1/weights.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def replace(world: World, file: str, old: str, new: str) -> None:
    path = world.root / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def change_line(world: World, file: str, number: int) -> None:
    path = world.root / file
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[number - 1] = re.sub(r"(\w)(\w)", r"\2\1", lines[number - 1].replace("text", "\0", 1)
                               ).replace("\0", "text")  # fmt: skip
    path.write_text("\n".join(lines), encoding="utf-8")


def change_hypothesis(world: World) -> None:
    path = world.root / "translations/additive/1/hypotheses/test_one.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows[2]["text"] += " again"
    text = "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def change_score(world: World) -> None:
    path = world.root / "reports/scores/additive-1.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["tests"]["test_one"]["bleu"] = 99.5
    path.write_text(
        json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n", encoding="utf-8"
    )


def change_cell(world: World) -> None:
    path = world.root / "reports/bleu.csv"
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"(additive,1,test_one,bleu),[\d.]+", r"\1,99.5", text))


def change_lock(world: World) -> None:
    path = world.root / "dvc.lock"
    head, address, rest = path.read_text(encoding="utf-8").partition("  train@additive-1:\n")
    rest = re.sub(r"(outs:\n.*?md5: )\w+(\.dir)", rf"\g<1>{'0' * 32}\2", rest, count=1, flags=re.S)
    path.write_text(head + address + rest, encoding="utf-8")


def change_mlflow_param(world: World) -> None:
    with closing(sqlite3.connect(world.root / "mlflow.db")) as database, database:
        changed = database.execute(
            "UPDATE params SET value = '0.5' WHERE key = 'training.learning_rate' AND run_uuid IN "
            "(SELECT run_uuid FROM tags WHERE key = 'stage' AND value = 'train@additive-1')"
        )
        assert changed.rowcount >= 1


TAMPERINGS: dict[str, tuple[Callable[[World], None], str, str]] = {
    "a byte of a model": (
        flip_byte,
        "model models/additive/1 (train@additive-1)",
        r"not what dvc\.lock names .*differs in models/additive/1/weights\.safetensors",
    ),
    "a hypothesis line": (
        change_hypothesis,
        "hypotheses translations/additive/1 (translate@additive-1)",
        r"differs in translations/additive/1/hypotheses/test_one\.jsonl, line 3",
    ),
    "a line of an ensemble": (
        lambda world: change_line(
            world, "translations/additive/ensemble/hypotheses/test_one.txt", 2
        ),
        "hypotheses translations/additive/ensemble (translate_ensemble@additive)",
        r"differs in translations/additive/ensemble/hypotheses/test_one\.txt, line 2",
    ),
    "a score": (
        change_score,
        "score file reports/scores/additive-1.json (evaluate@additive-1)",
        r"tests\.test_one\.bleu: 99\.5 in the file, [\d.]+ counted again",
    ),
    "a cell of the table": (
        change_cell,
        "table reports/bleu.csv (report)",
        r"reports/bleu\.csv, line \d+ \(additive 1 test_one bleu\), score: 99\.5, made again",
    ),
    "a parameter": (
        lambda world: world.set("training.learning_rate", 0.02),
        "model models/baseline/1 (train@baseline-1)",
        r"params\.yaml: training\.learning_rate is 0\.02; it was run with 0\.01",
    ),
    "a source file": (
        lambda world: replace(world, "src/nmt/model/attention.py", "\n", "\n# a remark\n"),
        "model models/baseline/1 (train@baseline-1)",
        r"src/nmt/model: changed since it was run; differs in src/nmt/model/attention\.py, line 2",
    ),
    "a raw line": (
        lambda world: change_line(world, "data/raw/train.de", 5),
        "raw data data/raw (download)",
        r"differs in data/raw/train\.de, line 5\n(.|\n)*data/raw/train\.de: not the pinned text",
    ),
    "the vocabulary": (
        lambda world: change_line(world, "data/vocab/words/en.json", 9),
        "vocabulary data/vocab/words (build_vocab@words)",
        r"differs in data/vocab/words/en\.json, line 9",
    ),
    "dvc.lock itself": (
        change_lock,
        "record dvc.lock",
        r"its entry of train@additive-1 was changed since the last commit \(models/additive/1\)"
        r"(.|\n)*contradicts itself: train@additive-1 made models/additive/1 0000000000, but "
        r"(translate@additive-1|plot) read",
    ),
    "an MLflow param": (
        change_mlflow_param,
        "model models/additive/1 (train@additive-1)",
        r"in MLflow: its param training\.learning_rate is 0\.5; dvc\.lock has 0\.01",
    ),
    "requirements.lock": (
        lambda world: replace(world, "requirements.lock", "\ntorch==", "\ntorch==1."),
        "pinned environment requirements.lock",
        r"is not the one that train@baseline-1.* ran with; torch was [\d.]+, now 1\.[\d.]+",
    ),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_tampering_is_found_and_named(world: World, name: str) -> None:
    tamper, title, text = TAMPERINGS[name]
    tamper(world)
    found = audit(world.root)
    assert found.exit_code == 1
    assert found.first is not None and found.first.title == title, as_text(found)
    assert re.search(text, bad_texts(found.first)), bad_texts(found.first)
    assert f"first link that breaks is the {title}: " in as_text(found)


def test_only_the_figures_of_the_tampered_model_break(world: World) -> None:
    """Its ensemble's among them."""
    flip_byte(world)
    found = audit(world.root)
    broken = {f"{f.model}-{f.seed}" for f in found.figures if f.status == Status.BROKEN}
    assert broken == {"additive-1", "additive-ensemble"}
    assert [link.title for link in found.links if link.status == Status.BROKEN] == [
        "model models/additive/1 (train@additive-1)"
    ]


def test_a_committed_change_of_the_lock_is_named_too(world: World) -> None:
    change_lock(world)
    world.commit("Tamper")
    found = audit(world.root)
    assert found.first is not None and found.first.title == "record dvc.lock"


def test_code_edited_during_a_run(world: World) -> None:
    """The wrapper refuses the result; accepting it by hand doesn't hide that."""
    words = ["dvc", "repro", "--force", "--single-item", "train@additive-1"]
    process = subprocess.Popen(
        words, cwd=world.root, env=world._environment(), text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    wait_for_run(world, "train@additive-1")
    replace(world, "src/nmt/model/attention.py", "\n", "\n# a remark\n")
    output, _ = process.communicate(timeout=120)
    assert process.returncode != 0 and "changed while the stage ran" in output, output

    found = audit(world.root)
    assert found.exit_code == 1 and "src/nmt/model/attention.py" in as_text(found)

    world.dvc("commit", "--force", "train@additive-1")
    found = audit(world.root)
    assert found.exit_code == 1
    model = next(link for link in found.links if link.stage == "train@additive-1")
    texts = bad_texts(model)
    assert "changed while the stage ran: src/nmt/model/attention.py" in texts, texts
    assert re.search(r"began with another src/nmt/model than dvc\.lock names", texts), texts


def wait_for_run(world: World, stage: str) -> None:
    """Wait until MLflow has a run of the stage that is at work."""
    query = (
        "SELECT count(*) FROM runs JOIN tags USING (run_uuid) "
        "WHERE status = 'RUNNING' AND key = 'code.sha256'"
    )
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with closing(sqlite3.connect(f"{(world.root / 'mlflow.db').as_uri()}?mode=ro", uri=True,
                                     timeout=20)) as database:  # fmt: skip
            if database.execute(query).fetchone()[0]:
                return
        time.sleep(0.02)
    raise AssertionError(f"{stage} did not begin")


def test_a_merge_conflict_in_the_lock(world: World) -> None:
    path = world.root / "dvc.lock"
    path.write_text("<<<<<<< HEAD\n" + path.read_text() + "=======\n>>>>>>> other\n")
    done = command(world)
    assert done.returncode == 2
    assert "error: dvc.lock, line 1: a mark of a merge conflict" in done.stdout


def test_no_lock_and_a_lock_that_is_none(world: World) -> None:
    (world.root / "dvc.lock").write_text("stages: 3\n")
    with pytest.raises(AuditError, match=r"dvc\.lock: not a dvc\.lock as DVC writes it"):
        audit(world.root)
    (world.root / "dvc.lock").unlink()
    with pytest.raises(AuditError, match=r"dvc\.lock: no such file: nothing was run here"):
        audit(world.root)


def test_a_store_that_is_none(world: World) -> None:
    (world.root / "mlflow.db").write_text("no database\n" * 100)
    found = audit(world.root)
    assert found.exit_code == 2
    assert found.first is not None and found.first.kind == "record of runs"
    assert "mlflow.db can't be read" in bad_texts(found.first)


def test_a_store_that_cannot_be_reached(finished: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:secret@127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    found = audit(finished.root)
    assert found.exit_code == 2
    assert "127.0.0.1:9" in as_text(found) and "secret" not in as_text(found)


def test_results_without_runs_are_no_failure(world: World) -> None:
    (world.root / "mlflow.db").unlink()
    found = audit(world.root)
    assert found.exit_code == 0
    model = next(link for link in found.links if link.kind == "model")
    assert model.status == Status.MARKED
    assert "no run in MLflow made this" in model.worst().text


def test_a_bare_clone_and_what_settles_it(world: World, tmp_path: Path) -> None:
    world.dvc("push")
    clone = World(tmp_path / "clone")
    clone.base.mkdir()
    world.run("git", "clone", "--quiet", ".", str(clone.root))
    (world.base / "nmt-dvc-remote").rename(clone.base / "nmt-dvc-remote")
    bare = audit(clone.root)
    assert bare.exit_code == 2
    assert bare.first is not None and bare.first.kind == "raw data"
    assert "`dvc pull data/raw` or `nmt audit --replay download` would settle" in as_text(bare)
    table = next(link for link in bare.links if link.kind == "table")
    assert any("bleu.csv: made again, every cell equal" in f.text for f in table.findings)

    clone.dvc("pull")
    assert audit(clone.root).exit_code == 0


def test_a_missing_report_is_broken(world: World) -> None:
    (world.root / "reports/bleu.csv").unlink()
    found = audit(world.root)
    assert found.exit_code == 1 and found.figures == ()
    assert "reports/bleu.csv: missing, though git has it" in as_text(found)


def test_a_stage_that_never_ran(world: World) -> None:
    world.set("grid.seeds", [1, 2, 3])
    found = audit(world.root)
    assert found.exit_code == 1
    assert "dvc.lock has no entry of train@baseline-3: it was never run" in as_text(found)


def test_a_stage_of_the_user_s_own_is_a_link_that_no_figure_hangs_on(world: World) -> None:
    path = world.root / "dvc.yaml"
    own = "stages:\n  count:\n    cmd: wc reports/bleu.csv > count.txt\n    outs: [count.txt]\n"
    path.write_text(path.read_text(encoding="utf-8").replace("stages:\n", own, 1), encoding="utf-8")
    found = audit(world.root)
    (link,) = (link for link in found.links if link.stage == "count")
    assert link.path == "count.txt" and "it was never run" in bad_texts(link)
    assert found.figures and not any(link in figure.chain for figure in found.figures)


def replayed(found: Audit, stage: str) -> str:
    (text,) = (
        f.text
        for link in found.links
        if link.stage == stage
        for f in link.findings
        if f.check == "replay"
    )
    return text


@pytest.mark.slow
def test_replay_gives_the_same_bytes(finished: World) -> None:
    before = state_of_all_files(finished)
    stages = (
        "tokenize@words",
        "train@additive-1",
        "evaluate@additive-1",
        "translate_ensemble@additive",
        "evaluate_ensemble@additive",
    )
    found = audit(finished.root, Replay(stages))
    assert found.exit_code == 0, as_text(found)
    for stage in stages:
        assert replayed(found, stage).startswith("run again: the same bytes (")
    assert state_of_all_files(finished) == before


@pytest.mark.slow
def test_replay_settles_what_a_clone_lacks(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the corpus from a mirror, or placed by hand; a relative path is the project's."""
    monkeypatch.setenv("MULTI30K_MIRROR", os.path.relpath(world.mirror, world.root))
    for folder in ("data", ".dvc/cache"):
        shutil.rmtree(world.root / folder)
    found = audit(world.root, Replay(("tokenize@words", "download")))
    monkeypatch.delenv("MULTI30K_MIRROR")
    shutil.copytree(world.mirror, world.root / "data/archive")
    by_hand = audit(world.root, Replay(("download",)))
    (link,) = (link for link in by_hand.links if link.stage == "download")
    assert link.status == Status.OK, as_text(by_hand)
    raw, tokens = (
        next(li for li in found.links if li.stage == s) for s in ("download", "tokenize@words")
    )
    assert (raw.status, tokens.status) == (Status.OK, Status.OK), as_text(found)
    assert found.exit_code == 2  # the vocabulary is still missing


@pytest.mark.slow
def test_replay_with_other_bytes(world: World) -> None:
    world.set("training.learning_rate", 0.02)
    found = audit(world.root, Replay(("train@additive-1",)))
    text = replayed(found, "train@additive-1")
    assert text.startswith("run again, other bytes: models/additive/1/")
    found = audit(world.root, Replay(("train@additive-1",), band=100))
    assert re.search(r"Scores differ by at most [\d.]+ points \(.*\), within the band of 100",
                     replayed(found, "train@additive-1"))  # fmt: skip


def test_replay_of_no_stage(finished: World) -> None:
    done = command(finished, "--replay", "train@nobody-1")
    assert done.returncode == 2
    assert "error: --replay train@nobody-1: no such stage; stages: download, " in done.stdout


def test_the_page(finished: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MULTI30K_MIRROR", str(finished.mirror))
    page = as_html(audit(finished.root))
    assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//""", page), "asks for another file"
    assert "additive, seed 1" in page and "additive, ensemble" in page
    assert str(finished.root) not in page
    out = tmp_path / "audit.html"
    done = command(finished, "--format", "html", "--out", str(out))
    assert done.returncode == 0
    assert out.read_text(encoding="utf-8") == page


def test_text_and_json_tell_no_place(finished: World) -> None:
    """What is written may be sent to others; it is the same wherever the folder lies."""
    found = audit(finished.root)
    assert str(finished.base) not in as_text(found) + as_json(found)
