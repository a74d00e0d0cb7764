"""What the results were made in, beside what is pinned and what is installed here."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from nmt.audit.findings import Check, Link, Status
from nmt.audit.tree import Project
from nmt.corpus.tokens import read_tokenizer
from nmt.errors import DataError
from nmt.provenance import names
from nmt.provenance.environment import requirements_sha256, versions

REQUIREMENTS = "requirements.lock"

WATCHED = ("torch", "spacy", "sentencepiece", "sacrebleu", "numpy")
"""Packages of which another version may give another result."""


_SPLITTING = ("spacy", "sentencepiece")  # those that a tokenizer's description may name


def pins(content: str) -> dict[str, str]:
    """Return name and version of each package that a requirements.lock pins."""
    return {
        name.lower(): version
        for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", content, re.MULTILINE)
    }


def check_requirements(links: Sequence[Link], project: Project) -> Link:
    """Return the link for requirements.lock: is it the one that the results were made with?

    Args:
        links: those whose run may be known.
        project: its files.
    """
    link = Link("pinned environment", REQUIREMENTS)
    now = requirements_sha256(project.root)
    runs = [one for one in links if names.REQUIREMENTS in one.environment]
    other = [one for one in runs if one.environment[names.REQUIREMENTS] != now]
    if other:
        stages = ", ".join(one.stage for one in other[:3])
        more = f" and {len(other) - 3} more" if len(other) > 3 else ""
        link.add(
            Check.ENVIRONMENT,
            Status.BROKEN,
            f"{REQUIREMENTS} is not the one that {stages}{more} ran with"
            + _changed_pins(other[0], project),
        )
    if runs and not other:
        link.add(
            Check.ENVIRONMENT, Status.OK, f"the one that the {len(runs)} runs found were made with"
        )
    if not runs:
        link.add(
            Check.ENVIRONMENT,
            Status.MARKED,
            "no run here tells with which the results were made",
        )
    if REQUIREMENTS in project.changed("HEAD"):
        link.add(Check.ENVIRONMENT, Status.MARKED, "not as in the last commit")
    return link


def _changed_pins(link: Link, project: Project) -> str:
    """Name the pins that changed since a link's run, as far as its commit tells."""
    old = project.committed(REQUIREMENTS, link.environment.get(names.COMMIT, "HEAD"))
    if old is None:
        return ""
    now, then = _pinned(project.root), pins(old.decode())
    changed = [
        f"{name} was {then.get(name, 'not pinned')}, now {now.get(name, 'not pinned')}"
        for name in sorted(now.keys() | then.keys())
        if now.get(name) != then.get(name)
    ]
    return f"; {', '.join(changed[:3])}" if changed else ""


def mark_versions(link: Link, project: Project) -> None:
    """Mark a link whose run had other versions, another device or other threads than it should."""
    pinned = _pinned(project.root)
    installed = versions()
    run = {
        key.removeprefix(names.VERSION): value
        for key, value in link.environment.items()
        if key.startswith(names.VERSION)
    }
    found = list(_unlike(run, pinned, installed))
    for text in [*found, *_computed(link)]:
        link.add(Check.ENVIRONMENT, Status.MARKED, text)
    if run and not found:
        told = ", ".join(f"{name} {run[name]}" for name in WATCHED if name in run)
        link.add(Check.ENVIRONMENT, Status.OK, f"made with the versions pinned and here: {told}")


def mark_tokenizer(link: Link, project: Project) -> None:
    """Mark tokens that another version of spaCy, or of sentencepiece, made."""
    try:
        described = read_tokenizer(project.root / link.path)
    except (DataError, ValueError, TypeError):
        return  # missing or damaged: told by its bytes
    made = {name: version for name, version in described.items() if name in _SPLITTING}
    if not made:
        return
    found = list(_unlike(made, _pinned(project.root), versions()))
    for text in found:
        link.add(Check.ENVIRONMENT, Status.MARKED, text)
    if not found:
        told = ", ".join(f"{name} {version}" for name, version in made.items())
        link.add(Check.ENVIRONMENT, Status.OK, f"made with {told}, as pinned and here")


def _unlike(
    made: dict[str, str], pinned: dict[str, str], installed: dict[str, str]
) -> Iterator[str]:
    for name in WATCHED:
        version = made.get(name)
        if version is None:
            continue
        for what, other in (("pinned", pinned.get(name)), ("installed here", installed.get(name))):
            if other is not None and public(other) != public(version):
                yield f"made with {name} {version}; {what} is {other}"


def public(version: str) -> str:
    """Return a version without what tells its build, such as +cpu."""
    return version.partition("+")[0]


def _computed(link: Link) -> Iterator[str]:
    wanted, threads = link.params.get("compute.device"), link.params.get("compute.threads")
    device = link.environment.get(names.DEVICE)
    if device is None or wanted is None:
        return
    if wanted == "auto":
        yield f"compute.device is auto, which was {device}; a result should name its device"
    elif not device.startswith(wanted):
        yield f"made on {device}, though compute.device is {wanted}"
    used = link.environment.get(names.THREADS)
    if used is not None and threads is not None and used != threads:
        yield f"made with {used} threads, though compute.threads is {threads}"


def _pinned(root: Path) -> dict[str, str]:
    try:
        return pins((root / REQUIREMENTS).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return {}
