"""Parts of the audit that need no finished project."""

import json
from pathlib import Path

import pytest

from nmt.audit.consistent import check_lock
from nmt.audit.environment import pins, public
from nmt.audit.findings import Audit, Check, Figure, Link, Status
from nmt.audit.lock import committed_lock, lock_here
from nmt.audit.page import as_html
from nmt.audit.source import check_archives, check_raw
from nmt.audit.stale import Graph, differences
from nmt.audit.text import as_json, as_text, shown_params, verdict
from nmt.audit.tree import Project
from nmt.corpus.settings import DataSettings
from nmt.dag import Stage
from nmt.history.locks import LockedStage
from nmt.params import Params

OK, MARKED, UNKNOWN, BROKEN = Status


def link(kind: str, *statuses: Status) -> Link:
    made = Link(kind, f"{kind}.txt", f"make_{kind}")
    for status in statuses:
        made.add(Check.BYTES, status, f"{kind} is {status.label}")
    return made


def audit_of(*links: Link) -> Audit:
    figures = (Figure("a", "1", "test", "bleu", "12.5", "sign", links),)
    return Audit("toy", "commit 0123456789, clean", links, figures)


@pytest.mark.parametrize(
    ("links", "exit_code", "first"),
    [
        ([[OK], [OK, OK]], 0, None),
        ([[OK], [MARKED, OK]], 0, None),
        ([[OK], [UNKNOWN], [UNKNOWN]], 2, "b"),
        ([[UNKNOWN], [OK, BROKEN], [BROKEN]], 1, "b"),
    ],
)
def test_exit_code_and_the_first_link(
    links: list[list[Status]], exit_code: int, first: str | None
) -> None:
    found = audit_of(*(link(name, *given) for name, given in zip("abc", links, strict=False)))
    assert found.exit_code == exit_code
    assert (found.first.kind if found.first else None) == first


def test_verdicts() -> None:
    assert verdict(audit_of(link("raw", OK))) == (
        "All 1 figures hold: every link from the table to the source archives is right"
    )
    assert verdict(audit_of(link("raw", MARKED))).endswith("is right (1 marked, see below)")
    assert verdict(audit_of(link("raw", UNKNOWN))) == (
        "The first link that can't be checked is the raw raw.txt (make_raw): raw is can't tell"
    )
    assert verdict(audit_of(link("raw", OK), link("model", BROKEN))) == (
        "The first link that breaks is the model model.txt (make_model): model is BROKEN"
    )


def test_text_names_the_worst_first_and_each_figure() -> None:
    text = as_text(audit_of(link("model", OK, BROKEN)))
    assert "Verdict: BROKEN. The first link that breaks is the model" in text
    assert text.index("bytes: BROKEN: model is BROKEN") < text.index("bytes: model is ok")
    assert "[BROKEN] a-1 test bleu 12.5: model model.txt (make_model)" in text


def test_json_is_strict_and_whole() -> None:
    value = json.loads(as_json(audit_of(link("model", UNKNOWN))))
    assert (value["status"], value["exit_code"]) == ("unknown", 2)
    assert value["first"]["link"] == "model model.txt (make_model)"
    assert value["figures"][0]["chain"] == ["model model.txt (make_model)"]


def test_the_page_escapes_what_it_shows() -> None:
    bad = Link("model", "<b>&", "train@a-1")
    bad.add(Check.BYTES, BROKEN, "<script>alert(1)</script>")
    page = as_html(audit_of(bad))
    assert "<script>" not in page and "&lt;script&gt;" in page


def test_params_are_shown_without_the_pinned_files() -> None:
    files = {f"data.files.train.{language}.rows": "9" for language in ("de", "en")}
    assert (
        shown_params({"data.train": "train", **files}) == "data.train=train, data.files (2 values)"
    )


def test_pins() -> None:
    text = "# made by\ntorch==2.13.0\n    # via x\nSpacy-Legacy==3.0.12 ; python_version > '3'\n"
    assert pins(text) == {"torch": "2.13.0", "spacy-legacy": "3.0.12"}
    assert public("2.13.0+cpu") == "2.13.0"


DATA = DataSettings.model_validate_json(
    json.dumps(
        {
            "source_language": "de",
            "target_language": "en",
            "train": "train",
            "validation": "val",
            "tests": ["test"],
            "sources": [],
            "files": {
                f"{split}.{language}": {
                    "rows": 1,
                    "archive": "0" * 64,
                    # sha256sum of "ja\n"
                    "text": "1d57f2d17cb74b39bd0c4cbd696b72cc2d4c97f8d8b5c6da51e99bde35b417e2",
                }
                for split in ("train", "val", "test")
                for language in ("de", "en")
            },
        }
    )
)


def test_raw_files_that_are_others_or_missing(tmp_path: Path) -> None:
    raw = Link("raw data", "data/raw", "download")
    (tmp_path / "data/raw").mkdir(parents=True)
    (tmp_path / "data/raw/train.de").write_text("nein\n")
    check_raw(raw, DATA, Project(tmp_path))
    broken, unknown = raw.findings
    assert broken.status == BROKEN
    assert broken.text.startswith("data/raw/train.de: not the pinned text; SHA-256 of the")
    assert unknown.status == UNKNOWN
    assert "val.en, test.de, test.en not here; `dvc pull data/raw`" in unknown.text


def test_a_copy_of_an_archive_that_is_another_is_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MULTI30K_MIRROR", str(tmp_path / "mirror"))
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror/train.de.gz").write_bytes(b"")
    found = check_archives(DATA, Project(tmp_path))
    assert found.status == MARKED
    assert "a copy at hand is another: " in found.worst().text and "0 bytes" in found.worst().text


def graph(root: Path, params: str = "training: {rate: 0.5}\n") -> Graph:
    """Return a graph of two stages, of which the second reads what the first made."""
    (root / "params.yaml").write_text(params)
    (root / "code.py").write_text("1\n")
    (root / "made").mkdir(exist_ok=True)
    (root / "made/a.txt").write_text("a\n")
    project = Project(root)
    first = Stage("first", "first", "run first", ("code.py",), ("made",), ("training",), ())
    second = Stage("second", "second", "run second", ("made",), ("end",), (), ("first",))
    made = str(project.hash("made"))
    lock = {
        "first": LockedStage(
            {"code.py": str(project.hash("code.py"))}, {"made": made}, {"training.rate": 0.5},
            "run first",
        ),
        "second": LockedStage({"made": made}, {"end": "0"}, {}, "run second"),
    }  # fmt: skip
    stages = {"first": first, "second": second}
    return Graph(stages, lock, project, Params.read(root / "params.yaml"))


def with_entry(found: Graph, address: str, entry: LockedStage) -> Graph:
    lock = {**found.lock, address: entry}
    return Graph(found.stages, lock, found.project, found.params)


def told(found: Graph, address: str) -> list[str]:
    return list(differences(found.stages[address], found.lock[address], found))


def test_nothing_differs(tmp_path: Path) -> None:
    found = graph(tmp_path)
    assert told(found, "first") == told(found, "second") == []


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ("training: {rate: 1}\n", "params.yaml: training.rate is 1; it was run with 0.5"),
        (
            "training: {rate: 0.5, more: x}\n",
            "params.yaml: training.more is x, which dvc.lock lacks",
        ),
        ("training: {}\n", "dvc.lock has training.rate: 0.5, which dvc.yaml doesn't name"),
    ],
)
def test_params_that_differ(tmp_path: Path, params: str, expected: str) -> None:
    assert expected in told(graph(tmp_path, params), "first")


def test_code_command_and_names_that_differ(tmp_path: Path) -> None:
    found = graph(tmp_path)
    entry = LockedStage(
        {"code.py": "0" * 32, "old.py": "0"}, found.lock["first"].outs, {"training.rate": 0.5}, "go"
    )
    assert list(differences(found.stages["first"], entry, found)) == [
        "the command is 'run first', in dvc.lock 'go'",
        "dvc.lock has old.py among its deps, which dvc.yaml lacks",
        "code.py: changed since it was run",
    ]


def test_data_of_another_run(tmp_path: Path) -> None:
    found = graph(tmp_path)
    entry = LockedStage({"made": "0" * 32 + ".dir"}, {"end": "0"}, {}, "run second")
    (text,) = differences(found.stages["second"], entry, found)
    assert text.startswith("it was run on another made (0000000000) than first made (")


def test_a_lock_that_contradicts_itself_but_for_stages_that_are_gone(tmp_path: Path) -> None:
    found = graph(tmp_path)
    other = LockedStage({}, {"made": "0" * 32 + ".dir"}, {}, "run it")
    gone = with_entry(found, "of an earlier dvc.yaml", other)
    assert check_lock(gone, None).worst().status != BROKEN
    wrong = with_entry(found, "first", other)
    assert "first made made 0000000000, but second read " in check_lock(wrong, None).worst().text


def test_what_is_changed_is_told_where_it_was_made(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    found = graph(tmp_path)
    (tmp_path / "made/a.txt").write_text("b\n")
    fresh = Graph(found.stages, found.lock, Project(tmp_path), found.params)
    assert told(fresh, "second") == []


def test_a_changed_file_is_named_by_the_cache_or_not_at_all(tmp_path: Path) -> None:
    found = graph(tmp_path)
    digest = str(found.project.hash("made/a.txt"))
    kept = tmp_path / ".dvc/cache/files/md5" / digest[:2] / digest[2:]
    (tmp_path / "made/a.txt").write_text("a\nb\n")
    assert Project(tmp_path).differences("made/a.txt", digest) == ""
    kept.parent.mkdir(parents=True)
    kept.write_text("a\n")
    assert Project(tmp_path).differences("made/a.txt", digest) == "made/a.txt, line 2"
    kept.write_text("damaged\n")  # a cache that lies is not believed
    assert Project(tmp_path).differences("made/a.txt", digest) == ""


def test_a_cache_that_lies_elsewhere_is_found(tmp_path: Path) -> None:
    found = graph(tmp_path)
    digest = str(found.project.hash("made/a.txt"))
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc/config.local").write_text("[cache]\n    dir = ../common\n")
    kept = tmp_path / "common/files/md5" / digest[:2] / digest[2:]
    kept.parent.mkdir(parents=True)
    kept.write_text("a\n")
    (tmp_path / "made/a.txt").write_text("a\nb\n")
    assert Project(tmp_path).differences("made/a.txt", digest) == "made/a.txt, line 2"


def test_locks_outside_git(tmp_path: Path) -> None:
    (tmp_path / "dvc.lock").write_text("schema: '2.0'\nstages:\n  a:\n    cmd: go\n")
    assert lock_here(tmp_path)["a"].command == "go"
    assert committed_lock(tmp_path) is None
