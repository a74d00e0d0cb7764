"""Ways of splitting both sides of the training text."""

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import spacy

from benchmarks.figures import Lap
from benchmarks.setting import Setting
from benchmarks.worker import Tasks
from nmt.corpus.raw import read_training_pairs
from nmt.corpus.settings import DataSettings
from nmt.corpus.tokens import Sentence
from nmt.tokenization.tokenizer import Tokenizer, open_tokenizers

Lines = list[list[str]]
"""The sentences of the source and of the target."""
Sentences = list[list[Sentence]]
Opener = Callable[[], tuple[Tokenizer, Tokenizer]]
"""Opens the stage's tokenizers of source and target."""


def own_process(setting: Setting) -> Tasks:
    """Read the text, and make the ways."""
    data = setting.data
    opener = partial(open_tokenizers, setting.words, setting.tokenizer.splitting, *data.languages)
    pairs = read_training_pairs(setting.raw, data.train, *data.languages)
    lines = [side[: setting.sizes.lines] for side in (pairs.src, pairs.trg)]
    return {
        "one_process": partial(_lap, partial(one_process, opener), lines),
        "two_processes": partial(_lap, partial(two_processes, opener), lines),
        "plain": partial(_lap, partial(plain, data), lines),
    }


def one_process(opener: Opener, lines: Lines) -> Sentences:
    """Split one side after the other with the stage's tokenizers."""
    both = zip(opener(), lines, strict=True)
    return [[tokenizer(line) for line in side] for tokenizer, side in both]


def two_processes(opener: Opener, lines: Lines) -> Sentences:
    """Split a side in each of two processes, which begin as copies of this one."""
    with ProcessPoolExecutor(len(lines), multiprocessing.get_context("fork")) as pool:
        return list(pool.map(partial(_one_side, opener), range(len(lines)), lines))


def plain(data: DataSettings, lines: Lines) -> Sentences:
    """Call spaCy on each line."""
    found = []
    for language, side in zip(data.languages, lines, strict=True):
        nlp = spacy.blank(language)
        found.append([[token.text.lower() for token in nlp(line)] for line in side])
    return found


def _one_side(opener: Opener, number: int, lines: list[str]) -> list[Sentence]:
    tokenizer = opener()[number]
    return [tokenizer(line) for line in lines]


def _lap(way: Callable[[Lines], Sentences], lines: Lines) -> Lap:
    began = time.perf_counter()
    way(lines)
    return Lap(time.perf_counter() - began, sum(map(len, lines)))
