"""One language's words: split by the rules of a spaCy pipeline, and nothing else of it."""

from pathlib import Path
from typing import Any

import spacy

from nmt.corpus.tokens import Sentence
from nmt.errors import DataError, ParamsError
from nmt.tokenization.settings import SpacySplitting
from nmt.tokenization.text import cleaned

BLANK = "blank"
"""Stands for the rules that spaCy has for a language without any download."""


class Tokenizer:
    """Splits sentences of one language.

    Text is split as it was written and the tokens lower-cased after, as in the published recipe:
    so "Mr." and "U.S." stay whole, which the rules know in this case only.

    Args:
        language: two letters, such as "de".
        pipeline: name of an installed spaCy pipeline, or "blank".
        key: the params key that names it, for messages.
        lowercase: whether tokens are lower-cased.
        normalize_spaces: whether each run of white space (all that `str.isspace` knows, no-break
            and narrow no-break space among it) first becomes one space, with none at the ends.
            If not, white space beyond the single space between words may be a token.

    Raises:
        ParamsError: the pipeline is not installed, or is one for another language.
    """

    def __init__(
        self, language: str, pipeline: str, key: str, *, lowercase: bool, normalize_spaces: bool
    ) -> None:
        self._nlp = _open(language, pipeline, key)
        self._lowercase = lowercase
        self._normalize_spaces = normalize_spaces
        version = "" if pipeline == BLANK else f" {self._nlp.meta['version']}"
        self.name = f"{language} {pipeline}{version}"

    def __call__(self, text: str) -> Sentence:
        """Return the tokens of one line; a blank line has none."""
        text = cleaned(text, self._normalize_spaces)
        tokens = [token.text for token in self._nlp.make_doc(text)] if text else []
        return [token.lower() for token in tokens] if self._lowercase else tokens


def open_tokenizers(
    name: str, settings: SpacySplitting, source: str, target: str
) -> tuple[Tokenizer, Tokenizer]:
    """Return the tokenizers of the source and the target language.

    Args:
        name: of the entry in params.yaml, for messages.
        settings: its rules.
        source: language translated from.
        target: language translated into.
    """

    def tokenizer(side: str, language: str, pipeline: str) -> Tokenizer:
        return Tokenizer(
            language,
            pipeline,
            f"tokenizers.{name}.splitting.spacy_{side}",
            lowercase=settings.lowercase,
            normalize_spaces=settings.normalize_spaces,
        )

    return (
        tokenizer("source", source, settings.spacy_source),
        tokenizer("target", target, settings.spacy_target),
    )


def describe(
    name: str, settings: SpacySplitting, source: Tokenizer, target: Tokenizer
) -> dict[str, str]:
    """Say which tokenizers made a file: whoever uses it with others can then be told."""
    return {
        "kind": "spacy",
        "name": name,
        "spacy": spacy.__version__,
        "source": source.name,
        "target": target.name,
        "lowercase": str(settings.lowercase).lower(),
        "normalize_spaces": str(settings.normalize_spaces).lower(),
    }


def reopen_target(description: dict[str, str], where: Path) -> Tokenizer:
    """Return the target's tokenizer that made some token files, by their description.

    Args:
        description: as `describe` gave it.
        where: it was read, for messages.

    Raises:
        DataError: it is not of spaCy, or another version than the one installed.
    """
    language, pipeline, *_ = [*description.get("target", "").split(), "", ""]
    if description.get("kind") != "spacy" or not pipeline:
        raise DataError(
            f"{where}: these tokens are not words by spaCy ({description}); "
            "name a tokenizer of kind spacy in evaluation.tokenizer"
        )
    tokenizer = Tokenizer(
        language,
        pipeline,
        f"tokenizers.{description['name']}.splitting.spacy_target",
        lowercase=description["lowercase"] == "true",
        normalize_spaces=description["normalize_spaces"] == "true",
    )
    made, here = (description["spacy"], description["target"]), (spacy.__version__, tokenizer.name)
    if made != here:
        raise DataError(
            f"{where}: made by spaCy {made[0]} with {made[1]}, but installed is {here[0]} with "
            f"{here[1]}: run `dvc repro -f tokenize@{description['name']}`, or install the other"
        )
    return tokenizer


def _open(language: str, pipeline: str, key: str) -> Any:
    if pipeline == BLANK:
        return spacy.blank(language)
    if not spacy.util.is_package(pipeline):
        raise ParamsError(
            f"{key}: the spaCy pipeline {pipeline} is not installed; "
            f"run `python -m spacy download {pipeline}`, or set {key} to {BLANK}"
        )
    try:
        nlp = spacy.load(pipeline)
    except (OSError, ValueError, AttributeError, ImportError) as error:
        raise ParamsError(
            f"{key}: the package {pipeline} can't be loaded as a spaCy pipeline ({error}); "
            f"name another, or set {key} to {BLANK}"
        ) from None
    if nlp.lang not in (language, "xx"):
        raise ParamsError(f"{key}: {pipeline} is for {nlp.lang}, but the language is {language}")
    return nlp
