"""Folders of tokens and vocabularies that a training reads, and its params."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from nmt.compute import ComputeSettings
from nmt.corpus.settings import DataSettings
from nmt.corpus.tokens import Sentence, write_tokens
from nmt.corpus.vocabulary import Vocabulary
from nmt.files import write_json
from nmt.model.settings import read_model
from nmt.params import Params
from nmt.prepared import Prepared
from nmt.seeding import generator
from nmt.training.job import Job
from nmt.training.settings import read_training

ROOT = Path(__file__).resolve().parents[2]
WORDS = [f"w{i}" for i in range(20)]


@dataclass(frozen=True)
class TrainingWorld:
    """A folder in which a training can be run; its params are those of the small world."""

    root: Path

    @classmethod
    def make(cls, root: Path, pairs: int = 60) -> "TrainingWorld":
        """Write sentences and their reversals, and a vocabulary of each side."""
        root.mkdir(parents=True, exist_ok=True)
        folder = cls(root).prepared
        for split, count, seed in (("train", pairs, 0), ("val", 8, 1)):
            sentences = _sentences(count, seed)
            write_tokens(folder.tokens / f"{split}.de.jsonl", sentences)
            write_tokens(folder.tokens / f"{split}.en.jsonl", [s[::-1] for s in sentences])
        write_json(folder.tokens / "tokenizer.json", {"kind": "none"})
        for language in ("de", "en"):
            Vocabulary.build([WORDS], 1).save(folder.vocab / f"{language}.json")
        values = YAML(typ="safe").load(ROOT / "tests/world/params.yaml")
        YAML().dump(values, root / "params.yaml")
        return cls(root)

    @property
    def prepared(self) -> Prepared:
        """What a model reads, for the stage's script as one named additive."""
        return Prepared(self.root / "prepared/additive")

    def set(self, **changes: Any) -> None:
        """Change values: `training__epochs=2` is the key training.epochs."""
        path = self.root / "params.yaml"
        values = YAML(typ="safe").load(path)
        for key, value in changes.items():
            *parents, last = key.split("__")
            inner = values
            for parent in parents:
                inner = inner[parent]
            assert last in inner
            inner[last] = value
        YAML().dump(values, path)

    def job(self, out: str = "out", model: str = "additive") -> Job:
        """Return a training with seed 1."""
        values = Params.read(self.root / "params.yaml")
        return Job(
            name=model,
            seed=1,
            data=values.section("data", DataSettings),
            compute=values.section("compute", ComputeSettings),
            model=read_model(values, model),
            training=read_training(values, model),
            prepared=self.prepared,
            out=self.root / out,
            state=self.root / "state",
        )

    def made(self, out: str = "out") -> dict[str, bytes]:
        """Return the files of a finished training."""
        return {path.name: path.read_bytes() for path in (self.root / out).iterdir()}


def _sentences(count: int, seed: int) -> list[Sentence]:
    rng = generator(seed)
    return [[str(word) for word in rng.choice(WORDS, rng.integers(1, 9))] for _ in range(count)]
