"""What made a folder of translations, so that a table can tell without the model."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from nmt.ensembles import Seed
from nmt.errors import DataError
from nmt.files import read_json, write_json

RECORD_FILE = "record.json"


@dataclass(frozen=True)
class Record:
    """Where translations come from.

    Args:
        name: the model's name in params.yaml.
        seed: of its training; of an ensemble, those of its members.
        parameters: how many numbers the model learned; of an ensemble, all members together.
        best_epoch: the epoch whose weights were used, counted from 1; of an ensemble, each
            member's.
        decoding: the `decoding` section they were searched with.
        tokenizer: which tokenizer made the source tokens (kind, versions, settings).
        source_language: language translated from.
        target_language: language translated into.
    """

    name: str
    seed: Seed
    parameters: int
    best_epoch: int | tuple[int, ...]
    decoding: dict[str, Any]
    tokenizer: dict[str, str]
    source_language: str
    target_language: str


_RECORD = TypeAdapter(Record)


def write_record(folder: Path, record: Record) -> None:
    """Write record.json into `folder`."""
    write_json(folder / RECORD_FILE, asdict(record))


def read_record(folder: Path) -> Record:
    """Read record.json of `folder`.

    Raises:
        DataError: the file is missing, or a field is missing or of the wrong type.
    """
    path = folder / RECORD_FILE
    try:
        # Through JSON: there a mapping may fill a dataclass, strictly.
        return _RECORD.validate_json(json.dumps(read_json(path)), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(map(str, first["loc"])) or "the file"
        raise DataError(f"{path}: {key}: {first['msg']}; run the translate stage again") from None
