"""The real corpus, made once for all tests of this folder.

It is taken from $MULTI30K_MIRROR, from ../shared/multi30k beside the project, or from data/raw.
"""

import os
from pathlib import Path

import pytest

from nmt.corpus.settings import DataSettings
from nmt.download.corpus import download_corpus
from nmt.params import Params
from nmt.tokenization.corpus import tokenize_corpus
from nmt.tokenization.settings import SpacySettings, SpacySplitting, WordEncoding
from nmt.vocab.build import Folders, build_vocabularies

PROJECT = Path(__file__).parents[2]
BESIDE = PROJECT.parent / "shared" / "multi30k"
MIRROR = os.environ.get("MULTI30K_MIRROR") or (str(BESIDE) if BESIDE.is_dir() else None)
RAW = PROJECT / "data" / "raw"

TESTS = ("test_2016_flickr", "test_2017_flickr", "test_2017_mscoco")


def data() -> DataSettings:
    """The project's own pins, with the published choice of languages and splits."""
    value = Params.read(PROJECT / "params.yaml").section("data", DataSettings)
    chosen = {"source_language": "de", "target_language": "en", "tests": TESTS}
    return value.model_copy(update=chosen | {"train": "train", "validation": "val", "sources": ()})


def build(folders: Folders, *, normalize_spaces: bool) -> Folders:
    words = Params.read(PROJECT / "params.yaml").section("tokenizers.words", SpacySettings)
    splitting = SpacySplitting(
        spacy_source="blank",
        spacy_target="blank",
        lowercase=True,
        normalize_spaces=normalize_spaces,
    )
    words = words.model_copy(
        update={"splitting": splitting, "encoding": WordEncoding(min_freq=2, max_size=None)}
    )
    tokenize_corpus(folders.raw, folders.tokens, data(), "words", words)
    build_vocabularies(folders, data(), words)
    return folders


@pytest.fixture(scope="session")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if MIRROR is None:
        if not RAW.is_dir():
            pytest.skip("no Multi30k: set MULTI30K_MIRROR, or run the download stage")
        return RAW
    folder = tmp_path_factory.mktemp("real") / "raw"
    download_corpus(data(), folder, folder.with_name("archive"), MIRROR)
    return folder


@pytest.fixture(scope="session")
def corpus(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Folders:
    place = tmp_path_factory.mktemp("published")
    return build(Folders(raw, place / "tokens", place / "vocab"), normalize_spaces=False)
