"""The `data` section: languages, splits, and where the files come from."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from nmt.params import Settings

Language = Literal["de", "en", "fr", "cs"]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
SplitName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")]


class FileSettings(Settings):
    """What one file of the corpus must be."""

    rows: int = Field(ge=1, description="lines")
    archive: Sha256 = Field(description="SHA-256 of the .gz archive")
    text: Sha256 = Field(description="SHA-256 of the text in it")


class DataSettings(Settings):
    """The `data` section of params.yaml."""

    source_language: Language = Field(description="language translated from")
    target_language: Language = Field(description="language translated into")
    train: SplitName = Field(description="split that models are trained on")
    validation: SplitName = Field(description="split that choices are made on")
    tests: tuple[SplitName, ...] = Field(min_length=1, description="splits that are scored")
    sources: tuple[str, ...] = Field(description="folders (URLs) with FILE.gz, tried in order")
    files: dict[str, FileSettings] = Field(description="SPLIT.LANGUAGE: what the file must be")

    @property
    def splits(self) -> tuple[str, ...]:
        """All splits: training, validation, tests."""
        return (self.train, self.validation, *self.tests)

    @property
    def languages(self) -> tuple[str, str]:
        """Source and target language."""
        return (self.source_language, self.target_language)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.source_language == self.target_language:
            raise ValueError("source_language and target_language must differ")
        if len(set(self.splits)) != len(self.splits):
            raise ValueError("a split may stand only once in train, validation and tests")
        wanted = [f"{split}.{language}" for split in self.splits for language in self.languages]
        missing = [name for name in wanted if name not in self.files]
        if missing:
            raise ValueError(
                f"no entry in files for {', '.join(missing)}; "
                "choose splits that exist in both languages"
            )
        return self
