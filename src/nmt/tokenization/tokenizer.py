"""One language's tokenizer: the rules of a spaCy pipeline, and nothing else of it."""

from typing import Any

import spacy

from nmt.corpus.tokens import Sentence
from nmt.errors import ParamsError
from nmt.tokenization.settings import TokenizerSettings

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
        text = " ".join(text.split()) if self._normalize_spaces else text
        if not text.strip():
            return []
        tokens = [token.text for token in self._nlp.make_doc(text)]
        return [token.lower() for token in tokens] if self._lowercase else tokens


def open_tokenizers(
    settings: TokenizerSettings, source: str, target: str
) -> tuple[Tokenizer, Tokenizer]:
    """Return the tokenizers of the source and the target language."""

    def tokenizer(side: str, language: str, pipeline: str) -> Tokenizer:
        return Tokenizer(
            language,
            pipeline,
            f"tokenizer.spacy_{side}",
            lowercase=settings.lowercase,
            normalize_spaces=settings.normalize_spaces,
        )

    return (
        tokenizer("source", source, settings.spacy_source),
        tokenizer("target", target, settings.spacy_target),
    )


def describe(settings: TokenizerSettings, source: Tokenizer, target: Tokenizer) -> dict[str, str]:
    """Say which tokenizers made a file: whoever uses it with others can then be told."""
    return {
        "kind": "spacy",
        "spacy": spacy.__version__,
        "source": source.name,
        "target": target.name,
        "lowercase": str(settings.lowercase).lower(),
        "normalize_spaces": str(settings.normalize_spaces).lower(),
    }


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
