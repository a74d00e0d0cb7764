"""A small invented world of files, from which a report can be made."""

import zlib
from pathlib import Path

from ruamel.yaml import YAML

from nmt.corpus.tokens import tokens_path, write_tokens
from nmt.corpus.vocabulary import Vocabulary
from nmt.files import write_json, write_lines
from nmt.translations import Hypothesis, Record, write_hypotheses, write_record
from pipeline.evaluate import evaluate
from pipeline.evaluate_ensemble import evaluate_ensemble
from pipeline.report import report

ROOT = Path(__file__).resolve().parents[2]
TOKENIZER = {"kind": "spacy", "name": "words", "spacy": "3.8.18", "lowercase": "true"}
TESTS = ("test_b", "test_a")
MODELS = {"baseline": 0.5, "tiny": 0.9}
SEEDS = (1, 2)
OUTPUTS = ("bleu.csv", "bleu.md", "significance.csv", "index.html")


def sentences(split: str, language: str) -> list[str]:
    """Thirty invented lines, unlike in each split, with marks that HTML must escape."""
    words = {
        "de": ("Der Hund", "Die Katze", "schläft", "läuft", "im Haus <b>"),
        "en": ("The dog", "The cat", "sleeps", "runs", "in the house & garden"),
    }[language]
    return [
        f"{words[i % 2]} {words[2 + i // 2 % 2]} {words[4]} {split} {'x' * (i % 5)}{i}."
        for i in range(30)
    ]


def tokenize(line: str) -> list[str]:
    return line.lower().replace(".", " .").split()


def make_world(root: Path) -> Path:
    """Write params, data, translations, scores and pictures of two models and two seeds."""
    values = YAML(typ="safe").load(ROOT / "params.yaml")
    values["data"] |= {"train": "train", "validation": "val", "tests": list(TESTS)}
    entry = values["data"]["files"]["train.de"]
    splits = ("train", "val", *TESTS)
    values["data"]["files"] = {f"{s}.{lang}": entry for s in splits for lang in ("de", "en")}
    values["models"] = {
        "baseline": {"tokenizer": "words", "hidden": 8, "training": {}},
        "tiny": {"tokenizer": "words", "hidden": 8, "attention": "dot", "training": {}},
    }
    values["grid"] = {"models": list(MODELS), "seeds": list(SEEDS), "ensembles": []}
    values["report"] |= {"bootstrap_samples": 100, "sample_translations": 2, "random_pairs": 3}
    write_json(root / "params.yaml", values)
    for split in splits:
        for language in ("de", "en"):
            lines = sentences(split, language)
            write_lines(root / f"data/raw/{split}.{language}", lines)
            tokens = [tokenize(line) for line in lines]
            write_tokens(tokens_path(root / "data/tokens/words", split, language), tokens)
            if split == "train":
                Vocabulary.build(tokens, 2).save(root / f"data/vocab/words/{language}.json")
    write_json(root / "data/tokens/words/tokenizer.json", TOKENIZER)
    write_json(root / "data/tokens/words/counts.json", {"dropped_training_pairs": 4})
    write_json(root / "data/vocab/words/coverage.json", {"spacing_exact_lines": 0.984})
    for model in MODELS:
        for seed in SEEDS:
            add_model(root, model, seed)
    for kind in ("training", "attention", "encoder_states"):
        add_picture(root / "reports" / kind, f"{kind}.png", f"Picture of {kind}")
    write_neighbours(root)
    return root


def add_model(root: Path, model: str, seed: int) -> None:
    folder = root / f"translations/{model}/{seed}/hypotheses"
    add_hypotheses(folder, f"{model} {seed}.", int(30 * MODELS[model]) + seed)
    write_record(folder, Record(model, seed, 1000, 3, {"beam": 5}, TOKENIZER, "de", "en"))
    evaluate(
        model, seed, root / "params.yaml", root / "translations", root / "data/raw",
        root / "data/tokens", root / "reports/scores",
    )  # fmt: skip


def add_ensemble(root: Path, model: str) -> None:
    """Write what all seeds of a model put out together: no line wrong."""
    folder = root / f"translations/{model}/ensemble/hypotheses"
    add_hypotheses(folder, "", 30)
    epochs = tuple(seed + 2 for seed in SEEDS)
    write_record(folder, Record(model, SEEDS, 2000, epochs, {"beam": 5}, TOKENIZER, "de", "en"))
    evaluate_ensemble(
        model, root / "params.yaml", root / "translations", root / "data/raw",
        root / "data/tokens", root / "reports/scores",
    )  # fmt: skip


def add_hypotheses(folder: Path, wrong: str, right: int) -> None:
    """Write the references of each test set, all behind the first `right` ones exchanged."""
    folder.mkdir(parents=True)
    for test in TESTS:
        lines = [line.lower() for line in sentences(test, "en")]
        texts = [line if i < right else wrong for i, line in enumerate(lines)]
        write_hypotheses(
            folder, test, [Hypothesis(tokenize(t), t, -1.0, False, 0, 1, 9) for t in texts]
        )


def png(width: int = 2, height: int = 1) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data).to_bytes(4, "big")
        return len(data).to_bytes(4, "big") + kind + data + check

    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    rows = zlib.compress((b"\0" + b"\x80" * width) * height)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", size + b"\x08\0\0\0\0")
        + chunk(b"IDAT", rows)
        + chunk(b"IEND", b"")
    )


def add_picture(folder: Path, name: str, title: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(png())
    write_json(folder / "captions.json", {name: {"title": title, "alt": f"{title} in words"}})


def write_neighbours(root: Path) -> None:
    """Figures of the models, and of one that the grid does not have."""
    entry = {"sentences": 20, "nearest": 31.25, "random": 14, "seed": 1}
    write_json(
        root / "reports/encoder_states/neighbours.json",
        dict.fromkeys((*MODELS, "gone"), entry),
    )


def make_report(root: Path) -> None:
    report(
        root / "params.yaml", root / "data/raw", root / "data/tokens", root / "data/vocab",
        root / "translations", root / "reports",
    )  # fmt: skip
