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
from nmt.corpus.pieces import are_pieces
from nmt.corpus.settings import DataSettings
from nmt.corpus.tokens import (
    TOKENIZER_FILE,
    Sentence,
    read_parallel,
    read_tokenizer,
    stream_parallel,
    tokens_path,
)
from nmt.corpus.vocabulary import Vocabulary
from nmt.errors import ModelError
from nmt.files import replacing, sha256, write_jsonl, write_lines
from nmt.model.seq2seq import Seq2Seq
from nmt.model.settings import ModelSettings
from nmt.model.store import save_model
from nmt.pieces.draws import Draws
from nmt.prepared import Prepared
from nmt.seeding import seed_everything
from nmt.training.corpus import Pairs, encode_pairs
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
    prepared: Prepared
    out: Path
    state: Path

    @property
    def vocabularies(self) -> tuple[Path, Path]:
        """Return the files of the source and of the target vocabulary."""
        source, target = self.data.languages
        return self.prepared.vocab / f"{source}.json", self.prepared.vocab / f"{target}.json"

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
        ModelError: `tie_source`, and the two vocabularies differ.
        TrainingError: training diverged, or one of the processes failed; nothing is written.
    """
    run_together(job.compute, partial(_train, job))


def _train(job: Job, group: Group, device: torch.device) -> None:
    """Do one process's part of a training."""
    source, target = (Vocabulary.load(path) for path in job.vocabularies)
    if job.model.tie_source and source.tokens != target.tokens:
        first, second = job.vocabularies
        raise ModelError(
            f"models.{job.name}.tie_source: needs one vocabulary for both languages, but {first} "
            f"and {second} differ; choose a joint tokenizer, or false"
        )
    checkpoint = Checkpoint(job.state / _fingerprint(job))
    if group.leads and not checkpoint.corpus.exists():
        _store(job, checkpoint.corpus, _training_pairs(job), source, target)
    group.wait()
    corpora = _read(job, source, target, checkpoint, group)
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


def _training_pairs(job: Job) -> Iterator[tuple[Sentence, Sentence]]:
    return stream_parallel(job.prepared.tokens, job.data.train, *job.data.languages)


def _store(
    job: Job,
    folder: Path,
    pairs: Iterator[tuple[Sentence, Sentence]],
    source: Vocabulary,
    target: Vocabulary,
) -> None:
    store_pairs(folder, pairs, source, target, job.training.max_length)


def _read(
    job: Job, source: Vocabulary, target: Vocabulary, checkpoint: Checkpoint, group: Group
) -> Corpora:
    """Read both splits; the training side is already stored."""
    validation = read_parallel(job.prepared.tokens, job.data.validation, *job.data.languages)
    draws = Draws.load(job.prepared.vocab, job.data.languages)

    def drawn(epoch: int) -> Pairs:
        assert draws is not None
        if group.leads:
            again = draws.again(_training_pairs(job), job.seed, epoch)
            _store(job, checkpoint.drawn, again, source, target)
        group.wait()
        return open_pairs(checkpoint.drawn)

    return Corpora(
        open_pairs(checkpoint.corpus),
        encode_pairs(validation, source, target),
        validation.trg,
        target,
        drawn if draws else None,
        are_pieces(read_tokenizer(job.prepared.tokens)),
    )


def _fingerprint(job: Job) -> str:
    """Digest settings, data, code and the version of torch: what may change the weights."""
    root = Path(nmt.__file__).parent
    code = [
        p
        for name in ("corpus", "model", "pieces", "training", "validation")
        for p in root.glob(f"{name}/*.py")
    ]
    code += [root / "compute.py", root / "device.py", root / "seeding.py"]
    data = [
        tokens_path(job.prepared.tokens, split, language)
        for split in (job.data.train, job.data.validation)
        for language in job.data.languages
    ]
    values = job.settings() | {"torch": torch.__version__}
    data += [job.prepared.tokens / TOKENIZER_FILE, *job.prepared.vocab.iterdir()]
    return fingerprint([*code, *data], values)


def _write(job: Job, model: Seq2Seq, trained: Trained, corpora: Corpora) -> None:
    progress = trained.progress
    config = job.settings() | {
        "tokenizer": read_tokenizer(job.prepared.tokens),
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
