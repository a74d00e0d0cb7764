"""What some steps of a training, and some decoding, take in memory and time."""

import time
from dataclasses import dataclass

from benchmarks.arithmetic import multiply_adds
from benchmarks.memory import memory
from benchmarks.project import (
    compute_settings,
    decode,
    default_model,
    never_ending,
    new_trainer,
    read_corpus,
    spread_batches,
    timed_training,
    training_settings,
)
from benchmarks.setting import Setting
from nmt.corpus.tokens import read_tokens, tokens_path
from nmt.decoding.settings import DecodingSettings

LONGEST = 1000
"""Tokens; no made sentence is left out as too long."""


@dataclass(frozen=True)
class Cost:
    """What a training or a decoding took.

    Args:
        peak: MiB resident at the most.
        anonymous: MiB that no file backs, at the end.
        time: seconds a target token.
        reading: seconds a target token of the corpus, to read it and to plan an epoch.
        work: multiply-adds of matrix products a target token.
    """

    peak: float
    anonymous: float
    time: float
    reading: float = 0.0
    work: float = 0.0


def training_cost(setting: Setting, width: int) -> Cost:
    """Read the corpus and take some steps with a model so many times as wide."""
    began = time.perf_counter()
    training = training_settings(setting)
    corpus = read_corpus(setting, LONGEST)
    plan = spread_batches(corpus.pairs, training, setting.sizes.steps)
    reading = time.perf_counter() - began
    usual = default_model(setting)
    sizes = {"embedding": usual.embedding * width, "hidden": usual.hidden * width}
    model = usual.model_copy(update=sizes)
    trainer = new_trainer(model, corpus, training, compute_settings(setting))
    timed_training(trainer, corpus.pairs, plan[-1:])  # to warm up
    lap = timed_training(trainer, corpus.pairs, plan)
    used = memory()
    return Cost(
        peak=used.peak,
        anonymous=used.anonymous,
        time=lap.seconds / lap.work,
        reading=reading / float(corpus.pairs.trg.lengths.sum()),
        work=multiply_adds(model, corpus, plan),
    )


def decoding_cost(setting: Setting) -> Cost:
    """Translate training sentences of one length, each into as many tokens."""
    corpus = read_corpus(setting, LONGEST)
    compute = compute_settings(setting)
    model = new_trainer(default_model(setting), corpus, training_settings(setting), compute).model
    never_ending(model)
    path = tokens_path(setting.tokens, setting.data.train, setting.data.source_language)
    sentences = read_tokens(path)[: setting.sizes.long_sentences]
    decoding = setting.values.section("decoding", DecodingSettings).model_copy(
        update={"max_length_ratio": 1.0, "max_length_extra": 0}
    )
    decode(model, corpus, sentences[:1], decoding, compute)  # to warm up
    seconds, tokens = decode(model, corpus, sentences, decoding, compute)
    used = memory()
    return Cost(peak=used.peak, anonymous=used.anonymous, time=seconds / tokens)
