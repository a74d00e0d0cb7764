"""One training from files to files."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

import nmt
from nmt.compute import ComputeSettings
from nmt.corpus.settings import DataSettings
from nmt.corpus.tokens import read_parallel, read_tokenizer, stream_parallel, tokens_path
from nmt.corpus.vocabulary import Vocabulary
from nmt.files import replacing, sha256, write_jsonl, write_lines
from nmt.model.seq2seq import Seq2Seq
from nmt.model.settings import ModelSettings
from nmt.model.store import save_model
from nmt.seeding import seed_everything
from nmt.training.corpus import encode_pairs
from nmt.training.group import Group
from nmt.training.processes import run_together
from nmt.training.settings import TrainingSettings
from nmt.training.state import Checkpoint, Progress, fingerprint
from nmt.training.stored import open_pairs, store_pairs
from nmt.training.trainer import Corpora, Trained, Trainer

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """What is trained, how, on what, and where the result goes."""

    name: str
    seed: int
    data: DataSettings
    compute: ComputeSettings
    model: ModelSettings
    training: TrainingSettings
    tokens: Path
    vocab: Path
    out: Path
    state: Path

    @property
    def vocabularies(self) -> tuple[Path, Path]:
        """Return the files of the source and of the target vocabulary."""
        source, target = self.data.languages
        return self.vocab / f"{source}.json", self.vocab / f"{target}.json"

    def settings(self) -> dict[str, Any]:
        """Return all that decides the result beside files and code, as plain values."""
        return {
            "name": self.name,
            "seed": self.seed,
            "data": {
                "source_language": self.data.source_language,
                "target_language": self.data.target_language,
            },
            "compute": self.compute.model_dump(),
            "model": self.model.model_dump(),
            "training": self.training.model_dump(),
        }


def train_model(job: Job) -> None:
    """Train, in as many processes as `compute.processes` says, and write `job.out` at the end.

    Raises:
        DataError: a file is missing or damaged.
        TrainingError: training diverged, or one of the processes failed; nothing is written.
    """
    run_together(job.compute, partial(_train, job))


def _train(job: Job, group: Group, device: torch.device) -> None:
    """Do one process's part of a training."""
    source, target = (Vocabulary.load(path) for path in job.vocabularies)
    checkpoint = Checkpoint(job.state / _fingerprint(job))
    if group.leads and not checkpoint.corpus.exists():
        train = stream_parallel(job.tokens, job.data.train, *job.data.languages)
        store_pairs(checkpoint.corpus, train, source, target, job.training.max_length)
    group.wait()
    corpora = _read(job, source, target, checkpoint.corpus)
    seed_everything(job.seed)
    model = Seq2Seq(job.model, len(source), len(target)).to(device)
    log.info(
        "%s, seed %d: %d parameters, %d pairs (%d too long left out), on %s",
        job.name, job.seed, model.parameter_count, len(corpora.train), corpora.train.dropped,
        device,
    )  # fmt: skip
    trainer = Trainer(model, job.training, job.compute, job.seed, checkpoint, group)
    trained = trainer.run(corpora)
    group.wait()  # no result of a training that another process did not end
    if group.leads:
        _write(job, model, trained, corpora)
        checkpoint.remove()


def _read(job: Job, source: Vocabulary, target: Vocabulary, stored: Path) -> Corpora:
    """Read both splits; the training side is already stored."""
    validation = read_parallel(job.tokens, job.data.validation, *job.data.languages)
    return Corpora(
        open_pairs(stored), encode_pairs(validation, source, target), validation.trg, target
    )


def _fingerprint(job: Job) -> str:
    """Digest settings, data, code and the version of torch: what may change the weights."""
    root = Path(nmt.__file__).parent
    code = [
        p
        for name in ("corpus", "model", "training", "validation")
        for p in root.glob(f"{name}/*.py")
    ]
    code += [root / "compute.py", root / "device.py", root / "seeding.py"]
    data = [
        tokens_path(job.tokens, split, language)
        for split in (job.data.train, job.data.validation)
        for language in job.data.languages
    ]
    values = job.settings() | {"torch": torch.__version__}
    return fingerprint([*code, *data, *job.vocabularies], values)


def _write(job: Job, model: Seq2Seq, trained: Trained, corpora: Corpora) -> None:
    progress = trained.progress
    config = job.settings() | {
        "tokenizer": read_tokenizer(job.tokens),
        "vocabulary": {
            side: {"size": size, "sha256": sha256(path)}
            for side, size, path in zip(
                ("source", "target"),
                (model.encoder.embedding.num_embeddings, len(corpora.target)),
                job.vocabularies,
                strict=True,
            )
        },
        "parameters": model.parameter_count,
        "best_epoch": progress.best_epoch,
        "epochs": progress.epoch,
        "pairs": {"kept": len(corpora.train), "dropped": corpora.train.dropped},
    }
    with replacing(job.out) as folder:
        folder.mkdir()
        save_model(folder, trained.weights, config)
        write_jsonl(folder / "history.jsonl", progress.history)
        write_lines(
            folder / "iterations.csv",
            ["iteration,epoch,loss"]
            + [f"{i},{epoch},{loss!r}" for i, (epoch, loss) in enumerate(_losses(progress), 1)],
        )
    log.info("kept epoch %d of %d in %s", progress.best_epoch, progress.epoch, job.out)


def _losses(progress: Progress) -> Iterator[tuple[int, float]]:
    """Yield the epoch and the loss of each batch."""
    for epoch, losses in enumerate(progress.losses, 1):
        for loss in losses:
            yield epoch, loss
