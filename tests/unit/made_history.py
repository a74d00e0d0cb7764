"""A project with results that no model made: dvc.lock, git and DVC's cache, written by hand."""

import hashlib
import json
import random
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from nmt.corpus.tokens import write_tokens
from nmt.ensembles import Seed
from nmt.evaluation.metrics import bleu, chrf
from nmt.evaluation.scores import ModelScores, SetScores, write_scores
from nmt.evaluation.settings import EvaluationSettings
from nmt.files import write_lines, write_text
from nmt.prepared import Prepared
from nmt.provenance.hashes import dvc_hash, file_md5s
from nmt.translations import Hypothesis, Record, write_attention, write_hypotheses, write_record
from tests.unit.fake_project import clean

TEST = "test_one"
SENTENCES = 40
WORDS = ["a", "the", "dog", "cat", "man", "sits", "runs", "on", "in", "red", "old", "tree", "bench"]
EVALUATION = EvaluationSettings(tokenizer="words", bleu_tokenizer="13a", chrf_word_order=0)

PARAMS: dict[str, Any] = {
    "data": {"source_language": "de", "target_language": "en", "tests": [TEST]},
    "models": {"base": {"hidden": 16}, "wide": {"hidden": 32}},
    "training": {"epochs": 2, "schedule": {"name": "no", "warmup": 0}},
    "grid": {"models": ["base", "wide"], "seeds": [1, 2, 3]},
    "decoding": {"beam": 2},
    "evaluation": {"tokenizer": "words", "bleu_tokenizer": "13a", "chrf_word_order": 0},
}
DATA = (
    "data/raw",
    "data/tokens/words",
    "data/vocab/words",
    *(f"data/prepared/{model}" for model in PARAMS["models"]),
)


def references() -> list[str]:
    """Return sentences of eight to twelve words, always the same."""
    draw = random.Random(7)
    return [" ".join(draw.choices(WORDS, k=draw.randint(8, 12))) for _ in range(SENTENCES)]


def translations(noise: float, seed: int) -> list[str]:
    """Return the references with a share of their words exchanged."""
    draw = random.Random(seed)
    return [
        " ".join(draw.choice(WORDS) if draw.random() < noise else word for word in line.split())
        for line in references()
    ]


@dataclass
class Made:
    """The project, and how its results are written.

    Args:
        root: its folder.
        params: written to params.yaml, and as read by the stages.
        noise: share of wrong words of each model.
    """

    root: Path
    params: dict[str, Any] = field(default_factory=lambda: json.loads(json.dumps(PARAMS)))
    noise: dict[str, float] = field(default_factory=lambda: {"base": 0.4, "wide": 0.4})

    @classmethod
    def make(cls, root: Path) -> "Made":
        """Write code, params and data, and begin a repository."""
        made = cls(root)
        write_text(root / "pyproject.toml", '[project]\nname = "toy"\n')
        write_text(root / "pipeline" / "run.py", "")
        write_text(root / "pipeline" / "train.py", "")
        write_text(root / "src" / "nmt" / "model" / "net.py", "width = 1\n")
        write_text(root / "src" / "nmt" / "report" / "page.py", "")
        write_text(root / "requirements.lock", "torch==2.13.0\n    # via x\nspacy==3.8.18\n")
        write_text(root / ".gitignore", "/data/\n/models/\nattention/\n/mlflow.db\n/.dvc/cache/\n")
        write_text(root / ".dvc" / "config", "")
        write_lines(root / "data" / "raw" / f"{TEST}.de", [f"de: {r}" for r in references()])
        write_lines(root / "data" / "raw" / f"{TEST}.en", references())
        tokens = [line.split() for line in (root / f"data/raw/{TEST}.de").read_text().split("\n")]
        write_tokens(root / "data" / "tokens" / "words" / f"{TEST}.de.jsonl", tokens[:-1])
        for model in PARAMS["models"]:
            folder = Prepared(root / "data" / "prepared" / model)
            write_tokens(folder.tokens / f"{TEST}.de.jsonl", tokens[:-1])
        write_text(root / "data" / "vocab" / "words" / "en.json", "{}\n")
        made.git("init", "--quiet", "--initial-branch=main")
        return made

    def git(self, *arguments: str) -> str:
        """Run git in the project."""
        who = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
        done = subprocess.run(
            ["git", *who, *arguments], cwd=self.root, env=clean({}), text=True,
            capture_output=True, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    def commit(self, message: str) -> str:
        """Commit all; return the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def results(self) -> None:
        """Write the results of the grid, and dvc.lock."""
        write_text(self.root / "params.yaml", yaml.safe_dump(self.params, sort_keys=False))
        lock: dict[str, Any] = {}
        for path in DATA:
            lock[f"make {path}"] = {"cmd": path, "outs": [self._entry(path)]}
        for model in self.params["grid"]["models"]:
            for seed in self.params["grid"]["seeds"]:
                lock |= self._of(model, seed)
        for model in self.params["grid"].get("ensembles", []):
            lock |= self._ensemble(model)
        lock = json.loads(json.dumps(lock))  # else YAML writes what stands twice as an alias
        content = yaml.safe_dump({"schema": "2.0", "stages": lock}, sort_keys=False)
        write_text(self.root / "dvc.lock", content)

    def keep_in_cache(self) -> None:
        """Move what git ignores to DVC's cache."""
        for path in (*DATA, *self._attention()):
            self.cache(path)
            shutil.rmtree(self.root / path)

    def cache(self, path: str) -> None:
        """Copy a folder to DVC's cache."""
        md5s = file_md5s(self.root, path)
        entries = [
            {"md5": md5, "relpath": Path(name).relative_to(path).as_posix()}
            for name, md5 in md5s.items()
        ]
        listed = json.dumps(sorted(entries, key=lambda e: e["relpath"]), sort_keys=True)
        self._store(hashlib.md5(listed.encode()).hexdigest(), ".dir", listed.encode())
        for name, md5 in md5s.items():
            self._store(md5, "", (self.root / name).read_bytes())

    def entry(self, path: str) -> dict[str, Any]:
        """Return what dvc.lock says of a path."""
        return self._entry(path)

    def _attention(self) -> list[str]:
        found = self.root.glob("translations/*/*/attention")
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    def _store(self, md5: str, suffix: str, content: bytes) -> None:
        place = self.root / ".dvc/cache/files/md5" / md5[:2] / f"{md5[2:]}{suffix}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)

    def _entry(self, path: str) -> dict[str, Any]:
        return {"path": path, "hash": "md5", "md5": dvc_hash(path, file_md5s(self.root, path))}

    def _of(self, model: str, seed: int) -> dict[str, Any]:
        """Write one model's results; return its three stages of dvc.lock."""
        weights = f"models/{model}/{seed}"
        params = self.params
        content = json.dumps([params["models"][model], params["training"], seed, self.noise[model]])
        write_text(self.root / weights / "config.json", content)
        folder = self.root / "translations" / model / str(seed)
        texts = translations(self.noise[model], seed)
        _write_translations(folder, model, seed, texts)
        write_scores(self.root / "reports" / "scores", _scores(model, seed, texts, params))
        item = f"{model}-{seed}"
        hypotheses = f"translations/{item.replace('-', '/')}/hypotheses"
        attention = f"translations/{item.replace('-', '/')}/attention"
        return {
            f"train@{item}": {
                "cmd": "train",
                "deps": [self._entry("pipeline/train.py"), self._entry("src/nmt/model")],
                "params": {
                    "params.yaml": {
                        f"models.{model}": params["models"][model],
                        "training": params["training"],
                    }
                },
                "outs": [self._entry(weights)],
            },
            f"translate@{item}": {
                "cmd": "translate",
                "deps": [self._entry(weights), self._entry(f"data/prepared/{model}")],
                "params": {"params.yaml": {"decoding": params["decoding"]}},
                "outs": [self._entry(attention), self._entry(hypotheses)],
            },
            f"evaluate@{item}": {
                "cmd": "evaluate",
                "deps": [self._entry(hypotheses), self._entry("data/raw")],
                "params": {"params.yaml": {"evaluation": params["evaluation"]}},
                "outs": [self._entry(f"reports/scores/{item}.json")],
            },
        }

    def _ensemble(self, model: str) -> dict[str, Any]:
        """Write the results of all seeds at once; return their two stages of dvc.lock."""
        params, seeds = self.params, tuple(self.params["grid"]["seeds"])
        folder = f"translations/{model}/ensemble"
        texts = translations(self.noise[model] / 2, sum(seeds))
        _write_translations(self.root / folder, model, seeds, texts)
        write_scores(self.root / "reports" / "scores", _scores(model, seeds, texts, params))
        grid = {"grid": {"seeds": list(seeds)}}
        return {
            f"translate_ensemble@{model}": {
                "cmd": "translate",
                "deps": [self._entry(f"models/{model}"), self._entry(f"data/prepared/{model}")],
                "params": {"params.yaml": {"decoding": params["decoding"], **grid}},
                "outs": [self._entry(f"{folder}/attention"), self._entry(f"{folder}/hypotheses")],
            },
            f"evaluate_ensemble@{model}": {
                "cmd": "evaluate",
                "deps": [self._entry(f"{folder}/hypotheses"), self._entry("data/raw")],
                "params": {"params.yaml": {"evaluation": params["evaluation"], **grid}},
                "outs": [self._entry(f"reports/scores/{model}-ensemble.json")],
            },
        }


def _write_translations(folder: Path, model: str, seed: Seed, texts: list[str]) -> None:
    rows = 0 if model == "base" else 1  # the first model has no attention
    found = [Hypothesis(t.split(), t, -1.0, False, 0, 0, len(t.split())) for t in texts]
    (folder / "hypotheses").mkdir(parents=True, exist_ok=True)
    write_hypotheses(folder / "hypotheses", TEST, found)
    record = Record(model, seed, 10, 1, {"beam": 2}, {"lowercase": "true"}, "de", "en")
    write_record(folder / "hypotheses", record)
    lengths = [
        (len(t.split()) + 1, len(r.split()) + 2) for t, r in zip(texts, references(), strict=True)
    ]
    weights = [np.full((rows, t, s), 1 / s, np.float32) for t, s in lengths]
    (folder / "attention").mkdir(parents=True, exist_ok=True)
    write_attention(folder / "attention", TEST, weights)


def _scores(model: str, seed: Seed, texts: list[str], params: dict[str, Any]) -> ModelScores:
    by_bleu = bleu(texts, references(), EVALUATION, lowercase=True)
    by_chrf = chrf(texts, references(), EVALUATION, lowercase=True)
    values = SetScores(
        bleu=by_bleu.value, bleu_tokens=by_bleu.value, chrf=by_chrf.value, token_accuracy=0.5,
        sentences=len(texts), empty=0, cut=0, with_unknown=0, unknown_tokens=0,
        source_unknown_rate=0.0,
    )  # fmt: skip
    signatures = (
        ("bleu", by_bleu.signature), ("bleu_tokens", "tokens"), ("chrf", by_chrf.signature),
        ("token_accuracy", "shares"),
    )  # fmt: skip
    settings = {
        "data.source_language": "de", "data.target_language": "en",
        "decoding.beam": params["decoding"]["beam"],
        "evaluation.bleu_tokenizer": "13a", "evaluation.chrf_word_order": 0,
    }  # fmt: skip
    return ModelScores(
        model=model, seed=seed, parameters=10, best_epoch=1, tests={TEST: values},
        signatures=signatures, settings=tuple(settings.items()),
    )  # fmt: skip
