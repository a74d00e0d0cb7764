"""How often two neighbouring tokens stand with and without space between them in the text."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nmt.corpus.tokens import Sentence
from nmt.errors import DataError

_log = logging.getLogger("nmt.spacing")

Pair = tuple[str, str]
"""A token and the one after it."""

_QUOTE = '"'


@dataclass
class Count:
    """How often something was seen, and how often of these without space."""

    joined: int = 0
    total: int = 0

    def add(self, joined: int, total: int) -> None:
        """Count `total` more, of which `joined` without space."""
        self.joined += joined
        self.total += total

    @property
    def share(self) -> float:
        """Share without space, as if it had also been seen with space once."""
        return self.joined / (self.total + 1)


def visible(sentence: Sentence) -> Sentence:
    """Return the tokens that are more than white space."""
    return [token for token in sentence if token.strip()]


def marked(sentence: Sentence) -> Sentence:
    r"""Tell opening from closing quotes: the first, third, … `"` of a sentence opens.

    A mark holds a space, which no token does, so it can't be mistaken for one.
    """
    result = []
    quotes = 0
    for token in sentence:
        if token == _QUOTE:
            token += " close" if quotes % 2 else " open"
            quotes += 1
        result.append(token)
    return result


def count_pairs(lines: Iterable[str], sentences: Iterable[Sentence]) -> dict[Pair, Count]:
    """Count all neighbours; sentences that don't spell their line are left out.

    Args:
        lines: the text, in any case.
        sentences: the tokens of each line.

    Raises:
        DataError: the two differ in number, or more than half don't match.
    """
    pairs: dict[Pair, Count] = defaultdict(Count)
    lines, sentences = list(lines), list(sentences)
    if len(lines) != len(sentences):
        raise DataError(
            f"spacing: {len(lines)} lines of text and {len(sentences)} lines of tokens; "
            "run the tokenize stage again"
        )
    skipped = 0
    for line, sentence in zip(lines, sentences, strict=True):
        tokens = visible(sentence)
        gaps = _gaps(line, tokens)
        if gaps is None:
            skipped += 1
            continue
        for pair, gap in zip(_neighbours(marked(tokens)), gaps, strict=True):
            pairs[pair].add(not gap, 1)
    _check(skipped, len(lines))
    return dict(pairs)


def _check(skipped: int, total: int) -> None:
    if 2 * skipped > total:
        raise DataError(
            f"spacing: {skipped} of {total} lines are not spelled by their tokens; "
            "run the tokenize stage again"
        )
    if skipped:
        _log.warning("%d of %d lines are not spelled by their tokens: left out", skipped, total)


def _neighbours(tokens: Sentence) -> Iterator[Pair]:
    return zip(tokens[:-1], tokens[1:], strict=True)


def _gaps(line: str, tokens: Sentence) -> list[bool] | None:
    """Say for each token but the first whether white space precedes it; None for no match."""
    text = line.lower()
    gaps = []
    place = 0
    for token in tokens:
        start = place
        while place < len(text) and text[place].isspace():
            place += 1
        gaps.append(place > start)
        if not text.startswith(token.lower(), place):
            return None
        place += len(token.lower())
    return gaps[1:] if not text[place:].strip() else None
