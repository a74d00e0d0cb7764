"""A small chart drawn as SVG inside the page: sharp on any screen, and dark where the page is."""

from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 520, 250
LEFT, RIGHT, TOP, BOTTOM = 52, 8, 12, 44
"""In units of the drawing; room for the labels of both axes."""


def length_chart(lengths: Mapping[str, Sequence[int]], longest: int, title: str) -> str:
    """Draw how many sentences have how many tokens, one outline a language.

    Args:
        lengths: name of each language (two at most), and the length of each sentence.
        longest: the last column holds all sentences of this length and above.
        title: what a screen reader says.

    Returns:
        an <svg> element; its colours come from the page's style sheet.
    """
    counts = {name: _count(values, longest) for name, values in lengths.items()}
    top = max(1, *(max(c) for c in counts.values()))
    step = _round_step(top)
    parts = [_grid(top, step), _axis(longest)]
    for i, (name, values) in enumerate(counts.items(), 1):
        parts.append(f'<path class="side{i}" d="{_outline(values, top)}"/>')
        parts.append(_legend(i, name))
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        + "".join(parts)
        + "</svg>"
    )


def _count(lengths: Sequence[int], longest: int) -> list[int]:
    counts = [0] * (longest + 1)
    for length in lengths:
        counts[min(length, longest)] += 1
    return counts


def _round_step(top: int) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, ... that makes at most five lines."""
    size = 1
    while True:
        for factor in (1, 2, 5):
            if factor * size * 5 >= top:
                return factor * size
        size *= 10


def _x(position: float, columns: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * position / columns


def _y(count: float, top: int) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * count / top


def _outline(counts: Sequence[int], top: int) -> str:
    points = [f"M{_x(0, len(counts)):.1f} {_y(0, top):.1f}"]
    for i, count in enumerate(counts):
        points.append(f"V{_y(count, top):.1f}H{_x(i + 1, len(counts)):.1f}")
    return "".join(points) + f"V{_y(0, top):.1f}Z"


def _grid(top: int, step: int) -> str:
    lines = []
    for count in range(0, top + 1, step):
        y = _y(count, top)
        lines.append(f'<path class="rule" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{count:,}</text>')
    return "".join(lines)


def _axis(longest: int) -> str:
    step = max(1, _round_step(longest))
    labels = [
        f'<text x="{_x(n + 0.5, longest + 1):.1f}" y="{HEIGHT - BOTTOM + 16}" '
        f'text-anchor="middle">{n}{"+" if n == longest else ""}</text>'
        for n in range(0, longest + 1, step)
    ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    labels.append(
        f'<text x="{middle:.1f}" y="{HEIGHT - 6}" text-anchor="middle">tokens in a sentence</text>'
    )
    return "".join(labels)


def _legend(i: int, name: str) -> str:
    x, y = WIDTH - 110, TOP + 6 + 20 * (i - 1)
    return (
        f'<rect class="side{i}" x="{x}" y="{y}" width="14" height="12"/>'
        f'<text x="{x + 20}" y="{y + 11}">{escape(name)}</text>'
    )
