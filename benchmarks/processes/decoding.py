"""Ways of decoding with one model."""

from dataclasses import dataclass
from functools import partial

from benchmarks.figures import Lap
from benchmarks.project import (
    SEED,
    Corpus,
    compute_settings,
    decode,
    default_model,
    new_trainer,
    read_corpus,
    spread_batches,
    stored_model,
    timed_training,
    training_settings,
)
from benchmarks.setting import Setting
from benchmarks.worker import Tasks
from nmt.corpus.tokens import read_tokens, tokens_path
from nmt.decoding.settings import DecodingSettings
from nmt.model.seq2seq import Seq2Seq
from nmt.seeding import generator

WAYS = {
    "one_at_a_time": ("greedy, one sentence at a time", 1, False),
    "batched_greedy": ("greedy, in batches", 1, True),
    "beam5": ("beam 5, in batches", 5, True),
}
"""What each is called, its beam, and whether it searches batches of the params' size."""


@dataclass(frozen=True)
class About:
    """Which model translated, and how many tokens its translations have on the mean."""

    model: str
    length: float


def own_process(setting: Setting) -> Tasks:
    """Get a model, and make the ways of using it."""
    corpus = read_corpus(setting, training_settings(setting).max_length)
    model, said = _model(setting, corpus)
    path = tokens_path(setting.tokens, setting.data.tests[0], setting.data.source_language)
    sentences = read_tokens(path)[: setting.sizes.sentences]
    compute = compute_settings(setting)

    def about() -> About:
        _, tokens = decode(model, corpus, sentences, _settings(setting, 1, True), compute)
        return About(said, tokens / len(sentences))

    def lap(settings: DecodingSettings) -> Lap:
        seconds, _ = decode(model, corpus, sentences, settings, compute)
        return Lap(seconds, len(sentences))

    ways = {
        name: partial(lap, _settings(setting, beam, batched))
        for name, (_, beam, batched) in WAYS.items()
    }
    return {**ways, "about": about}


def _settings(setting: Setting, beam: int, batched: bool) -> DecodingSettings:
    usual = setting.values.section("decoding", DecodingSettings)
    size = usual.batch_size if batched else 1
    return usual.model_copy(update={"beam": beam, "batch_size": size})


def _model(setting: Setting, corpus: Corpus) -> tuple[Seq2Seq, str]:
    """Return a model whose translations have about the usual length, and which one it is."""
    stored = stored_model(setting, corpus)
    if stored is not None:
        return stored, "the default model, trained"
    training, batches = training_settings(setting), setting.sizes.learning_batches
    trainer = new_trainer(default_model(setting), corpus, training, compute_settings(setting))
    plan = spread_batches(corpus.pairs, training, batches)
    plan = [plan[int(i)] for i in generator(SEED).permutation(batches)]  # not by rising length
    timed_training(trainer, corpus.pairs, plan)
    return trainer.model, f"the default model after {batches} batches"
