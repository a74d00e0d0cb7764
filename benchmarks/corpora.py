"""The corpus that is measured on, and others made from it: repeated, and of one length."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.setting import Setting, Sizes
from nmt.corpus.raw import raw_path
from nmt.corpus.settings import DataSettings
from nmt.corpus.tokens import Sentence, read_parallel, tokens_path, write_tokens
from nmt.download.corpus import download_corpus
from nmt.params_files import read_params
from nmt.tokenization.corpus import tokenize_corpus
from nmt.vocab.build import Folders, build_vocabularies


@contextmanager
def prepared(params: Path, root: Path, sizes: Sizes) -> Iterator[Setting]:
    """Yield a setting with tokens and vocabularies of its own, made in a temporary folder.

    The text is taken from data/raw, or got as the download stage gets it. Nothing that stages
    made is changed.

    Args:
        params: file of parameters.
        root: the project's folder.
        sizes: how much is measured.

    Raises:
        DataError: the corpus is not to be had, or is damaged.
    """
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as name:
        folder = Path(name)
        data = read_params(params).section("data", DataSettings)
        raw = root / "data" / "raw"
        names = [raw_path(raw, split, side) for split in data.splits for side in data.languages]
        if not all(path.is_file() for path in names):
            raw = folder / "raw"
            mirror = os.environ.get("MULTI30K_MIRROR")
            download_corpus(data, raw, root / "data" / "archive", mirror)
        setting = Setting(
            params.resolve(), raw, folder / "tokens", folder / "vocab", root / "models",
            folder, sizes,
        )  # fmt: skip
        make_corpus(setting)
        yield setting


def make_corpus(setting: Setting) -> None:
    """Tokenise the corpus and build its vocabularies, as the stages do."""
    tokenize_corpus(setting.raw, setting.tokens, setting.data, setting.words, setting.tokenizer)
    build_vocabularies(
        Folders(setting.raw, setting.tokens, setting.vocab),
        setting.data,
        setting.tokenizer,
    )


def repeated(setting: Setting, times: int) -> Setting:
    """Return a setting whose training files hold the corpus so many times."""
    folder = _copy(setting, f"corpus_{times}x")
    for path in _training_files(setting, folder):
        path.write_bytes(path.read_bytes() * times)
    return replace(setting, tokens=folder)


def of_one_length(setting: Setting, length: int) -> Setting:
    """Return a setting whose training pairs have so many tokens on both sides."""
    folder = _copy(setting, f"length_{length}")
    data = setting.data
    pairs = read_parallel(setting.tokens, data.train, *data.languages)
    made = list(join_and_cut(zip(pairs.src, pairs.trg, strict=True), length))
    for path, side in zip(_training_files(setting, folder), zip(*made, strict=True), strict=True):
        write_tokens(path, side)
    return replace(setting, tokens=folder)


def join_and_cut(
    pairs: Iterable[tuple[Sentence, Sentence]], length: int
) -> Iterator[tuple[Sentence, Sentence]]:
    """Join pairs until both sides are long enough, and cut both to the length."""
    src: Sentence = []
    trg: Sentence = []
    for more_src, more_trg in pairs:
        src, trg = src + more_src, trg + more_trg
        if min(len(src), len(trg)) >= length:
            yield src[:length], trg[:length]
            src, trg = [], []


def _copy(setting: Setting, name: str) -> Path:
    folder = setting.work / name
    shutil.copytree(setting.tokens, folder, dirs_exist_ok=True)
    return folder


def _training_files(setting: Setting, folder: Path) -> list[Path]:
    data = setting.data
    return [tokens_path(folder, data.train, language) for language in data.languages]
