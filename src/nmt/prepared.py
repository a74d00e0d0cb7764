"""What one model reads of the corpus: tokens, vocabularies and spacing of its own tokenizer.

A folder for each model, so that no stage of a model depends on a tokenizer that is not its own.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from nmt.corpus.tokens import TOKENIZER_FILE
from nmt.errors import DataError
from nmt.files import replacing

_MEASURED = ("coverage.json", TOKENIZER_FILE)  # of a vocabulary; no model reads them


@dataclass(frozen=True)
class Prepared:
    """One model's folder.

    Args:
        folder: such as data/prepared/additive.
    """

    folder: Path

    @property
    def tokens(self) -> Path:
        """Folder of SPLIT.LANGUAGE.jsonl and tokenizer.json."""
        return self.folder / "tokens"

    @property
    def vocab(self) -> Path:
        """Folder of LANGUAGE.json and of what training draws pieces with."""
        return self.folder / "vocab"

    @property
    def spacing(self) -> Path:
        """File that says where spaces go between words; pieces have none."""
        return self.folder / "spacing.json"


def prepare_model(tokenizer: str, tokens: Path, vocab: Path, out: Path) -> None:
    """Copy what a model reads; nothing is written before all of it is there.

    Args:
        tokenizer: name of the model's tokenizer.
        tokens: folder of the tokens of all tokenizers.
        vocab: folder of their vocabularies.
        out: folder of the model.

    Raises:
        DataError: there are no tokens or vocabularies of that name.
    """
    for folder, stage in ((tokens, "tokenize"), (vocab, "build_vocab")):
        if not (folder / tokenizer / TOKENIZER_FILE).is_file():
            raise DataError(
                f"{folder / tokenizer}: no {TOKENIZER_FILE}; run `dvc repro {stage}@{tokenizer}`"
            )
    with replacing(out) as partial:
        made = Prepared(partial)
        made.tokens.mkdir(parents=True)
        made.vocab.mkdir()
        for path in [*(tokens / tokenizer).glob("*.jsonl"), tokens / tokenizer / TOKENIZER_FILE]:
            shutil.copyfile(path, made.tokens / path.name)
        for path in (vocab / tokenizer).iterdir():
            if path.name == made.spacing.name:
                shutil.copyfile(path, made.spacing)
            elif path.name not in _MEASURED:
                shutil.copyfile(path, made.vocab / path.name)
