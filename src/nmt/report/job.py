"""What a report is made from, and where it goes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.corpus.settings import DataSettings
from nmt.ensembles import Seed, seed_name
from nmt.errors import ParamsError
from nmt.evaluation.settings import EvaluationSettings
from nmt.grid import GridSettings
from nmt.report.settings import ReportSettings

LANGUAGES = {"cs": "Czech", "de": "German", "en": "English", "fr": "French"}
"""Names of the languages that the corpus has."""


@dataclass(frozen=True)
class Folders:
    """Where the files of the stages before lie; `reports` also takes the report."""

    raw: Path
    tokens: Path
    vocab: Path
    translations: Path
    reports: Path

    def hypotheses(self, model: str, seed: Seed) -> Path:
        """Return the folder of one model's, or one ensemble's, hypotheses."""
        return self.translations / model / seed_name(seed) / "hypotheses"


@dataclass(frozen=True)
class Report:
    """One report.

    Args:
        settings: the `report` section.
        grid: models, seeds and ensembles; nothing else enters, whatever lies in the folders.
        data: languages and splits.
        evaluation: settings of the metrics, for the paired bootstrap.
        models: the settings of each model of the grid, shown as they are.
        sections: other sections that are shown as they are, such as `training`.
        folders: where everything lies.
    """

    settings: ReportSettings
    grid: GridSettings
    data: DataSettings
    evaluation: EvaluationSettings
    models: Mapping[str, dict[str, Any]]
    sections: Mapping[str, dict[str, Any]]
    folders: Folders

    def __post_init__(self) -> None:
        if self.settings.baseline not in self.grid.models:
            raise ParamsError(
                f"report.baseline: got {self.settings.baseline!r}, which is not in grid.models "
                f"({', '.join(self.grid.models)}); name one of them"
            )

    @property
    def tokenizers(self) -> tuple[str, ...]:
        """Name the tokenizers of the models, each once."""
        return tuple(dict.fromkeys(str(model["tokenizer"]) for model in self.models.values()))

    @property
    def pair(self) -> str:
        """Name the language pair in words, such as German to English."""
        source, target = (LANGUAGES[language] for language in self.data.languages)
        return f"{source} to {target}"
