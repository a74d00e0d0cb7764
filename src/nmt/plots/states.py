"""Encoder states of a test set, on their first two principal components."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from nmt.compute import ComputeSettings
from nmt.corpus.batches import pad
from nmt.corpus.tokens import Sentence
from nmt.corpus.vocabulary import Vocabulary
from nmt.device import autocast, prepare
from nmt.files import write_json
from nmt.model.seq2seq import Seq2Seq
from nmt.model.store import CONFIG, WEIGHTS, load_model
from nmt.plots.gallery import Gallery
from nmt.plots.job import Job
from nmt.plots.neighbours import Likeness, alike, nearest_by_angle, nearest_by_distance, to_others
from nmt.plots.scatter import Cloud, percent, scatter_figure
from nmt.plots.style import shown

Vectors = NDArray[np.float64]
"""One row a sentence (N,H)."""

NEIGHBOURS_FILE = "neighbours.json"
"""Beside the pictures: how alike in meaning near points are, for each model."""

_BATCH = 64  # sentences; no influence on any figure but through rounding


@dataclass(frozen=True)
class Plane:
    """Vectors on the two axes along which they differ most.

    Args:
        points: (N,2).
        variance: share of the whole variance along each axis.
    """

    points: Vectors
    variance: tuple[float, float]


@dataclass(frozen=True)
class States:
    """What is known of one model's encoder states.

    Args:
        plane: the states on two axes.
        chance: how alike a sentence's reference is to any other.
        states: how alike it is to that of its neighbour among the whole states, by cosine.
        near: how alike it is to that of its neighbour in the plane, by distance.
    """

    plane: Plane
    chance: Likeness
    states: Likeness
    near: Likeness

    def as_json(self) -> dict[str, object]:
        """Return the figures as plain values, for one model's entry in neighbours.json."""
        near = self.near.as_json("nearest") | self.near.over(self.chance).as_json("gain")
        return {
            "metric": "chrF2",
            "sentences": len(self.chance.values),
            "explained_variance": [round(share, 6) for share in self.plane.variance],
            "plane": near,
            **self.states.as_json("nearest"),
            **self.states.over(self.chance).as_json("gain"),
            **self.chance.as_json("random"),
        }


def draw_states(job: Job, gallery: Gallery) -> None:
    """Draw each model of the grid, and write neighbours.json beside the pictures.

    Raises:
        ParamsError: more sentences are asked for than the test set has.
        DataError: tokens, vocabularies or a model are missing.
        ModelError: a model does not fit the vocabularies.
    """
    device = prepare(job.compute)
    chances: dict[tuple[str, ...], Likeness] = {}  # models of one tokenizer share one
    found = {}
    for model in job.grid.models:
        pairs, join = job.states_pairs(model), job.joiner(model)
        sources = [source for source, _ in pairs]
        # chrF leaves white space out, so tokens give what detokenised text would.
        references = [join(reference) for _, reference in pairs]
        if tuple(references) not in chances:
            chances[tuple(references)] = to_others(references, job.settings.seed)
        vectors = _read_vectors(job, model, sources, device)
        states = found[model] = examine(vectors, references, chances[tuple(references)])
        figure = scatter_figure(
            Cloud(
                model,
                states.plane.points,
                states.plane.variance,
                [readable(source, join) for source in sources],
                [len(source) for source in sources],
            ),
            job.settings.states_labelled,
            _verdict(states),
        )
        gallery.add(model, figure, _title(job, model, states), _alt(job, model, states))
    about = {"seed": job.settings.seed, "test_set": job.settings.states_test}
    write_json(
        gallery.folder / NEIGHBOURS_FILE,
        {model: about | states.as_json() for model, states in found.items()},
    )


def examine(vectors: Vectors, references: list[str], chance: Likeness) -> States:
    """Project states (N,H), and see whether near ones are alike in meaning."""
    with threadpool_limits(1):  # sums depend on the number of threads, which drivers set
        plane = project(vectors)
        by_angle = nearest_by_angle(vectors)
        by_distance = nearest_by_distance(plane.points)
    return States(plane, chance, alike(references, by_angle), alike(references, by_distance))


def project(vectors: Vectors) -> Plane:
    """Return vectors (N,H) on their first two principal components.

    The sign of a component is a matter of choice; here its greatest weight is positive.
    """
    if vectors.shape[1] < 2:
        vectors = np.pad(vectors, ((0, 0), (0, 2 - vectors.shape[1])))
    pca = PCA(n_components=2, svd_solver="full")
    with np.errstate(invalid="ignore"):  # vectors that are all the same have no variance
        points = pca.fit_transform(vectors)
    rows = pca.components_
    signs = np.sign(rows[np.arange(2), np.abs(rows).argmax(axis=1)])
    first, second = np.nan_to_num(pca.explained_variance_ratio_)
    return Plane(points * np.where(signs == 0, 1.0, signs), (float(first), float(second)))


@torch.inference_mode()
def encode(
    model: Seq2Seq, ids: list[list[int]], device: torch.device, compute: ComputeSettings
) -> Vectors:
    """Return the encoder's last state for each source sentence (N,H)."""
    rows = []
    for start in range(0, len(ids), _BATCH):
        src, lengths = pad(ids[start : start + _BATCH])
        with autocast(device, compute):
            vectors = model.sentence_vectors(src.to(device), lengths)
        rows.append(vectors.double().cpu().numpy())
    return np.concatenate(rows)


def readable(sentence: Sentence, join: Callable[[Sentence], str] = " ".join) -> str:
    """Return tokens as one line, without space before a stop."""
    return re.sub(r" ([.,;:!?])(?= |$)", r"\1", join([shown(token) for token in sentence]))


def _read_vectors(
    job: Job,
    model: str,
    sources: list[Sentence],
    device: torch.device,
) -> Vectors:
    folder = job.model_file(model, job.settings.seed, CONFIG).parent
    job.model_file(model, job.settings.seed, WEIGHTS)
    source, target = (
        Vocabulary.load(job.vocabulary_file(model, language)) for language in job.data.languages
    )
    loaded, _ = load_model(folder, device, len(source), len(target))
    return encode(loaded, [source.encode(s) for s in sources], device, job.compute)


def _verdict(states: States) -> str:
    return (
        "chrF of the references: nearest neighbours "
        f"{states.states} ({states.near} in this plane), random pairs {states.chance}"
    )


def _title(job: Job, model: str, states: States) -> str:
    return (
        f"{model}: the encoder's last state after each of the first "
        f"{job.settings.states_sentences} sentences of {job.settings.states_test}. Are near "
        "points alike in meaning? The references of a sentence and its nearest neighbour share "
        f"chrF {states.states} (cosine, all dimensions; {states.near} in the plane drawn), those "
        f"of random pairs {states.chance}; ± is the standard error of the mean."
    )


def _alt(job: Job, model: str, states: States) -> str:
    first, second = states.plane.variance
    return (
        f"Scatter plot of {job.settings.states_sentences} encoder states of {model}, coloured by "
        f"sentence length, on two principal components with {percent(first)} and "
        f"{percent(second)} of the variance; {job.settings.states_labelled} of them are labelled "
        "with their text."
    )
