"""Attention heat maps: source across, output down, one picture a sentence."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nmt.corpus.symbols import EOS, SPECIALS
from nmt.corpus.tokens import Sentence
from nmt.errors import DataError
from nmt.plots.gallery import Gallery
from nmt.plots.heatmaps import HeatMap, heat_map_figure
from nmt.plots.job import Job
from nmt.plots.style import shortened, shown
from nmt.translations import Hypothesis, read_attention, read_hypotheses

_END = SPECIALS[EOS]


@dataclass(frozen=True)
class Attended:
    """What one model made of a whole test set.

    Args:
        model: its name.
        sources: the source sentences as it reads them.
        hypotheses: one each.
        weights: attention of each (A,T,S).
    """

    model: str
    sources: list[Sentence]
    hypotheses: list[Hypothesis]
    weights: list[NDArray[np.float32]]

    def heat_map(self, number: int) -> HeatMap:
        """Return the top layer's weights of a sentence, counted from 1, with their tokens."""
        hypothesis, weights = self.hypotheses[number - 1], self.weights[number - 1]
        output = [*hypothesis.tokens, *([] if hypothesis.cut else [_END])]
        columns = [*self.sources[number - 1], _END]
        if weights.shape[1:] != (len(output), len(columns)):
            raise DataError(
                f"{self.model}, sentence {number}: attention is for {weights.shape[1]} output and "
                f"{weights.shape[2]} source tokens, but there are {len(output)} and "
                f"{len(columns)}; run the translate stage again"
            )
        return HeatMap(
            shown(self.model), [shown(t) for t in columns], [shown(t) for t in output], weights[-1]
        )


def draw_attention(job: Job, gallery: Gallery) -> None:
    """Draw the chosen sentences, the models with attention side by side.

    Raises:
        ParamsError: a sentence is named that the test set does not have.
        DataError: translations are missing, damaged or of other sentences.
    """
    models = [_read(job, model) for model in job.grid.models]
    attending = [model for model in models if model.weights[0].shape[0]]
    if not attending:
        return  # nothing but baselines in the grid
    test = job.settings.attention_test
    for number in job.settings.attention_sentences:
        maps = [model.heat_map(number) for model in attending]
        source = [shown(token) for token in attending[0].sources[number - 1]]
        text = job.joiner(attending[0].model)(source)
        title = f"{test}, sentence {number}: {shortened(text, 120)}"
        gallery.add(
            f"{test}-{number:04}", heat_map_figure(maps, job.data.languages), title, _alt(maps)
        )


def _read(job: Job, model: str) -> Attended:
    test, sources = job.settings.attention_test, job.attention_sources(model)
    weights = read_attention(
        job.translation_folder(model, "attention", f"{test}.safetensors"), test
    )
    hypotheses = read_hypotheses(job.translation_folder(model, "hypotheses", f"{test}.jsonl"), test)
    for what, found in (("attention", len(weights)), ("hypotheses", len(hypotheses))):
        if found != len(sources):
            raise DataError(
                f"{model}: {what} of {found} sentences, but {test} has {len(sources)}; "
                f"run `dvc repro translate@{model}-{job.settings.seed}`"
            )
    return Attended(model, sources, hypotheses, weights)


def _alt(maps: list[HeatMap]) -> str:
    parts = []
    for one in maps:
        strongest = [one.columns[i] for i in one.weights.argmax(axis=1)]
        pairs = ", ".join(f"{t} from {s}" for t, s in zip(one.rows, strongest, strict=True))
        parts.append(f"{one.model}: {pairs}.")
    return (
        "Heat maps of attention, source across and output down. Each output token, and the "
        f"source token with the most weight. {' '.join(parts)}"
    )
