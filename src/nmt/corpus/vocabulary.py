"""A vocabulary: tokens and their ids, built from counts, kept as readable JSON."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nmt.corpus.symbols import EOS, PAD, SOS, SPECIALS, UNK
from nmt.corpus.tokens import Sentence
from nmt.errors import DataError
from nmt.files import read_json, write_text


@dataclass(frozen=True)
class Vocabulary:
    """Tokens in the order of their ids; the first four are the special symbols.

    Args:
        tokens: V distinct tokens; `tokens[i]` has id i.
        counts: how often each occurs in the training side; 0 for the special symbols.
    """

    tokens: tuple[str, ...]
    counts: tuple[int, ...]
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", {token: i for i, token in enumerate(self.tokens)})

    @classmethod
    def build(
        cls, sentences: Iterable[Sentence], min_freq: int, max_size: int | None = None
    ) -> "Vocabulary":
        """Build from sentences: by falling count, ties in code-point order.

        Args:
            sentences: the training side alone.
            min_freq: least count of a token that is kept, at least 1.
            max_size: at most so many tokens beside the special symbols; None for no limit.
        """
        counter = Counter(token for sentence in sentences for token in sentence)
        for special in SPECIALS:  # a text that holds "<eos>" must not end a sentence
            counter.pop(special, None)
        kept = sorted(
            ((token, n) for token, n in counter.items() if n >= min_freq),
            key=lambda item: (-item[1], item[0]),
        )[:max_size]
        return cls(
            SPECIALS + tuple(token for token, _ in kept),
            (0,) * len(SPECIALS) + tuple(n for _, n in kept),
        )

    @classmethod
    def of(cls, tokens: Iterable[str], sentences: Iterable[Sentence]) -> "Vocabulary":
        """Build of given tokens, in the same order: by falling count, ties in code-point order.

        Args:
            tokens: all that there are, without the special symbols.
            sentences: the training side alone, to count them in.
        """
        counter = Counter(token for sentence in sentences for token in sentence)
        kept = sorted(set(tokens).difference(SPECIALS), key=lambda t: (-counter[t], t))
        return cls(
            SPECIALS + tuple(kept), (0,) * len(SPECIALS) + tuple(counter[token] for token in kept)
        )

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: str) -> bool:
        return self._ids.get(token, -1) >= len(SPECIALS)

    def encode(self, sentence: Sentence) -> list[int]:
        """Return the ids of a sentence with <eos> at its end; what is not held becomes <unk>."""
        ids = self._ids
        known = len(SPECIALS)
        found = (ids.get(token, UNK) for token in sentence)
        return [i if i >= known else UNK for i in found] + [EOS]

    def decode(self, ids: Sequence[int]) -> Sentence:
        """Return the tokens up to the first <eos>; <sos> and <pad> are left out."""
        sentence = []
        for i in ids:
            if i == EOS:
                break
            if i not in (SOS, PAD):
                sentence.append(self.tokens[i])
        return sentence

    def save(self, path: Path) -> None:
        """Write [token, count] pairs in the order of their ids, one a line."""
        rows = [
            json.dumps([t, n], ensure_ascii=False)
            for t, n in zip(self.tokens, self.counts, strict=True)
        ]
        write_text(path, "[\n" + ",\n".join(rows) + "\n]\n")

    @classmethod
    def load(cls, path: Path) -> "Vocabulary":
        """Read what `save` wrote.

        Raises:
            DataError: the file is missing or damaged.
        """
        rows = read_json(path)
        try:
            tokens = tuple(str(token) for token, _ in rows)
            counts = tuple(int(n) for _, n in rows)
        except (TypeError, ValueError):
            raise DataError(f"{path}: expected a list of [token, count] pairs") from None
        if tokens[: len(SPECIALS)] != SPECIALS or len(set(tokens)) != len(tokens):
            raise DataError(
                f"{path}: expected {', '.join(SPECIALS)} first and no token twice; "
                "run the build_vocab stage again"
            )
        return cls(tokens, counts)
