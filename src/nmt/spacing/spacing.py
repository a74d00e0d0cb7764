"""Which tokens stand side by side without space: learned from text, kept as readable JSON."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nmt.corpus.tokens import Sentence
from nmt.errors import DataError
from nmt.files import read_json, write_text
from nmt.spacing.counts import Count, Pair, count_pairs, marked, visible

_ROUNDS = 3  # after which the habits of German, English, French and Czech no longer change much

Habits = dict[str, Count]


@dataclass(frozen=True)
class Spacing:
    """Puts tokens together as the training text had them.

    A pair of tokens that has a count of its own follows it. Else the two habits decide: how the
    left one stands to what follows it, and the right one to what precedes it. Tokens never seen
    are set off by a space.

    Args:
        left: tokens that were seen without space on their left, with counts.
        right: the same on their right.
        pairs: pairs that do other than these habits say.
    """

    left: Mapping[str, Count]
    right: Mapping[str, Count]
    pairs: Mapping[Pair, Count]

    @classmethod
    def learn(cls, lines: Iterable[str], sentences: Iterable[Sentence]) -> "Spacing":
        """Learn from text and its tokens.

        Most words often stand before a full stop, without space; that is the habit of the full
        stop and not theirs. So a word's habit on one side is counted only over neighbours whose
        own habit doesn't explain what is seen. That takes a few rounds.

        Args:
            lines: the training text, in any case; runs of white space count as one space.
            sentences: the tokens of each line; those of white space alone are passed over.

        Raises:
            DataError: lines and tokens don't belong together.
        """
        counts = count_pairs(lines, sentences)
        left: Habits = {}
        right: Habits = {}
        for _ in range(_ROUNDS):
            left, right = _habits(counts, left, right)
        general = cls(_ever_joined(left), _ever_joined(right), {})
        odd = {p: c for p, c in counts.items() if general._differs(p, c)}
        return cls(general.left, general.right, odd)

    def join(self, sentence: Sequence[str]) -> str:
        """Return the tokens as text: single spaces, none at the ends."""
        tokens = visible(list(sentence))
        names = marked(tokens)
        text = tokens[:1]
        for i in range(1, len(tokens)):
            if not self._joins((names[i - 1], names[i])):
                text.append(" ")
            text.append(tokens[i])
        return "".join(text)

    def save(self, path: Path) -> None:
        """Write JSON, one habit or pair a line: token(s), times without space, times seen."""
        left = [(token, c.joined, c.total) for token, c in self.left.items()]
        right = [(token, c.joined, c.total) for token, c in self.right.items()]
        pairs = [(*pair, c.joined, c.total) for pair, c in self.pairs.items()]
        parts = (("left", left), ("pairs", pairs), ("right", right))
        body = ",\n".join(f'"{name}": {_rows(rows)}' for name, rows in parts)
        write_text(path, f"{{\n{body}\n}}\n")

    @classmethod
    def load(cls, path: Path) -> "Spacing":
        """Read what `save` wrote.

        Raises:
            DataError: the file is missing or damaged.
        """
        value = read_json(path)
        try:
            return cls(
                {str(token): Count(int(j), int(n)) for token, j, n in value["left"]},
                {str(token): Count(int(j), int(n)) for token, j, n in value["right"]},
                {(str(a), str(b)): Count(int(j), int(n)) for a, b, j, n in value["pairs"]},
            )
        except (KeyError, TypeError, ValueError):
            raise DataError(
                f"{path}: expected lists named left, right and pairs of tokens with two counts; "
                "run the build_vocab stage again"
            ) from None

    def _chance(self, pair: Pair) -> float:
        """Chance of no space by the two habits: either of them suffices for it."""
        none = Count()
        right = self.right.get(pair[0], none).share
        left = self.left.get(pair[1], none).share
        return 1 - (1 - right) * (1 - left)

    def _joins(self, pair: Pair) -> bool:
        chance = self._chance(pair)
        count = self.pairs.get(pair)
        if count is not None:  # the habits weigh as much as one sight of the pair
            chance = (count.joined + chance) / (count.total + 1)
        return chance > 0.5

    def _differs(self, pair: Pair, count: Count) -> bool:
        chance = self._chance(pair)
        return ((count.joined + chance) / (count.total + 1) > 0.5) != (chance > 0.5)


def exact_share(
    join: Callable[[Sentence], str], lines: Sequence[str], sentences: Sequence[Sentence]
) -> float:
    """Return the share (0 to 1) of lines that `join` gives back, single spaces apart."""
    exact = sum(
        join(sentence).split() == line.split()
        for line, sentence in zip(lines, sentences, strict=True)
    )
    return exact / max(1, len(lines))


def _habits(
    counts: Mapping[Pair, Count], left: Mapping[str, Count], right: Mapping[str, Count]
) -> tuple[Habits, Habits]:
    """Count each token's habits anew over the pairs that the other token doesn't explain."""
    new_left: Habits = defaultdict(Count)
    new_right: Habits = defaultdict(Count)
    none = Count()
    for (first, second), count in counts.items():
        if left.get(second, none).share <= 0.5:
            new_right[first].add(count.joined, count.total)
        if right.get(first, none).share <= 0.5:
            new_left[second].add(count.joined, count.total)
    return new_left, new_right


def _ever_joined(habits: Habits) -> Habits:
    return {token: count for token, count in habits.items() if count.joined}


def _rows(rows: list[Any]) -> str:
    lines = (json.dumps(row, ensure_ascii=False) for row in sorted(rows))
    return "[\n" + ",\n".join(lines) + "\n]"
