"""The picture of the results: bars of what is compared, with their spread."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from benchmarks.figures import RATIO, Figure
from benchmarks.results import Results
from nmt.files import replacing
from nmt.plots import style

DPI = 110
PANELS = (
    ("training", "target tokens/s", "Training, target tokens a second"),
    ("decoding", "sentences/s", "Decoding, sentences a second"),
    ("threads", "target tokens/s", "Threads, target tokens a second"),
    ("tokenization", "sentences/s", "Tokenization, sentences a second"),
    ("growth", RATIO, "Cost as the work grows, to the least"),
)
"""Part and unit of the figures in each panel, and its title."""

_BAR, _GAP = 0.2, 0.75  # inches of a bar with its space, and of what lies between two panels


def draw(results: Results, path: Path) -> None:
    """Draw a panel for each part that was measured; nothing if there is none."""
    panels = [
        (title, [f for f in results.parts.get(part, []) if f.unit == unit])
        for part, unit, title in PANELS
    ]
    panels = [(title, found) for title, found in panels if found]
    if not panels:
        return
    with style.applied(), replacing(path) as temporary:
        _picture(panels).savefig(temporary, dpi=DPI, format="png", metadata={"Software": None})


def _picture(panels: list[tuple[str, list[Figure]]]) -> Picture:
    heights = [_BAR * len(found) for _, found in panels]
    whole = sum(heights) + _GAP * len(panels)
    picture = Picture(figsize=(style.WIDTH, whole))
    keys = [f.key for _, found in panels for f in found]
    left = (max(style.text_widths(keys)) + 0.25) / style.WIDTH
    top = whole
    for (title, found), height in zip(panels, heights, strict=True):
        top -= 0.35
        axes = picture.add_axes((left, (top - height) / whole, 0.93 - left, height / whole))
        _bars(axes, title, found)
        top -= height + _GAP - 0.35
    return picture


def _bars(axes: Axes, title: str, found: list[Figure]) -> None:
    places = range(len(found))
    axes.set_title(title)
    axes.barh(places, [f.value for f in found], height=0.62, color=style.model_line(1).colour)
    for place, f in zip(places, found, strict=True):
        axes.plot([f.low, f.high], [place, place], color=style.INK, lw=1.0)
        axes.annotate(
            f"{f.value:,.3g}" if f.value < 1000 else f"{f.value:,.0f}",
            (max(f.value, f.high), place), xytext=(4, 0), textcoords="offset points", va="center",
        )  # fmt: skip
    axes.set_yticks(list(places), [f.key for f in found])
    axes.set_ylim(len(found) - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.grid(axis="x")
    axes.set_axisbelow(True)
