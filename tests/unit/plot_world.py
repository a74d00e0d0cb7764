"""A tiny world of files that the pictures are made from; no file comes from a training."""

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from nmt.compute import ComputeSettings
from nmt.corpus.settings import DataSettings
from nmt.corpus.tokens import Sentence, tokens_path, write_tokens
from nmt.corpus.vocabulary import Vocabulary
from nmt.files import write_json, write_jsonl, write_lines
from nmt.grid import GridSettings
from nmt.model.seq2seq import Seq2Seq
from nmt.model.settings import RecurrentSettings
from nmt.model.store import save_model
from nmt.plots.job import Folders, Job
from nmt.plots.settings import PlotSettings
from nmt.prepared import Prepared
from nmt.translations import Hypothesis, write_attention, write_hypotheses

TEST = "test_a"
MODELS = {"baseline": "none", "additive": "between_layers", "fed_back": "fed_back"}
SEEDS = (1, 2)
ROWS = {"baseline": 0, "additive": 1, "fed_back": 2}
"""Rows of attention of each model."""

SOURCES: list[Sentence] = [
    ["zwei", "mädchen", "grüßen", "."],
    ["ein", "  ", "mann", "zahlt", "$", "5", "$"],
    ["ein", "übergroßer", "hund", "."],
    ["ein", "hund", "."],
    [],
    ["zwei", "hunde", "."],
    ["ein", "mann", "läuft", "."],
    ["zwei", "männer", "laufen", "."],
]
OUTPUTS: list[Sentence] = [
    ["two", "girls", "greet", "."],
    ["a", "man", "pays", "$", "5", "$"],
    ["an", "oversized", "dog", "dog", "dog"],  # cut at the limit
    ["a", "dog", "."],
    [],
    ["two", "dogs", "."],
    ["a", "man", "runs", "."],
    ["two", "men", "run", "."],
]
CUT = 3  # number of the sentence that has no end sign


def make_world(root: Path) -> Path:
    """Write tokens, vocabularies, models and translations of the whole grid."""
    for language, sentences in (("de", SOURCES), ("en", OUTPUTS)):
        for model in MODELS:
            folder = Prepared(root / "data/prepared" / model)
            write_tokens(tokens_path(folder.tokens, TEST, language), sentences)
            write_json(folder.tokens / "tokenizer.json", {"kind": "spacy"})
            Vocabulary.build(sentences, 1).save(folder.vocab / f"{language}.json")
    for number, model in enumerate(MODELS):
        for seed in SEEDS:
            write_model(root, model, seed, 1 + number)
        write_translations(root, model)
    return root


def write_model(root: Path, model: str, seed: int, quality: int) -> None:
    """Write random weights and an invented history of three epochs."""
    vocab = Prepared(root / "data/prepared" / model).vocab
    sizes = [len(Vocabulary.load(vocab / f"{language}.json")) for language in ("de", "en")]
    torch.manual_seed(seed)
    seq2seq = Seq2Seq(_settings(model), *sizes)
    folder = root / "models" / model / str(seed)
    folder.mkdir(parents=True)
    config = {
        "model": seq2seq.settings.model_dump(),
        "vocabulary": dict(zip(("source", "target"), ({"size": n} for n in sizes), strict=True)),
        "best_epoch": 2,
    }
    save_model(folder, seq2seq.copy_weights(), config)
    write_jsonl(folder / "history.jsonl", [_row(epoch, quality + seed / 8) for epoch in (1, 2, 3)])
    losses = [f"{i},{(i + 3) // 4},{8 / (i + quality)!r}" for i in range(1, 13)]
    write_lines(folder / "iterations.csv", ["iteration,epoch,loss", *losses])


def _settings(model: str) -> RecurrentSettings:
    return RecurrentSettings(
        kind="recurrent",
        tokenizer="words",
        cell="gru",
        attention="none" if model == "baseline" else "additive",
        alignment="soft",
        context=MODELS[model],  # type: ignore[arg-type]
        embedding=6,
        hidden=8,
        encoder_layers=1,
        decoder_layers=2,
        bidirectional=True,
        dropout=0.1,
        attention_dropout=0.0,
        tie_target=True,
        tie_source=False,
    )


def _row(epoch: int, quality: float) -> dict[str, float]:
    return {
        "epoch": epoch,
        "learning_rate": 0.01,
        "teacher_forcing": 1.0,
        "train_loss": 6 / epoch,
        "validation_loss": 5 / epoch,
        "validation_perplexity": 100 / epoch,
        "validation_accuracy": epoch / 8,
        "validation_bleu": 8.0 * quality * (3 - abs(epoch - 2)),
    }


def write_translations(root: Path, model: str, seed: int = 1) -> None:
    """Write the outputs of all models alike, with random attention."""
    folder = root / "translations" / model / str(seed)
    rng = np.random.default_rng(len(model))
    weights = [
        random_weights(rng, ROWS[model], len(output) + (number != CUT), len(source) + 1)
        for number, (source, output) in enumerate(zip(SOURCES, OUTPUTS, strict=True), 1)
    ]
    hypotheses = [
        Hypothesis(output, " ".join(output), -1.0, number == CUT, 0, 0, len(source))
        for number, (source, output) in enumerate(zip(SOURCES, OUTPUTS, strict=True), 1)
    ]
    for name in ("attention", "hypotheses"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    write_attention(folder / "attention", TEST, weights)
    write_hypotheses(folder / "hypotheses", TEST, hypotheses)


def random_weights(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    """Return attention (A,T,S) whose rows sum to 1."""
    return rng.dirichlet(np.ones(shape[-1]), shape[:-1]).astype(np.float32).reshape(shape)


PLOTS = {
    "attention_test": TEST,
    "attention_sentences": [1, 2, 3, 5],
    "states_test": TEST,
    "states_sentences": 8,
    "states_labelled": 4,
    "seed": 1,
    "dpi": 60,
}
GRID = {"models": list(MODELS), "seeds": list(SEEDS), "ensembles": []}
DATA = {
    "source_language": "de",
    "target_language": "en",
    "train": "train",
    "validation": "val",
    "tests": [TEST],
    "sources": [],
    "files": {
        f"{split}.{lang}": {"rows": 1, "archive": "0" * 64, "text": "0" * 64}
        for split in ("train", "val", TEST)
        for lang in ("de", "en")
    },
}
COMPUTE = {"device": "cpu", "precision": "float32", "threads": 1, "processes": 1}


def make_job(root: Path, grid: Mapping[str, object] | None = None, **plots: object) -> Job:
    """Return a job in a world, with some settings changed."""
    return Job(
        PlotSettings.model_validate(PLOTS | plots, strict=False),
        GridSettings.model_validate({**GRID, **(grid or {})}, strict=False),
        DataSettings.model_validate(DATA, strict=False),
        ComputeSettings.model_validate(COMPUTE),
        Folders(
            root / "data/prepared",
            root / "models",
            root / "translations",
            root / "reports",
        ),
    )


def boxes(figure: Figure, texts: list[Text]) -> list[Bbox]:
    figure.set_dpi(100)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    return [Text.get_window_extent(text, renderer) for text in texts]


def written(figure: Figure) -> list[Text]:
    """Return all text of a figure that is seen."""
    return [
        text
        for text in figure.findobj(Text)
        if isinstance(text, Text) and text.get_text() and text.get_visible()
    ]


def assert_readable(figure: Figure) -> None:
    """No text lies outside the picture, and no two upright ones overlap."""
    texts = written(figure)
    found = boxes(figure, texts)
    width, height = figure.get_size_inches() * 100
    for text, box in zip(texts, found, strict=True):
        inside = box.x0 > -1 and box.y0 > -1 and box.x1 < width + 1 and box.y1 < height + 1
        assert inside, f"{text.get_text()!r} is cut off"
    upright = [
        (text, box.shrunk(0.98, 0.9))
        for text, box in zip(texts, found, strict=True)
        if not text.get_rotation()
    ]
    for (one, box), (other, other_box) in combinations(upright, 2):
        assert not box.overlaps(other_box), f"{one.get_text()!r} and {other.get_text()!r} overlap"
