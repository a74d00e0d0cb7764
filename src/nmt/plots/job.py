"""What is drawn from what, and the checks that the settings fit each other and the files."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nmt.compute import ComputeSettings
from nmt.corpus.pieces import are_pieces, join_pieces
from nmt.corpus.settings import DataSettings
from nmt.corpus.tokens import (
    TOKENIZER_FILE,
    Sentence,
    read_tokenizer,
    read_tokens,
    tokens_path,
)
from nmt.errors import DataError, ParamsError
from nmt.grid import GridSettings
from nmt.plots.settings import PlotSettings
from nmt.prepared import Prepared


@dataclass(frozen=True)
class Folders:
    """Where the files of the stages before lie; `reports` takes the pictures."""

    prepared: Path
    models: Path
    translations: Path
    reports: Path


@dataclass(frozen=True)
class Job:
    """One set of pictures.

    Args:
        settings: the `plots` section.
        grid: models and seeds; nothing else is drawn, whatever lies in the folders.
        data: languages and test sets.
        compute: where encoder states are computed.
        folders: where everything lies.

    Raises:
        ParamsError: a seed or test set is named that is not there.
    """

    settings: PlotSettings
    grid: GridSettings
    data: DataSettings
    compute: ComputeSettings
    folders: Folders

    def __post_init__(self) -> None:
        settings, tests = self.settings, self.data.tests
        _one_of("plots.seed", settings.seed, "grid.seeds", self.grid.seeds)
        _one_of("plots.attention_test", settings.attention_test, "data.tests", tests)
        _one_of("plots.states_test", settings.states_test, "data.tests", tests)

    def model_file(self, model: str, seed: int, name: str) -> Path:
        """Return a file of a trained model.

        Raises:
            DataError: it is missing, naming the stage to run.
        """
        return _made(self.folders.models / model / str(seed) / name, f"train@{model}-{seed}")

    def prepared(self, model: str) -> Prepared:
        """Return what one model reads of the corpus."""
        return Prepared(self.folders.prepared / model)

    def vocabulary_file(self, model: str, language: str) -> Path:
        """Return the file of a model's vocabulary of one language.

        Raises:
            DataError: it is missing, naming the stage to run.
        """
        return _made(self.prepared(model).vocab / f"{language}.json", f"prepare@{model}")

    def translation_folder(self, model: str, name: str, file: str) -> Path:
        """Return the folder `name` of one model's translations, in which `file` must be.

        Raises:
            DataError: it is missing, naming the stage to run.
        """
        seed = self.settings.seed
        folder = self.folders.translations / model / str(seed) / name
        return _made(folder / file, f"translate@{model}-{seed}").parent

    def attention_sources(self, model: str) -> list[Sentence]:
        """Return all source sentences, as a model reads them, that attention is drawn for.

        Raises:
            ParamsError: a sentence is asked for that it does not have.
        """
        test = self.settings.attention_test
        sources = self._read(model, test, self.data.source_language)
        for number in self.settings.attention_sentences:
            if number > len(sources):
                raise ParamsError(
                    f"plots.attention_sentences: got {number}, but {test} has "
                    f"{len(sources)} sentences; name numbers from 1 to {len(sources)}"
                )
        return sources

    def states_pairs(self, model: str) -> list[tuple[Sentence, Sentence]]:
        """Return source and reference, as a model has them, of the states that are drawn.

        Raises:
            ParamsError: more are asked for than there are.
        """
        test, wanted = self.settings.states_test, self.settings.states_sentences
        sources, references = (
            self._read(model, test, language) for language in self.data.languages
        )
        if wanted > len(sources):
            raise ParamsError(
                f"plots.states_sentences: got {wanted}, but {test} has "
                f"{len(sources)} sentences; ask for {len(sources)} at most"
            )
        if len(sources) != len(references):
            raise DataError(
                f"{self.prepared(model).tokens}: {test} has {len(sources)} source and "
                f"{len(references)} target sentences; run `dvc repro prepare@{model}`"
            )
        return list(zip(sources, references, strict=True))[:wanted]

    def joiner(self, model: str) -> Callable[[Sentence], str]:
        """Return what makes text of a model's tokens; words are set off by spaces."""
        path = _made(self.prepared(model).tokens / TOKENIZER_FILE, f"prepare@{model}")
        return join_pieces if are_pieces(read_tokenizer(path.parent)) else " ".join

    def _read(self, model: str, test: str, language: str) -> list[Sentence]:
        path = tokens_path(self.prepared(model).tokens, test, language)
        return read_tokens(_made(path, f"prepare@{model}"))


def _made(path: Path, stage: str) -> Path:
    if not path.is_file():
        raise DataError(f"{path}: no such file; run `dvc repro {stage}`")
    return path


def _one_of(key: str, value: object, where: str, allowed: Sequence[object]) -> None:
    if value not in allowed:
        names = ", ".join(map(str, allowed))
        raise ParamsError(
            f"{key}: got {value!r}, which is not in {where} ({names}); name one of them"
        )
