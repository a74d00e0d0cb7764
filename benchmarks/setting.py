"""What all parts share: how much is measured, and where the corpus lies."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nmt.corpus.settings import DataSettings
from nmt.evaluation.settings import EvaluationSettings
from nmt.params import Params
from nmt.params_files import read_params
from nmt.tokenization.settings import SpacySettings


@dataclass(frozen=True)
class Sizes:
    """How much is measured.

    Args:
        rounds: how often each contender of a comparison is timed.
        tutorial: embedding, hidden width and layers of the tutorial's model.
        tutorial_batch: pairs in its batch.
        batches: batches of a round of training.
        square: side of the large square matrices.
        learning_batches: batches that a model learns from before its decoding is timed.
        sentences: sentences that are decoded in a round.
        lines: lines that are tokenised in a round; None for the whole training side.
        commits: commits of the made history; each has five runs.
        most_threads: of the ways to use two.
        probes: how often each cost of growth is measured.
        steps: batches of a training whose cost is measured.
        copies: how many times the corpus is repeated, beside once.
        widths: how many times the default width, beside once.
        lengths: tokens of a sentence, without its end.
        long_sentences: sentences of such a length that are decoded.
        alone: whether each cost of growth is measured in a fresh process.
        bleu: validation BLEU that a training is timed to.
        bleu_epochs: epochs in which its learning rate falls to zero.
        bleu_precision: of its products: float32 or bfloat16.
    """

    rounds: int
    tutorial: tuple[int, int, int]
    tutorial_batch: int
    batches: int
    square: int
    learning_batches: int
    sentences: int
    lines: int | None
    commits: int
    most_threads: int
    probes: int
    steps: int
    copies: tuple[int, ...]
    widths: tuple[int, ...]
    lengths: tuple[int, ...]
    long_sentences: int
    alone: bool
    bleu: float
    bleu_epochs: int
    bleu_precision: Literal["float32", "bfloat16"]


FULL = Sizes(
    rounds=5,
    tutorial=(64, 128, 3),
    tutorial_batch=128,
    batches=6,
    square=2048,
    learning_batches=100,
    sentences=512,
    lines=None,
    commits=10,
    most_threads=2,
    probes=2,
    steps=2,
    copies=(4, 16),
    widths=(2, 4),
    lengths=(10, 20, 40),
    long_sentences=64,
    alone=True,
    bleu=33.0,
    bleu_epochs=3,
    bleu_precision="bfloat16",
)

QUICK = Sizes(
    rounds=1,
    tutorial=(8, 16, 2),
    tutorial_batch=16,
    batches=1,
    square=64,
    learning_batches=2,
    sentences=4,
    lines=8,
    commits=2,
    most_threads=1,
    probes=1,
    steps=1,
    copies=(4, 16),
    widths=(2, 4),
    lengths=(10, 20, 40),
    long_sentences=2,
    alone=False,
    bleu=0.0,
    bleu_epochs=1,
    bleu_precision="float32",
)


@dataclass(frozen=True)
class Setting:
    """A corpus ready for use, the params, and how much is measured; goes to other processes.

    Args:
        params: file of parameters.
        raw: the corpus as text.
        tokens: as tokens.
        vocab: vocabularies of both sides.
        models: where trained models may lie.
        work: folder for what a part makes.
        sizes: how much is measured.
    """

    params: Path
    raw: Path
    tokens: Path
    vocab: Path
    models: Path
    work: Path
    sizes: Sizes

    @property
    def values(self) -> Params:
        """The content of the params file."""
        return read_params(self.params)

    @property
    def data(self) -> DataSettings:
        """The `data` section."""
        return self.values.section("data", DataSettings)

    @property
    def words(self) -> str:
        """The name of the tokenizer that is measured, and that tokens are made with."""
        return self.values.section("evaluation", EvaluationSettings).tokenizer

    @property
    def tokenizer(self) -> SpacySettings:
        """Its entry of the `tokenizers` section."""
        return self.values.section(f"tokenizers.{self.words}", SpacySettings)
