"""A training that ends when its validation BLEU is as high as wanted."""

import time
from dataclasses import dataclass, replace

from benchmarks.corpora import make_corpus
from benchmarks.project import (
    compute_settings,
    default_model,
    new_trainer,
    read_corpus,
    train_epochs,
    training_settings,
)
from benchmarks.setting import Setting


@dataclass(frozen=True)
class Course:
    """How it went.

    Args:
        preparing: seconds until tokens and vocabularies were made.
        seconds: until the end, preparing included.
        bleu: validation BLEU after each epoch.
    """

    preparing: float
    seconds: float
    bleu: tuple[float, ...]


def train_to_bleu(setting: Setting) -> Course:
    """Tokenise, build vocabularies and train until BLEU is reached or the epochs are over."""
    began = time.perf_counter()
    anew = replace(setting, tokens=setting.work / "anew", vocab=setting.work / "anew-vocab")
    make_corpus(anew)
    preparing = time.perf_counter() - began
    sizes = setting.sizes
    training = training_settings(anew).model_copy(update={"epochs": sizes.bleu_epochs})
    compute = compute_settings(anew).model_copy(update={"precision": sizes.bleu_precision})
    corpus = read_corpus(anew, training.max_length)
    trainer = new_trainer(default_model(anew), corpus, training, compute)
    found: list[float] = []
    for bleu in train_epochs(trainer, corpus.corpora):
        found.append(bleu)
        if bleu >= sizes.bleu:
            break
    return Course(preparing, time.perf_counter() - began, tuple(found))
