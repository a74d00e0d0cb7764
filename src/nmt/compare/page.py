"""A comparison as one page of HTML that needs nothing but itself."""

from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from nmt.compare import Comparison
from nmt.compare.sentences import Attention
from nmt.compare.text import scaled, show_values, tests_line
from nmt.compare.verdict import signed
from nmt.report.quality import TITLES

_TEMPLATES = (
    Path(__file__).parent / "templates",
    Path(__file__).parent.parent / "report" / "templates",  # the report's style sheet
)
_CELL = 18
_LETTER = 7.6
_LONGEST = 18


def as_html(found: Comparison) -> str:
    """Return the page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        heat_map=heat_map,
        title=lambda name: TITLES.get(name, name),
        scaled=scaled,
        values=show_values,
        signed=signed,
        tests=tests_line,
    )
    return environment.get_template("compare.html.j2").render(found=found)


def heat_map(attention: Attention, title: str) -> Markup:
    """Draw attention as SVG: source across, output down, the darker the more.

    Args:
        attention: what is drawn.
        title: for those who do not see it.
    """
    columns = [_short(token) for token in attention.source]
    rows = [_short(token) for token in attention.output]
    left = max(map(len, rows)) * _LETTER + 8
    top = max(map(len, columns)) * _LETTER * 0.75 + 14
    right = len(columns[-1]) * _LETTER * 0.75 + 8  # slanting labels stand out to the right
    width, height = left + len(columns) * _CELL + right, top + len(rows) * _CELL + 4
    parts = [
        f'<svg class="heat" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'style="max-width:{width:.0f}px" role="img" aria-label="{escape(title)}">'
    ]
    for i, token in enumerate(columns):
        x, y = left + (i + 0.6) * _CELL, top - 5
        parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" transform="rotate(-45 {x:.1f} {y:.1f})">'
            f"{escape(token)}</text>"
        )
    for i, (token, weights) in enumerate(zip(rows, attention.weights, strict=True)):
        y = top + i * _CELL
        parts.append(
            f'<text x="{left - 5:.1f}" y="{y + 13:.1f}" text-anchor="end">{escape(token)}</text>'
        )
        for j, weight in enumerate(weights):
            parts.append(
                f'<rect x="{left + j * _CELL:.1f}" y="{y:.1f}" width="{_CELL - 1}" '
                f'height="{_CELL - 1}" fill-opacity="{weight:.3f}">'
                f"<title>{weight:.2f}</title></rect>"
            )
    return Markup("".join([*parts, "</svg>"]))


def _short(token: str) -> str:
    shown = token if token.strip() else "␣"
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
