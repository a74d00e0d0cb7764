"""The real corpus, from archives to vocabularies: the published figures, and some of our own.

Needs Multi30k: at $MULTI30K_MIRROR, in ../shared/multi30k beside the project, or in data/raw.
Figures of vocabularies, word order and tokens of train, val and test_2016_flickr are those of
the published recipe under spaCy 3.8; tokens of the tests of 2017 were counted with this code.
"""

from pathlib import Path

import pytest

from nmt.corpus.pieces import join_pieces
from nmt.corpus.raw import raw_path, read_raw
from nmt.corpus.tokens import read_tokens, tokens_path
from nmt.corpus.vocabulary import Vocabulary
from nmt.files import read_json
from nmt.params import Params
from nmt.spacing import Spacing, exact_share
from nmt.tokenization.corpus import tokenize_corpus
from nmt.tokenization.settings import SentencepieceSettings
from nmt.vocab.build import Folders, build_vocabularies
from tests.real.conftest import PROJECT, TESTS, build, data

pytestmark = pytest.mark.slow


SENTENCES_TOKENS = {
    "train": (29000, 360726, 380190),
    "val": (1014, 12823, 13426),
    "test_2016_flickr": (1000, 12101, 13058),
    "test_2017_flickr": (1000, 10755, 11418),
    "test_2017_mscoco": (461, 5159, 5253),
}
FIRST_WORDS = {
    "de": ". ein einem in eine , und mit auf mann einer der frau die zwei einen im an von sich dem "
    "mädchen junge vor zu steht",
    "en": "a . in the on man is and of with woman , two are to people at an wearing shirt young "
    "white black his while blue",
}


def test_vocabularies_have_the_published_sizes(corpus: Folders) -> None:
    assert len(Vocabulary.load(corpus.out / "de.json")) == 7853
    assert len(Vocabulary.load(corpus.out / "en.json")) == 5893


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_most_frequent_words_stand_first_in_the_published_order(
    language: str, corpus: Folders
) -> None:
    vocabulary = Vocabulary.load(corpus.out / f"{language}.json")
    assert vocabulary.tokens[:4] == ("<unk>", "<pad>", "<sos>", "<eos>")
    assert " ".join(vocabulary.tokens[4:30]) == FIRST_WORDS[language]


@pytest.mark.parametrize("split", SENTENCES_TOKENS)
def test_files_have_the_published_numbers_of_sentences_and_tokens(
    split: str, corpus: Folders
) -> None:
    sentences, german, english = SENTENCES_TOKENS[split]
    counts = read_json(corpus.tokens / "counts.json")["splits"][split]
    assert (counts["de"]["sentences"], counts["de"]["tokens"]) == (sentences, german)
    assert (counts["en"]["sentences"], counts["en"]["tokens"]) == (sentences, english)
    assert counts["de"]["empty"] == counts["en"]["empty"] == 0


def test_no_training_pair_is_dropped(corpus: Folders) -> None:
    assert read_json(corpus.tokens / "counts.json")["dropped_training_pairs"] == 0


def test_nearly_all_references_come_back_exactly_from_their_tokens(corpus: Folders) -> None:
    assert read_json(corpus.out / "coverage.json")["spacing_exact_lines"] >= 0.98
    spacing = Spacing.load(corpus.out / "spacing.json")
    for split in TESTS:
        lines = [line.lower() for line in read_raw(raw_path(corpus.raw, split, "en"))]
        sentences = read_tokens(tokens_path(corpus.tokens, split, "en"))
        assert exact_share(spacing.join, lines, sentences) >= 0.98, split


@pytest.mark.parametrize("algorithm", ["bpe", "unigram"])
def test_all_text_comes_back_exactly_from_pieces(raw: Path, tmp_path: Path, algorithm: str) -> None:
    pieces = Params.read(PROJECT / "params.yaml").section(
        "tokenizers.pieces", SentencepieceSettings
    )
    splitting = pieces.splitting.model_copy(update={"algorithm": algorithm, "pieces": 2000})
    pieces = pieces.model_copy(update={"splitting": splitting})
    folders = Folders(raw, tmp_path / "tokens", tmp_path / "vocab")
    tokenize_corpus(folders.raw, folders.tokens, data(), "pieces", pieces)
    build_vocabularies(folders, data(), pieces)
    for split in ("train", "val", *TESTS):
        for language in ("de", "en"):
            lines = [" ".join(line.split()) for line in read_raw(raw_path(raw, split, language))]
            sentences = read_tokens(tokens_path(folders.tokens, split, language))
            assert [join_pieces(s) for s in sentences] == [line.lower() for line in lines]
    coverage = read_json(folders.out / "coverage.json")
    assert coverage["spacing_exact_lines"] == 1.0 and coverage["de"]["size"] == 2004
    rates = [rate for side in ("de", "en") for rate in coverage[side]["unknown_rate"].values()]
    assert max(rates) < 0.001
    assert (folders.out / "de.json").read_bytes() == (folders.out / "en.json").read_bytes()


def test_the_spacing_file_is_small(corpus: Folders) -> None:
    assert (corpus.out / "spacing.json").stat().st_size < 5000


def test_few_tokens_are_unknown(corpus: Folders) -> None:
    coverage = read_json(corpus.out / "coverage.json")
    assert coverage["de"]["unknown_rate"]["val"] == pytest.approx(0.04445, abs=1e-5)
    assert coverage["en"]["unknown_rate"]["val"] == pytest.approx(0.01937, abs=1e-5)
    assert (coverage["de"]["types"], coverage["en"]["types"]) == (18665, 9793)


def test_normalized_spaces_give_the_smaller_vocabularies(raw: Path, tmp_path: Path) -> None:
    folders = Folders(raw, tmp_path / "tokens", tmp_path / "vocab")
    build(folders, normalize_spaces=True)
    assert len(Vocabulary.load(folders.out / "de.json")) == 7851
    assert len(Vocabulary.load(folders.out / "en.json")) == 5892
    for language in ("de", "en"):
        sentences = read_tokens(tokens_path(folders.tokens, "train", language))
        assert all(token.strip() for sentence in sentences for token in sentence)
