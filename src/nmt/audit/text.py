"""An audit as text and as JSON."""

import json
import textwrap
from collections.abc import Iterator
from typing import Any

from nmt.audit.findings import Audit, Figure, Link, Status, first_bad
from nmt.provenance import names
from nmt.provenance.environment import PACKAGES

_WIDTH = 100


def verdict(audit: Audit) -> str:
    """Say in one sentence how it ended."""
    first = audit.first
    n = len(audit.figures)
    if first is None:
        marked = audit.count(Status.MARKED)
        return (
            f"All {n} figures hold: every link from the table to the source archives is right"
            + (f" ({marked} marked, see below)" if marked else "")
        )
    if audit.status == Status.BROKEN:
        return f"The first link that breaks is the {first.title}: {first.worst().text}"
    return f"The first link that can't be checked is the {first.title}: {first.worst().text}"


def as_text(audit: Audit) -> str:
    """Return the audit for a terminal."""
    lines = [
        f"Audit of {audit.project}, {audit.state}",
        f"Verdict: {audit.status.label}. {verdict(audit)}",
        "",
        "Links, from the source on. Each was made from those above it.",
    ]
    for link in audit.links:
        lines += ["", *_link_lines(link)]
    lines += ["", "Figures of reports/bleu.csv"]
    lines += [_figure_line(figure) for figure in audit.figures]
    return "\n".join(lines) + "\n"


def _link_lines(link: Link) -> Iterator[str]:
    yield f"[{link.status.label}] {link.title}"
    for finding in sorted(link.findings, key=lambda finding: -finding.status):
        sign = "" if finding.status == Status.OK else f"{finding.status.label}: "
        yield from _wrapped(f"{finding.check}: {sign}{finding.text}")
    if link.code:
        yield from _wrapped(f"code: {', '.join(link.code)}")
    if link.params:
        yield from _wrapped(f"params: {shown_params(link.params)}")
    if link.environment:
        yield from _wrapped(f"made in: {shown_environment(link.environment)}")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text,
        width=_WIDTH,
        initial_indent="    ",
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def shown_params(params: dict[str, str]) -> str:
    """Return params in one line; the pinned files of the corpus are counted."""
    files = [key for key in params if key.startswith("data.files.")]
    told = [f"{key}={value}" for key, value in params.items() if key not in files]
    return ", ".join(told + ([f"data.files ({len(files)} values)"] if files else []))


def shown_environment(environment: dict[str, str]) -> str:
    """Return what a run tells of itself in one line."""
    versions = [
        f"{name} {environment[names.VERSION + name]}"
        for name in ("python", *PACKAGES)
        if names.VERSION + name in environment
    ]
    rest = {
        "run": environment.get("run", "")[:8],
        "commit": environment.get(names.COMMIT, "")[:10],
        "device": environment.get(names.DEVICE, ""),
        "threads": environment.get(names.THREADS, ""),
        "cpu": environment.get(names.MACHINE + "cpu", ""),
        "system": environment.get(names.MACHINE + "system", ""),
    }
    return ", ".join([*(f"{key} {value}" for key, value in rest.items() if value), *versions])


def _figure_line(figure: Figure) -> str:
    line = f"    [{figure.status.label}] {figure.name} {figure.score or 'missing'}"
    bad = first_bad(figure.chain)
    return f"{line}: {bad.title}" if bad else line


def as_json(audit: Audit) -> str:
    """Return the audit as strict JSON; links are named by their titles."""
    first = audit.first
    content = {
        "project": audit.project,
        "state": audit.state,
        "status": audit.status.name.lower(),
        "exit_code": audit.exit_code,
        "verdict": verdict(audit),
        "first": None if first is None else {"link": first.title, "finding": first.worst().text},
        "links": [_link_value(link) for link in audit.links],
        "figures": [_figure_value(figure) for figure in audit.figures],
    }
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def _link_value(link: Link) -> dict[str, Any]:
    return {
        "title": link.title,
        "kind": link.kind,
        "path": link.path,
        "stage": link.stage,
        "status": link.status.name.lower(),
        "findings": [
            {"check": str(f.check), "status": f.status.name.lower(), "text": f.text}
            for f in link.findings
        ],
        "code": link.code,
        "params": link.params,
        "environment": link.environment,
    }


def _figure_value(figure: Figure) -> dict[str, Any]:
    bad = first_bad(figure.chain)
    return {
        "model": figure.model,
        "seed": figure.seed,
        "test_set": figure.test,
        "metric": figure.metric,
        "score": figure.score,
        "signature": figure.signature,
        "status": figure.status.name.lower(),
        "first": bad.title if bad else None,
        "chain": [link.title for link in figure.chain],
    }
