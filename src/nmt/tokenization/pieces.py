"""One language's pieces of words, learned from the training side."""

from collections.abc import Sequence

import sentencepiece

from nmt.corpus.pieces import PIECES
from nmt.corpus.tokens import Sentence
from nmt.pieces.model import Pieces
from nmt.tokenization.settings import PieceSplitting
from nmt.tokenization.text import cleaned


class PieceTokenizer:
    """Splits sentences of one language.

    Text is lower-cased before it is split, since the pieces are those of lower-cased text; a
    letter whose small form is longer (such as İ) is no matter.

    Args:
        pieces: the model.
        settings: what is done to the text before.
    """

    def __init__(self, pieces: Pieces, settings: PieceSplitting) -> None:
        self.pieces = pieces
        self._settings = settings

    def __call__(self, text: str) -> Sentence:
        """Return the pieces of one line; a blank line has none."""
        return self.pieces.split(prepared(text, self._settings))


def prepared(text: str, settings: PieceSplitting) -> str:
    """Return a line as the pieces give it back."""
    text = cleaned(text, settings.normalize_spaces)
    return text.lower() if settings.lowercase else text


def learn_tokenizers(
    name: str, settings: PieceSplitting, src: Sequence[str], trg: Sequence[str]
) -> tuple[PieceTokenizer, PieceTokenizer]:
    """Learn the tokenizers of the source and the target language, one for both if joint.

    Args:
        name: of the entry in params.yaml, for messages.
        settings: how many pieces, of what kind.
        src: source side of the training text.
        trg: target side.

    Raises:
        ParamsError: the text does not allow so many pieces, or needs more.
    """

    def learn(lines: Sequence[str]) -> PieceTokenizer:
        return PieceTokenizer(
            Pieces.learn(
                (prepared(line, settings) for line in lines),
                settings.algorithm,
                settings.pieces,
                f"tokenizers.{name}.splitting.pieces",
            ),
            settings,
        )

    if settings.joint:
        both = learn([*src, *trg])
        return both, both
    return learn(src), learn(trg)


def describe_pieces(name: str, settings: PieceSplitting) -> dict[str, str]:
    """Say which tokenizers made a file: whoever uses it with others can then be told."""
    return {
        "kind": PIECES,
        "name": name,
        "sentencepiece": sentencepiece.__version__,
        "algorithm": settings.algorithm,
        "pieces": str(settings.pieces),
        "joint": str(settings.joint).lower(),
        "lowercase": str(settings.lowercase).lower(),
        "normalize_spaces": str(settings.normalize_spaces).lower(),
    }
