"""An audit as one page that needs nothing but itself."""

from dataclasses import dataclass
from pathlib import Path

import jinja2

import nmt.report
from nmt.audit.findings import Audit, Figure, Link, Status, first_bad
from nmt.audit.text import shown_environment, verdict
from nmt.ensembles import ENSEMBLE
from nmt.report.page import signed

_TEMPLATES = Path(__file__).parent / "templates"
_REPORT = Path(nmt.report.__file__).parent / "templates"  # its style sheet is this page's too

CLASSES = {
    Status.OK: "ok",
    Status.MARKED: "marked",
    Status.UNKNOWN: "unknown",
    Status.BROKEN: "broken",
}

SHARED = ("record", "record of runs", "pinned environment")


@dataclass(frozen=True)
class Chain:
    """The figures of one model and seed, or of an ensemble, which hang on the same links.

    Args:
        name: model and seed.
        links: from the source archives to the table.
        figures: in the order of the table.
        broken: the first link that is broken or can't be told; None if all hold.
    """

    name: str
    links: tuple[Link, ...]
    figures: tuple[Figure, ...]
    broken: Link | None


def as_html(audit: Audit) -> str:
    """Return the audit as an HTML page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([_TEMPLATES, _REPORT]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    numbers = {id(link): number for number, link in enumerate(audit.links, 1)}
    environment.filters.update(
        signed=signed,
        css=lambda status: CLASSES[status],
        anchor=lambda link: f"link-{numbers[id(link)]}",
        environment=shown_environment,
    )
    return environment.get_template("audit.html.j2").render(
        audit=audit,
        verdict=verdict(audit),
        shared=[link for link in audit.links if _shared(link)],
        chains=chains(audit),
        counts=[(status, audit.count(status)) for status in Status],
    )


def chains(audit: Audit) -> list[Chain]:
    """Return the figures by model and seed."""
    grouped: dict[str, list[Figure]] = {}
    for figure in audit.figures:
        seed = figure.seed if figure.seed == ENSEMBLE else f"seed {figure.seed}"
        grouped.setdefault(f"{figure.model}, {seed}", []).append(figure)
    return [
        Chain(
            name,
            tuple(link for link in figures[0].chain if not _shared(link)),
            tuple(figures),
            first_bad(figures[0].chain),
        )
        for name, figures in grouped.items()
    ]


def _shared(link: Link) -> bool:
    """Tell whether a link is what all others are compared with, and no step of a chain."""
    return link.kind in SHARED
