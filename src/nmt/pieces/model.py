"""A model of pieces: learned from text, split by, and drawn from.

Byte-pair encoding: Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword
Units"; unigram language model: Kudo 2018, "Subword Regularization"; both as Kudo and Richardson
2018 ("SentencePiece") apply them to raw text, spaces included.
"""

import io
from collections.abc import Iterable
from pathlib import Path

import sentencepiece

from nmt.corpus.tokens import Sentence
from nmt.errors import DataError, ParamsError
from nmt.files import replacing

_LONGEST = 1 << 20  # bytes of a line; sentencepiece would leave out those above 4192


def model_path(folder: Path, language: str) -> Path:
    """Return where one language's model of pieces lies."""
    return folder / f"{language}.model"


class Pieces:
    """Splits text into pieces that give it back exactly (`nmt.corpus.pieces.join_pieces`).

    A character that the training text lacks becomes a token of its own, which no vocabulary has.
    All characters of the training text are pieces, so that such ones are rare. Bytes as a way out
    (sentencepiece's `byte_fallback`) would be 256 pieces of which training sees none.

    Args:
        content: of a model file.

    Raises:
        DataError: it is none.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        try:
            self._model = sentencepiece.SentencePieceProcessor(model_proto=content)
        except RuntimeError as error:
            raise DataError(
                f"not a model of pieces ({_plain(error)}); run the tokenize stage again"
            ) from None

    @classmethod
    def learn(cls, lines: Iterable[str], algorithm: str, size: int, key: str) -> "Pieces":
        """Learn pieces from text; no random number is drawn.

        Args:
            lines: the training text.
            algorithm: bpe or unigram.
            size: how many pieces; all characters of the text are among them.
            key: the params key that names the size, for messages.

        Raises:
            ParamsError: the text has more characters, or not as many pieces.
        """
        model = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(lines),
                model_writer=model,
                model_type=algorithm,
                vocab_size=size + 1,  # with <unk>
                character_coverage=1.0,
                normalization_rule_name="identity",
                remove_extra_whitespaces=False,
                max_sentence_length=_LONGEST,
                num_threads=1,
                bos_id=-1,
                eos_id=-1,
                minloglevel=2,
            )
        except RuntimeError as error:
            raise ParamsError(
                f"{key}: got {size}, which this text does not allow: {_plain(error)} "
                "(<unk> counted)"
            ) from None
        return cls(model.getvalue())

    @classmethod
    def load(cls, path: Path) -> "Pieces":
        """Read what `save` wrote.

        Raises:
            DataError: the file is missing or damaged.
        """
        try:
            return cls(path.read_bytes())
        except FileNotFoundError:
            raise DataError(f"{path}: no such file; run the tokenize stage first") from None
        except DataError as error:
            raise DataError(f"{path}: {error}") from None

    def save(self, path: Path) -> None:
        """Write the model, whole or not at all."""
        with replacing(path) as temporary:
            temporary.write_bytes(self._content)

    def all(self) -> list[str]:
        """Return every piece there is, in the model's order."""
        model = self._model
        return [
            model.id_to_piece(i) for i in range(model.get_piece_size()) if not model.is_unknown(i)
        ]

    def split(self, text: str) -> Sentence:
        """Return the pieces of a line, the best way to split it."""
        pieces: Sentence = self._model.encode(text, out_type=str)
        return pieces

    def draw(self, text: str, alpha: float) -> Sentence:
        """Return the pieces of a line, split at random; `seed_draws` decides how.

        Args:
            text: the line.
            alpha: with byte-pair encoding the share of merges that are left out (Provilkov et
                al. 2020, "BPE-Dropout"); with a unigram model the power that the probability of
                each way to split the line is raised to (Kudo 2018).
        """
        pieces: Sentence = self._model.encode(
            text, out_type=str, enable_sampling=True, nbest_size=-1, alpha=alpha
        )
        return pieces


def seed_draws(seed: int) -> None:
    """Make the draws that follow in this thread, of all models, depend on a seed alone.

    Args:
        seed: 0 to 2³² - 2; sentencepiece takes the one above for its own choice.
    """
    sentencepiece.set_random_generator_seed(seed)


def _plain(error: Exception) -> str:
    """Return an error of sentencepiece without the place in its source."""
    return " ".join(str(error).rpartition("] ")[2].split()).rstrip(".")
