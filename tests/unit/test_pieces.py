"""Pieces of words: text comes back exactly, draws follow a seed, vocabularies hold all pieces."""

from pathlib import Path

import pytest

from nmt.corpus.pieces import join_pieces
from nmt.corpus.vocabulary import Vocabulary
from nmt.errors import DataError, ParamsError
from nmt.pieces.draws import Draws
from nmt.pieces.model import Pieces

LINES = [
    "ein mann schläft auf der bank.",
    "eine frau liest, und der hund schläft.",
    "zwei hunde laufen über die wiese.",
    "der mann und die frau laufen.",
]
SIZE = 34
ODD = ["", "  zwei  leere\u00a0zeichen ", "ein \t tab", "☃☃ und ☃", "<eos> der <unk>", "Ä"]


@pytest.fixture(params=["bpe", "unigram"])
def pieces(request: pytest.FixtureRequest) -> Pieces:
    return Pieces.learn(LINES, request.param, SIZE, "size")


def test_text_comes_back_exactly_however_it_is_split(pieces: Pieces) -> None:
    for line in [*LINES, *ODD]:
        assert join_pieces(pieces.split(line)) == line
        assert join_pieces(pieces.draw(line, 0.3)) == line


def test_pieces_are_as_many_as_wanted_and_their_vocabulary_knows_all_of_them(
    pieces: Pieces,
) -> None:
    assert len(set(pieces.all())) == SIZE
    vocabulary = Vocabulary.of(pieces.all(), [pieces.split(line) for line in LINES])
    assert len(vocabulary) == SIZE + 4 and vocabulary.tokens[:4] == (
        "<unk>",
        "<pad>",
        "<sos>",
        "<eos>",
    )
    assert list(vocabulary.counts[4:]) == sorted(vocabulary.counts[4:], reverse=True)
    for line in LINES:
        sentence = pieces.draw(line, 0.3)
        assert vocabulary.decode(vocabulary.encode(sentence)) == sentence
    assert "☃" not in vocabulary and vocabulary.encode(["☃", "<eos>"]) == [0, 0, 3]


def test_the_same_text_gives_the_same_model(pieces: Pieces, tmp_path: Path) -> None:
    algorithm = "bpe" if pieces.split(LINES[0]) == _bpe().split(LINES[0]) else "unigram"
    pieces.save(tmp_path / "one")
    Pieces.learn(LINES, algorithm, SIZE, "size").save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert Pieces.load(tmp_path / "one").all() == pieces.all()


def _bpe() -> Pieces:
    return Pieces.learn(LINES, "bpe", SIZE, "size")


def test_draws_follow_their_seed_alone(pieces: Pieces) -> None:
    draws = Draws(pieces, pieces, 0.3)
    pairs = [(pieces.split(line), pieces.split(line)) for line in LINES]
    first = list(draws.again(pairs, 1, 1))
    pieces.draw(LINES[0], 0.3)
    assert list(draws.again(pairs, 1, 1)) == first != pairs
    assert list(draws.again(pairs, 1, 2)) != first != list(draws.again(pairs, 2, 1))
    assert list(draws.again(first, 1, 1)) == first  # of the text, however it was split before
    assert [[join_pieces(side) for side in pair] for pair in first] == [[x, x] for x in LINES]


def test_draws_are_kept_beside_a_vocabulary(pieces: Pieces, tmp_path: Path) -> None:
    assert Draws.load(tmp_path, ("de", "en")) is None
    Draws(pieces, _bpe(), 0.25).save(tmp_path, ("de", "en"))
    kept = Draws.load(tmp_path, ("de", "en"))
    assert kept is not None
    assert (kept.source.all(), kept.target.all()) == (pieces.all(), _bpe().all())
    assert kept.alpha == 0.25


@pytest.mark.parametrize(("size", "said"), [(3, "required_chars"), (5000, "too high")])
def test_a_size_that_the_text_does_not_allow_is_named(size: int, said: str) -> None:
    with pytest.raises(ParamsError, match=rf"a\.size: got {size}, which .* not allow: .*{said}"):
        Pieces.learn(LINES, "bpe", size, "a.size")


def test_a_damaged_or_missing_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "de.model").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"de\.model: not a model of pieces .*; run the tokenize"):
        Pieces.load(tmp_path / "de.model")
    with pytest.raises(DataError, match=r"en\.model: no such file; run the tokenize stage first"):
        Pieces.load(tmp_path / "en.model")
