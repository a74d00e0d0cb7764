"""The training pairs in files: the same batches as from memory, in memory that does not grow."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from nmt.corpus.tokens import ParallelTokens, Sentence, stream_parallel, write_tokens
from nmt.corpus.vocabulary import Vocabulary
from nmt.errors import DataError
from nmt.files import stream_lines
from nmt.seeding import generator
from nmt.training.corpus import encode_pairs, make_batch, plan_batches
from nmt.training.settings import TrainingSettings
from nmt.training.stored import open_pairs, store_pairs

WORDS = [f"w{i}" for i in range(20)]
VOCABULARY = Vocabulary.build([WORDS], min_freq=1)


def settings(batch_unit: str, batch_size: int) -> TrainingSettings:
    """What planning reads; the rest does not matter."""
    return TrainingSettings.model_construct(
        batch_unit=batch_unit, batch_size=batch_size, batches_per_epoch=None
    )


def made(count: int, seed: int = 0) -> Iterator[tuple[Sentence, Sentence]]:
    """Yield pairs of one to eight words a side, of unlike length."""
    rng = generator(seed)
    for _ in range(count):
        src, trg = ([str(word) for word in rng.choice(WORDS, rng.integers(1, 9))] for _ in range(2))
        yield src, trg


def write(folder: Path, src: list[Sentence], trg: list[Sentence]) -> None:
    write_tokens(folder / "train.de.jsonl", src)
    write_tokens(folder / "train.en.jsonl", trg)


@pytest.mark.parametrize(("unit", "size"), [("tokens", 60), ("tokens", 3), ("sentences", 16)])
def test_batches_from_files_are_those_from_memory(tmp_path: Path, unit: str, size: int) -> None:
    src, trg = map(list, zip(*made(200), strict=True))
    memory = encode_pairs(ParallelTokens(src, trg), VOCABULARY, VOCABULARY, max_length=7)
    write(tmp_path, src, trg)
    stream = stream_parallel(tmp_path, "train", "de", "en")
    store_pairs(tmp_path / "corpus", stream, VOCABULARY, VOCABULARY, max_length=7)
    files = open_pairs(tmp_path / "corpus")
    assert (len(files), files.dropped) == (len(memory), memory.dropped)
    assert files.dropped > 0
    plans = [plan_batches(pairs, settings(unit, size), generator(3)) for pairs in (files, memory)]
    assert [n.tolist() for n in plans[0]] == [n.tolist() for n in plans[1]]
    for numbers in plans[0]:
        one, other = make_batch(files, numbers), make_batch(memory, numbers)
        for name in ("src", "lengths", "inputs", "targets", "real"):
            assert getattr(one, name).equal(getattr(other, name))


def test_a_plan_is_what_it_always_was() -> None:
    """Made with the code of version 0.1, so that results of a seed stay what they were."""
    src, trg = map(list, zip(*made(14), strict=True))
    pairs = encode_pairs(ParallelTokens(src, trg), VOCABULARY, VOCABULARY)
    plan = plan_batches(pairs, settings("tokens", 20), generator(5))
    assert [numbers.tolist() for numbers in plan] == GOLDEN


GOLDEN = [[10, 4], [13, 6, 8], [7, 11], [2, 5], [0, 1, 3, 12], [9]]


def test_memory_does_not_grow_with_the_corpus(tmp_path: Path) -> None:
    """Encoding holds one pair, and an opened corpus its lengths: 8 bytes a pair."""
    pairs = list(made(200)) * 40
    encoding, opened = [], []
    for i, part in enumerate((pairs[:2000], pairs)):
        folder = tmp_path / str(i)
        tracemalloc.start()
        store_pairs(folder, part, VOCABULARY, VOCABULARY, max_length=8)
        encoding.append(tracemalloc.get_traced_memory()[1])
        before = tracemalloc.get_traced_memory()[0]
        corpus = open_pairs(folder)
        opened.append(tracemalloc.get_traced_memory()[0] - before)
        tracemalloc.stop()
        assert len(corpus) == len(part)
    assert encoding[1] < encoding[0] + 20_000  # bytes; the ids of the 6,000 pairs are 260,000
    assert opened[1] - opened[0] < 6000 * 8 + 20_000


def test_what_is_too_long_is_left_out_and_nothing_left_is_an_error(tmp_path: Path) -> None:
    pairs = [(["w1"] * 3, ["w2"]), (["w1"], ["w2"] * 4)]
    store_pairs(tmp_path / "corpus", pairs, VOCABULARY, VOCABULARY, max_length=3)
    assert (len(open_pairs(tmp_path / "corpus")), open_pairs(tmp_path / "corpus").dropped) == (1, 1)
    with pytest.raises(DataError, match="no pair is left of 2: all have more than 2 tokens on a"):
        store_pairs(tmp_path / "other", pairs, VOCABULARY, VOCABULARY, max_length=2)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus"]


def test_sides_that_do_not_pair_leave_nothing(tmp_path: Path) -> None:
    write(tmp_path / "tokens", [["w1"], ["w2"]], [["w1"], ["w2"], ["w3"]])
    stream = stream_parallel(tmp_path / "tokens", "train", "de", "en")
    with pytest.raises(DataError, match="train has 2 de and 3 en sentences; the sides must pair"):
        store_pairs(tmp_path / "corpus", stream, VOCABULARY, VOCABULARY, max_length=9)
    assert [path.name for path in tmp_path.iterdir()] == ["tokens"]


def test_lines_are_streamed_as_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes("a\u2028b\x85c\r\n\nd".encode())
    assert list(stream_lines(path)) == ["a\u2028b\x85c\r", "", "d"]
    path.write_bytes(b"eins\nM\xe4dchen\n")
    with pytest.raises(DataError, match=r"lines, line 2: byte 0xE4 is not UTF-8; convert"):
        list(stream_lines(path))
    with pytest.raises(DataError, match="none: no such file; run the stage that makes it first"):
        next(stream_lines(tmp_path / "none"))


def test_sides_may_be_longer_than_a_batch(tmp_path: Path) -> None:
    pairs = encode_pairs(ParallelTokens([["w1"]] * 3, [["w1"] * 9] * 3), VOCABULARY, VOCABULARY)
    plan = plan_batches(pairs, settings("tokens", 4), generator(1))
    assert sorted(np.concatenate(plan).tolist()) == [0, 1, 2]
    assert [len(numbers) for numbers in plan] == [1, 1, 1]
