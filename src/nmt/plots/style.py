"""One look for all pictures, and what keeps their bytes the same.

The settings of matplotlib are its own defaults and those below, never the user's. Its own copy
of DejaVu Sans, which has umlauts and the sign for a space, draws all text.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.font_manager import FontProperties
from sklearn.isotonic import isotonic_regression

INK = "#1d2428"
SOFT = "#5a666e"
RULE = "#d9dedf"
FONT_SIZE = 8.5
"""Points; the pictures are 8 inches wide at most, so it can be read on a phone."""
TITLE_SIZE = 9.5
"""Points; of the names of models and panels, in bold."""
WIDTH = 8.0
"""Inches that a picture is wide, unless its sentences are very long."""

# Neighbours differ in lightness too, so they are told apart without colour.
_MODELS = ("#58646c", "#0f7c86", "#d8731f", "#5b3a94", "#c9a100", "#a01f4b")
_DASHES = ("-", "--", ":", "-.")

AMOUNT = LinearSegmentedColormap.from_list("amount", ["#ffffff", "#8fc3c4", "#1f6f78", "#0a3338"])
"""None to all: white to dark, one hue."""
LENGTH = LinearSegmentedColormap.from_list("length", ["#f0b35a", "#a9a37c", "#1f6f78", "#0a3338"])
"""Low to high where white would be lost on the paper."""

_RC = {
    "font.family": "DejaVu Sans",
    "font.size": FONT_SIZE,
    "text.color": INK,
    "text.parse_math": False,  # a token may hold "$"
    "axes.edgecolor": SOFT,
    "axes.labelcolor": SOFT,
    "axes.labelsize": FONT_SIZE,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": TITLE_SIZE,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelsize": FONT_SIZE,
    "ytick.labelsize": FONT_SIZE,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
}


@contextmanager
def applied() -> Iterator[None]:
    """Draw with this look and nothing of the user's own settings."""
    # To name a backend, even the default, could load one.
    values: dict[Any, Any] = {k: v for k, v in matplotlib.rcParamsDefault.items() if k != "backend"}
    with matplotlib.rc_context(values | _RC):
        yield


class Line(NamedTuple):
    """How the lines of one model look."""

    colour: str
    dashes: str


def model_line(number: int) -> Line:
    """Return the look of the n-th model of the grid, counted from 0."""
    turn, colour = divmod(number, len(_MODELS))
    return Line(_MODELS[colour], _DASHES[turn % len(_DASHES)])


def shown(token: str) -> str:
    """Return a token as it is drawn: white space as ␣, a very long one shortened."""
    if token.isspace():
        return "␣" * len(token)
    return shortened(token, 28)


def shortened(text: str, length: int) -> str:
    """Return text of `length` characters at most; "…" stands for what is left out."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def text_widths(
    texts: Sequence[str], size: float = FONT_SIZE, weight: str = "normal"
) -> list[float]:
    """Return how wide each text is drawn, in inches."""
    dpi = 300
    renderer = RendererAgg(1, 1, dpi)  # type: ignore[no-untyped-call]
    font = FontProperties(family=["DejaVu Sans"], size=size, weight=weight)
    sizes = [renderer.get_text_width_height_descent(t, font, False) for t in texts]  # type: ignore[no-untyped-call]
    return [float(width) / dpi for width, _, _ in sizes]


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return places that are `gap` apart, each as near as can be to where it is wanted.

    Args:
        wanted: in any order; the places come in the same order.
        gap: between neighbours; less where there is no room.
        low: least place.
        high: greatest place.
    """
    if not wanted:
        return []
    order = np.argsort(wanted, kind="stable")
    gap = min(gap, (high - low) / max(len(wanted) - 1, 1))
    steps = np.arange(len(wanted)) * gap
    free = isotonic_regression(np.asarray(wanted)[order] - steps, y_min=low, y_max=high - steps[-1])
    places = np.empty(len(wanted))
    places[order] = free + steps
    return [float(place) for place in places]


def label_ends(axes: Axes, ends: Sequence[tuple[str, str, float, float]]) -> None:
    """Write names right of where their lines end, without overlap.

    Args:
        axes: its limits are final.
        ends: name, colour, and x and y of the line's end.
    """
    low, high = axes.get_ylim()
    height = axes.get_window_extent().height / axes.figure.dpi  # inches
    gap = (high - low) * FONT_SIZE * 1.25 / 72 / height
    places = spread([y for *_, y in ends], gap, low, high)
    right = axes.get_xlim()[1]
    for (name, colour, x, y), place in zip(ends, places, strict=True):
        axes.annotate(
            name,
            xy=(x, y),
            xytext=(right + (right - axes.get_xlim()[0]) * 0.05, place),
            color=colour,
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.5, "alpha": 0.6,
                        "shrinkA": 1, "shrinkB": 4, "relpos": (0, 0.5)},
        )  # fmt: skip
