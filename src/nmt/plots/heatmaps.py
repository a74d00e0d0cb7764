"""The layout of heat maps: a cell and a label for every token, measured, nothing cut off."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from numpy.typing import NDArray

from nmt.plots import style

# Inches.
_WIDEST = 8.8  # of maps side by side; a longer sentence has its maps one below the other
_CELL_WIDTH, _CELL_HEIGHT = 0.19, 0.172
_PAD = 0.06  # between cells and labels
_MARGIN = 0.12  # at the edges of the picture, and between maps
_NAME = 0.32  # a model's name over its map
_BAR = 0.62  # below all maps: the colour bar with its ticks
_CORNER = 0.4  # what the names of the languages need
_SLANT = 60  # degrees; of the source tokens


@dataclass(frozen=True)
class HeatMap:
    """The attention of one model in one sentence.

    Args:
        model: its name.
        columns: the S source tokens, as they are shown.
        rows: the T output tokens, as they are shown.
        weights: (T,S), from 0 to 1.
    """

    model: str
    columns: list[str]
    rows: list[str]
    weights: NDArray[np.float32]


@dataclass(frozen=True)
class _Box:
    """How much room a map of S columns needs, in inches: its cells, and labels around them."""

    left: float
    cells: float
    right: float
    top: float

    @property
    def width(self) -> float:
        return self.left + self.cells + self.right + _MARGIN


def heat_map_figure(maps: list[HeatMap], languages: tuple[str, str]) -> Figure:
    """Return one picture: a map for each model, side by side where they fit, one colour bar.

    Args:
        maps: of one sentence, so all have the same source.
        languages: codes of the source and the target, for the axes.
    """
    box = _measure(maps)
    columns = min(len(maps), max(1, int((_WIDEST - _MARGIN) / box.width)))
    lines = [maps[i : i + columns] for i in range(0, len(maps), columns)]
    heights = [max(len(m.rows) for m in line) * _CELL_HEIGHT for line in lines]
    width = max(columns * box.width + _MARGIN, 3.4)
    height = sum(heights) + len(lines) * (_NAME + box.top + _MARGIN) + _BAR
    figure = Figure(figsize=(width, height))
    ceiling = height  # inches from the bottom
    for line, tallest in zip(lines, heights, strict=True):
        ceiling -= _NAME + box.top
        for i, one in enumerate(line):
            left = _MARGIN + i * box.width + box.left
            tall = len(one.rows) * _CELL_HEIGHT
            place = (left / width, (ceiling - tall) / height, box.cells / width, tall / height)
            _draw(figure.add_axes(place), one, languages, box)
        ceiling -= tallest + _MARGIN
    _draw_bar(figure, _MARGIN + box.left)
    return figure


def _measure(maps: list[HeatMap]) -> _Box:
    columns = maps[0].columns
    slant = math.radians(_SLANT)
    widths = style.text_widths(columns)
    cells = len(columns) * _CELL_WIDTH
    ends = [(i + 0.6) * _CELL_WIDTH + w * math.cos(slant) for i, w in enumerate(widths)]
    names = style.text_widths([one.model for one in maps], style.TITLE_SIZE, "bold")
    left = max(_CORNER, *style.text_widths([t for one in maps for t in one.rows])) + _PAD
    return _Box(
        left=left,
        cells=cells,
        right=max(0.0, max(ends) - cells, max(names) - left - cells),
        top=max(widths) * math.sin(slant) + style.FONT_SIZE / 72 + _PAD,
    )


def _draw(axes: Axes, one: HeatMap, languages: tuple[str, str], box: _Box) -> None:
    rows, columns = one.weights.shape
    axes.imshow(one.weights, cmap=style.AMOUNT, vmin=0, vmax=1, aspect="auto",
                interpolation="nearest")  # fmt: skip
    axes.set_xticks(
        range(columns), one.columns, rotation=_SLANT, ha="left", va="baseline",
        rotation_mode="anchor", color=style.INK,
    )  # fmt: skip
    axes.set_yticks(range(rows), one.rows, color=style.INK)
    axes.tick_params(which="both", length=0, pad=_PAD * 72, labeltop=True, labelbottom=False)
    axes.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    axes.grid(which="minor", color=style.RULE, lw=0.5)
    axes.tick_params(which="minor", top=False, bottom=False, left=False, right=False)
    axes.spines[:].set_visible(False)
    _note(axes, one.model, -box.left, box.top, weight="bold", size=style.TITLE_SIZE)
    source, target = languages
    for text, line in ((f"{target} ↓", 0), (f"{source} →", 1)):
        _note(axes, text, -_PAD, _PAD + line * 0.15, ha="right", color=style.SOFT)


def _note(axes: Axes, text: str, right: float, up: float, **look: Any) -> None:
    """Write text at a distance, in inches, from the top left corner of the cells."""
    axes.annotate(
        text, xy=(0, 1), xycoords="axes fraction", xytext=(right * 72, up * 72),
        textcoords="offset points", va="bottom", **look,
    )  # fmt: skip


def _draw_bar(figure: Figure, left: float) -> None:
    width, height = figure.get_size_inches()
    length = min(2.0, width - left - 1.3)
    axes = figure.add_axes((left / width, 0.34 / height, length / width, 0.1 / height))
    colours = ScalarMappable(cmap=style.AMOUNT)
    colours.set_clim(0, 1)
    bar = figure.colorbar(colours, cax=axes, orientation="horizontal", ticks=[0, 0.5, 1])
    bar.outline.set_linewidth(0.5)
    axes.tick_params(length=2, pad=2)
    axes.annotate(
        "attention weight", xy=(1, 0.5), xycoords="axes fraction", xytext=(8, 0),
        textcoords="offset points", va="center", color=style.SOFT,
    )  # fmt: skip
