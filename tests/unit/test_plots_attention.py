"""Heat maps: every token labelled, nothing else drawn, all of it readable."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from nmt.plots import style
from nmt.plots.attention import draw_attention
from nmt.plots.gallery import Gallery
from nmt.plots.heatmaps import HeatMap, heat_map_figure
from nmt.plots.job import Job
from nmt.translations import read_attention
from tests.unit.plot_world import (
    OUTPUTS,
    SOURCES,
    TEST,
    assert_readable,
    make_job,
    make_world,
    random_weights,
    written,
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a world without pictures; not to be changed."""
    return make_world(tmp_path_factory.mktemp("world"))


class Kept(Gallery):
    """Keeps figures instead of saving them."""

    def __init__(self) -> None:
        super().__init__(Path(), 100)
        self.figures: dict[str, Figure] = {}

    def add(self, name: str, figure: Figure, title: str, alt: str) -> None:
        self.figures[name] = figure
        self.captions[name] = {"title": title, "alt": alt}


def attention_of(job: Job) -> Kept:
    kept = Kept()
    with style.applied():
        draw_attention(job, kept)
    return kept


def test_every_token_of_a_sentence_is_labelled_and_nothing_else(world: Path) -> None:
    figures = attention_of(make_job(world)).figures
    assert list(figures) == [f"{TEST}-000{n}" for n in (1, 2, 3, 5)]
    for number, name in zip((1, 2, 3, 5), figures, strict=True):
        source, output = SOURCES[number - 1], OUTPUTS[number - 1]
        maps = figures[name].axes[:-1]
        for axes in maps:
            columns = [label.get_text() for label in axes.get_xticklabels()]
            rows = [label.get_text() for label in axes.get_yticklabels()]
            assert columns == [*(t if t.strip() else "␣␣" for t in source), "<eos>"]
            assert rows == [*output, *(["<eos>"] if number != 3 else [])]
            assert axes.images[0].get_array().shape == (len(rows), len(columns))  # type: ignore[union-attr]
        assert_readable(figures[name])


def test_models_with_attention_share_a_picture_and_one_colour_bar(world: Path) -> None:
    (figure,) = attention_of(make_job(world, attention_sentences=[1])).figures.values()
    names = [text.get_text() for text in written(figure)]
    assert [name for name in names if name in ("baseline", "additive", "fed_back")] == [
        "additive",
        "fed_back",
    ]
    assert names.count("attention weight") == 1
    assert len(figure.axes) == 2 + 1
    assert {axes.images[0].get_clim() for axes in figure.axes[:2]} == {(0, 1)}


def test_the_top_layer_is_drawn_where_there_are_several(world: Path) -> None:
    (figure,) = attention_of(make_job(world, attention_sentences=[1])).figures.values()
    weights = read_attention(world / "translations/fed_back/1/attention", TEST)[0]
    drawn = np.asarray(figure.axes[1].images[0].get_array())
    assert np.array_equal(drawn, weights[-1]) and not np.array_equal(drawn, weights[0])


def test_captions_name_the_strongest_source_token(world: Path) -> None:
    captions = attention_of(make_job(world, {"models": ["additive"]})).captions
    strongest = read_attention(world / "translations/additive/1/attention", TEST)[0][0].argmax(1)
    source = [*SOURCES[0], "<eos>"]
    assert (
        f"additive: two from {source[strongest[0]]}, girls from {source[strongest[1]]}, "
        in (captions[f"{TEST}-0001"]["alt"])
    )
    assert captions[f"{TEST}-0001"]["title"] == f"{TEST}, sentence 1: zwei mädchen grüßen ."


def test_a_grid_without_attention_has_no_heat_maps(world: Path) -> None:
    assert attention_of(make_job(world, {"models": ["baseline"]})).figures == {}


@pytest.mark.parametrize(("tokens", "maps"), [(1, 1), (3, 4), (12, 2), (12, 5), (30, 3), (75, 1)])
def test_heat_maps_of_any_size_can_be_read(tokens: int, maps: int) -> None:
    rng = np.random.default_rng(tokens)
    words = ["straßenbahnhaltestelle", "größe", ".", "äöüß", "ein", "$x$", "hinübergegangen"]
    columns = [words[i % len(words)] for i in range(tokens)]
    rows = [words[::-1][i % len(words)] for i in range(tokens + 2)]
    many = [
        HeatMap(f"a_model_of_name_{n}", columns, rows[:count], random_weights(rng, count, tokens))
        for n, count in ((n, tokens + n % 2) for n in range(maps))
    ]
    with style.applied():
        figure = heat_map_figure(many, ("de", "en"))
        assert_readable(figure)
    assert len(figure.axes) == maps + 1
    heights = {round(axes.bbox.height / len(axes.get_yticks()), 2) for axes in figure.axes[:-1]}
    assert len(heights) == 1  # cells are of one size
    assert tokens > 30 or figure.get_figwidth() <= 9


@pytest.mark.parametrize(
    ("token", "drawn"),
    [("süß", "süß"), (" ", "␣"), ("\t\u00a0", "␣␣"), ("$5$", "$5$"), ("x" * 40, "x" * 27 + "…")],
)
def test_tokens_as_they_are_drawn(token: str, drawn: str) -> None:
    assert style.shown(token) == drawn
