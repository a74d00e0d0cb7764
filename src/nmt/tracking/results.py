"""What a stage has made, as it is recorded: figures, notes, pictures."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nmt.files import read_json, read_jsonl
from nmt.provenance import names
from nmt.run.inputs import flatten, text
from nmt.run.record import Record


@dataclass
class Results:
    """Figures, params, tags, and files with the artifact folder that each goes to."""

    metrics: dict[str, float] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    files: list[tuple[Path, str]] = field(default_factory=list)


def results(record: Record) -> Results:
    """Read a stage's results from the files that it wrote.

    Raises:
        DataError: a file is missing or not what it should be.
    """
    return _READERS[record.stage.name](record)


def _train(record: Record) -> Results:
    """Size, epochs, and the figures of the epoch that was kept as `best.*`."""
    folder = record.root / "models" / _name(record, "/")
    config = read_json(folder / "config.json")
    metrics = _numbers({k: config.get(k) for k in ("parameters", "epochs", "best_epoch")})
    for row in read_jsonl(folder / "history.jsonl"):
        if row["epoch"] == config["best_epoch"]:
            metrics |= {f"best.{name}": value for name, value in _numbers(row).items()}
    return Results(metrics, files=[(folder / "config.json", "model")])


def _evaluate(record: Record) -> Results:
    """Each score as `TEST.METRIC`; what they were made with as params, signatures as tags."""
    path = record.root / "reports" / "scores" / f"{_name(record, '-')}.json"
    content = read_json(path)
    metrics = _numbers({k: content.get(k) for k in ("parameters", "best_epoch")})
    metrics |= _numbers(flatten("", content["tests"]))
    tags = {names.SIGNATURE + metric: sign for metric, sign in content.get("signatures", [])}
    made_with = {key: text(value) for key, value in content.get("settings", [])}
    params = {key: value for key, value in made_with.items() if key not in record.start.params}
    return Results(metrics, params, tags, [(path, "scores")])


def _plot(record: Record) -> Results:
    """Every picture, and the figures beside them."""
    reports = record.root / "reports"
    files = [
        (path, f"figures/{folder}")
        for folder in ("attention", "encoder_states", "training")
        for path in sorted((reports / folder).glob("*"))
        if path.suffix in (".png", ".json", ".csv")
    ]
    return Results(files=files)


def _name(record: Record, sign: str) -> str:
    return f"{record.stage.options['model']}{sign}{record.stage.seed}"


def _numbers(values: dict[str, Any]) -> dict[str, float]:
    return {
        key: float(value)
        for key, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


_READERS: dict[str, Callable[[Record], Results]] = {
    "train": _train,
    "evaluate": _evaluate,
    "evaluate_ensemble": _evaluate,
    "plot": _plot,
}
