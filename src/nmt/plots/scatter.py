"""A scatter plot whose examples are labelled at both sides, so that no two labels overlap."""

import textwrap
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from nmt.plots import style

# Inches.
_SIDE = 1.95  # columns of labels, left and right
_SQUARE = style.WIDTH - 2 * _SIDE
_FOOT, _HEAD = 0.85, 0.62
_LETTERS = 27  # characters a line of a label

Points = NDArray[np.float64]


@dataclass(frozen=True)
class Cloud:
    """Sentences as points.

    Args:
        name: of the model.
        points: (N,2).
        variance: share of the whole variance along each axis.
        texts: one a point.
        lengths: tokens of each sentence.
    """

    name: str
    points: Points
    variance: tuple[float, float]
    texts: list[str]
    lengths: list[int]


def scatter_figure(cloud: Cloud, labelled: int, note: str) -> Figure:
    """Return a scatter plot, coloured by sentence length.

    Args:
        cloud: the points.
        labelled: how many are labelled with their text.
        note: stands over the plot.
    """
    height = _SQUARE + _FOOT + _HEAD
    figure = Figure(figsize=(style.WIDTH, height))
    axes = figure.add_axes(
        (_SIDE / style.WIDTH, _FOOT / height, _SQUARE / style.WIDTH, _SQUARE / height)
    )
    _frame(axes, cloud)
    x, y = cloud.points.T
    axes.scatter(x, y, c=cloud.lengths, cmap=style.LENGTH, s=17, lw=0.4, edgecolors="white",
                 clip_on=False, zorder=2)  # fmt: skip
    _label(axes, cloud, spread_out(cloud.points, labelled))
    _draw_bar(figure, axes)
    up = 1 - 0.07 / height
    figure.text(0.12 / style.WIDTH, up, cloud.name, va="top", weight="bold", size=style.TITLE_SIZE)
    figure.text(0.12 / style.WIDTH, up - 0.2 / height, note, va="top", color=style.SOFT)
    return figure


def spread_out(points: Points, count: int) -> list[int]:
    """Return `count` points that lie far from each other (N,2), by their numbers.

    The first is the one farthest from the middle; each next is the one whose distance to those
    already taken is greatest (ties: the first in order).
    """
    taken: list[int] = []
    gaps = np.linalg.norm(points - points.mean(axis=0), axis=1)
    for _ in range(min(count, len(points))):
        number = int(gaps.argmax())
        distances = np.linalg.norm(points - points[number], axis=1)
        gaps = np.minimum(gaps, distances) if taken else distances
        gaps[[*taken, number]] = -1.0  # also where points coincide, none is taken twice
        taken.append(number)
    return taken


def _frame(axes: Axes, cloud: Cloud) -> None:
    """Give both axes one scale: the points keep their distances."""
    low, high = cloud.points.min(axis=0), cloud.points.max(axis=0)
    middle, half = (low + high) / 2, max(float((high - low).max()) * 0.54, 1e-6)
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half, middle[1] + half)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color(style.RULE)
    first, second = cloud.variance
    axes.set_xlabel(f"component 1 ({percent(first)} of variance) →", loc="right")
    axes.set_ylabel(
        f"↑ component 2 ({percent(second)} of variance)", rotation=0, ha="left", va="bottom"
    )
    axes.yaxis.set_label_coords(0, 1.01)


def _label(axes: Axes, cloud: Cloud, numbers: list[int]) -> None:
    """Write texts left and right of the square, at the height of their points if there is room."""
    by_x = sorted(numbers, key=lambda i: (cloud.points[i, 0], i))
    half = len(by_x) // 2
    for side, own in ((0, by_x[:half]), (1, by_x[half:])):
        own.sort(key=lambda i: (cloud.points[i, 1], i))
        lines = 3 if len(own) <= 7 else 2 if len(own) <= 10 else 1
        low, high = axes.get_ylim()
        wanted = [float((cloud.points[i, 1] - low) / (high - low)) for i in own]
        gap = style.FONT_SIZE * (1.25 * lines + 0.6) / 72 / _SQUARE
        places = style.spread(wanted, gap, gap / 2, 1 - gap / 2)
        for i, place in zip(own, places, strict=True):
            _write(axes, cloud.points[i], wrapped(cloud.texts[i], lines), side, place)
    chosen = cloud.points[numbers]
    axes.scatter(chosen[:, 0], chosen[:, 1], s=30, facecolors="none", edgecolors=style.INK,
                 lw=0.9, clip_on=False, zorder=3)  # fmt: skip


def percent(share: float) -> str:
    """Return a share in words."""
    return f"{share * 100:.1f} %"


def wrapped(text: str, lines: int) -> str:
    """Return text in so many lines at most; "…" stands for what is left out."""
    return "\n".join(textwrap.wrap(text, _LETTERS, max_lines=lines, placeholder=" …"))


def _write(axes: Axes, point: Points, text: str, side: int, place: float) -> None:
    axes.annotate(
        text,
        xy=(float(point[0]), float(point[1])),
        xytext=(side + (0.035 if side else -0.035), place),
        textcoords="axes fraction",
        ha="left" if side else "right",
        va="center",
        linespacing=1.15,
        annotation_clip=False,
        arrowprops={"arrowstyle": "-", "color": style.SOFT, "lw": 0.5, "alpha": 0.75,
                    "shrinkA": 0, "shrinkB": 3.2, "relpos": (1 - side, 0.5)},
        zorder=1,
    )  # fmt: skip


def _draw_bar(figure: Figure, axes: Axes) -> None:
    width, height = figure.get_size_inches()
    bar_axes = figure.add_axes((_SIDE / width, 0.3 / height, 1.5 / width, 0.09 / height))
    bar = figure.colorbar(axes.collections[0], cax=bar_axes, orientation="horizontal")
    bar.outline.set_linewidth(0)
    bar.locator = MaxNLocator(4, integer=True, min_n_ticks=1)
    bar_axes.tick_params(length=2, pad=2)
    bar_axes.annotate(
        "tokens in the source", xy=(1, 0.5), xycoords="axes fraction", xytext=(8, 0),
        textcoords="offset points", va="center", color=style.SOFT,
    )  # fmt: skip
