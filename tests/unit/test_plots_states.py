"""Encoder states: vectors, principal components, neighbours, and their pictures."""

from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.text import Annotation

from nmt.compute import ComputeSettings
from nmt.corpus.vocabulary import Vocabulary
from nmt.model.seq2seq import Seq2Seq
from nmt.model.store import load_model
from nmt.plots import style
from nmt.plots.neighbours import (
    Likeness,
    alike,
    nearest_by_angle,
    nearest_by_distance,
    to_others,
)
from nmt.plots.scatter import Cloud, scatter_figure, spread_out, wrapped
from nmt.plots.states import encode, examine, project, readable
from tests.unit.plot_world import (
    COMPUTE,
    SOURCES,
    assert_readable,
    make_world,
    written,
)

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Seq2Seq, list[list[int]]]:
    """Return a model and source sentences as ids."""
    root: Path = make_world(tmp_path_factory.mktemp("world"))
    source, target = (
        Vocabulary.load(root / f"data/prepared/additive/vocab/{lang}.json") for lang in ("de", "en")
    )
    model, _ = load_model(root / "models/additive/1", CPU, len(source), len(target))
    return model, [source.encode(sentence) for sentence in SOURCES]


def test_neither_padding_nor_the_batch_changes_a_vector(
    loaded: tuple[Seq2Seq, list[list[int]]],
) -> None:
    model, ids = loaded
    many = [row for _ in range(10) for row in ids]  # more than one batch
    compute = ComputeSettings.model_validate(COMPUTE)
    together = encode(model, many, CPU, compute)
    alone = np.concatenate([encode(model, [row], CPU, compute) for row in ids])
    assert together.shape == (80, 8)
    assert np.allclose(together[:8], alone, atol=1e-6)
    assert np.allclose(together[72:], alone, atol=1e-6)


# Four points in a plane of three dimensions, by hand: deviations from the mean along x are
# ±2 (twice each), along z ±1; variances 16/3 and 4/3 of 20/3.
CORNERS = np.array([(2.0, 7, 1), (2, 7, -1), (-2, 7, 1), (-2, 7, -1)])


def test_principal_components_of_known_points() -> None:
    plane = project(CORNERS)
    assert plane.points == pytest.approx(CORNERS[:, [0, 2]])
    assert plane.variance == pytest.approx((0.8, 0.2))


@pytest.mark.parametrize("turn", [(1, 1, 1), (-1, 1, 1), (-1, -1, -1)])
def test_the_sign_is_fixed_by_the_greatest_weight(turn: tuple[int, int, int]) -> None:
    turned = CORNERS * turn
    assert project(turned).points == pytest.approx(turned[:, [0, 2]])


def test_one_dimension_and_none_are_no_matter() -> None:
    assert project(CORNERS[:, :1]).points == pytest.approx(CORNERS[:, [0, 1]] - (0, 7))
    still = project(np.ones((3, 4)))
    assert still.points == pytest.approx(np.zeros((3, 2)))
    assert still.variance == (0, 0)


def test_nearest_by_angle_and_by_distance_differ() -> None:
    points = np.array([(1.0, 0.0), (9.0, 0.1), (1.0, 0.9), (0.0, 0.0)])
    assert nearest_by_angle(points)[:3].tolist() == [1, 0, 1]
    assert nearest_by_distance(points).tolist() == [2, 0, 0, 0]


def test_ties_go_to_the_first_other_one() -> None:
    same = np.ones((4, 3))
    assert nearest_by_angle(same).tolist() == [1, 0, 0, 0]
    assert nearest_by_distance(same).tolist() == [1, 0, 0, 0]


def test_chrf_of_pairs() -> None:
    references = ["a man runs .", "a man runs .", "two dogs"]
    # By sacreBLEU 2.6: sentence_chrf("a man runs .", ["two dogs"]).score.
    found = alike(references, np.array([1, 0, 0]))
    assert found.values[:2].tolist() == [100.0, 100.0]
    assert found.values[2] == pytest.approx(2.2523, abs=1e-4)
    several = alike(references, np.array([[1, 2], [0, 2], [0, 1]]))
    assert several.values[2] == pytest.approx(2.2523, abs=1e-4)


def test_a_sentence_is_never_compared_with_itself() -> None:
    # All unlike: any pair of different sentences shares no character.
    references = ["aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd"]
    assert to_others(references, 1).values.tolist() == [0, 0, 0, 0]


def test_random_pairs_depend_on_the_seed_alone() -> None:
    references = [f"{'abcde'[n % 5] * 5} {n} x" for n in range(30)]
    first, again, other = (to_others(references, seed).values.tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_neighbours_alike_in_meaning_stand_out_from_chance() -> None:
    rng = np.random.default_rng(1)
    topics = ["a man plays guitar", "two dogs run", "children swim in a lake", "she cuts bread"]
    references = [f"{topics[n % 4]} {n}" for n in range(80)]
    chance = to_others(references, 1)
    centres = np.eye(4)[np.arange(80) % 4]
    sorted_by_topic = examine(centres + rng.normal(size=(80, 4)) * 0.01, references, chance)
    noise = examine(rng.normal(size=(80, 4)), references, chance)
    gain = sorted_by_topic.states.over(chance)
    assert gain.mean > 30 and gain.error < 3
    assert abs(noise.states.mean - chance.mean) < 4 * noise.states.error


def test_mean_and_standard_error() -> None:
    chance = Likeness(np.array([1.0, 2.0, 3.0, 2.0]))
    found = Likeness(np.array([2.0, 4.0, 4.0, 6.0]))
    assert str(found) == "4.0 ± 0.8"
    assert found.as_json("nearest") == {"nearest": 4.0, "nearest_standard_error": 0.8165}
    assert found.over(chance).as_json("gain") == {"gain": 2.0, "gain_standard_error": 0.7071}


def cloud(points: list[tuple[float, float]]) -> Cloud:
    return Cloud(
        "additive",
        np.array(points),
        (0.5, 0.251),
        [f"ein überaus langer satz ({n}) und $noch$ mehr text" for n in range(len(points))],
        [3 + n % 5 for n in range(len(points))],
    )


def clustered(count: int) -> list[tuple[float, float]]:
    """Return points of which most lie at one place."""
    rng = np.random.default_rng(3)
    return [(0.0, 0.0)] * (count // 2) + [
        (float(x), float(y)) for x, y in rng.normal(size=(count - count // 2, 2)) * (1, 0.01)
    ]


@pytest.mark.parametrize("labelled", [0, 1, 12, 17, 24])
def test_labels_of_points_do_not_overlap(labelled: int) -> None:
    with style.applied():
        figure = scatter_figure(cloud(clustered(60)), labelled, "a note")
        assert_readable(figure)
    labels = [t for t in written(figure) if t.get_text().startswith("ein überaus")]
    assert len(labels) == labelled
    assert all(isinstance(label, Annotation) and label.arrow_patch for label in labels)


def test_axes_tell_their_share_of_the_variance() -> None:
    with style.applied():
        axes = scatter_figure(cloud(clustered(9)), 3, "a note").axes[0]
    assert "component 1 (50.0 % of variance)" in axes.get_xlabel()
    assert "component 2 (25.1 % of variance)" in axes.get_ylabel()
    spans = [high - low for low, high in (axes.get_xlim(), axes.get_ylim())]
    assert spans[0] == pytest.approx(spans[1])  # distances are true


def test_examples_are_far_apart_and_distinct() -> None:
    square = np.array([(0, 0), (0.1, 0), (1, 0), (0, 1), (1, 1.01), (0.5, 0.5)], dtype=float)
    assert spread_out(square, 5) == [4, 0, 2, 3, 5]
    assert sorted(spread_out(np.zeros((4, 2)), 9)) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("wanted", "gap", "expected"),
    [
        ([], 1, []),
        ([5], 1, [5]),
        ([5, 5], 2, [4, 6]),
        ([9, 1, 1], 2, [9, 0, 2]),
        ([10, 10], 2, [8, 10]),
        ([0, 0, 0], 20, [0, 5, 10]),
    ],
)
def test_places_are_apart_and_near_where_they_are_wanted(
    wanted: list[float], gap: float, expected: list[float]
) -> None:
    assert style.spread(wanted, gap, 0, 10) == pytest.approx(expected)


def test_texts_are_joined_and_wrapped() -> None:
    assert readable(["ein", "mann", ",", "der", "\t", "3,5", "m", "misst", "."]) == (
        "ein mann, der ␣ 3,5 m misst."
    )
    assert wrapped("ein mann mit einem orangefarbenen hut starrt", 2) == (
        "ein mann mit einem\norangefarbenen hut starrt"
    )
    assert wrapped("ein mann mit einem orangefarbenen hut starrt", 1) == "ein mann mit einem …"
