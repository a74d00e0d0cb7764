"""What an audit finds: findings on links, links in chains, a chain for each figure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from nmt.errors import NmtError


class AuditError(NmtError):
    """The audit can't be made, so nothing can be told."""


class Status(IntEnum):
    """How a check ended; the greater, the worse."""

    OK = 0
    MARKED = 1  # worth knowing; the link holds
    UNKNOWN = 2  # can't be told here
    BROKEN = 3

    @property
    def label(self) -> str:
        """Name it as people do."""
        return ("ok", "marked", "can't tell", "BROKEN")[self]


EXIT_CODES = {Status.OK: 0, Status.MARKED: 0, Status.UNKNOWN: 2, Status.BROKEN: 1}


class Check(StrEnum):
    """What was looked at."""

    LOCK = "dvc.lock"
    BYTES = "bytes"
    STALE = "up to date"
    RUN = "run"
    EDITED = "edited while it ran"
    SCORE = "score"
    TABLE = "table"
    ENVIRONMENT = "environment"
    SOURCE = "source"
    REPLAY = "replay"


@dataclass(frozen=True)
class Finding:
    """One result of one check: what was compared and how it came out, in one sentence."""

    check: Check
    status: Status
    text: str


@dataclass
class Link:
    """One link of the chains: something on disk, and what made it.

    Args:
        kind: in words, such as "model".
        path: of what is checked.
        stage: address of the stage that made it; "" for what no stage makes.
        findings: of all checks on it.
        code: files and folders of the stage's code, with their hashes in dvc.lock.
        params: values that the stage read, by dotted key, as dvc.lock has them.
        environment: of the run that made it, as MLflow has it; {} if there is no such run.
    """

    kind: str
    path: str
    stage: str = ""
    findings: list[Finding] = field(default_factory=list)
    code: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    def add(self, check: Check, status: Status, text: str) -> None:
        """Add a finding."""
        self.findings.append(Finding(check, status, text))

    @property
    def status(self) -> Status:
        """The worst of its findings."""
        return max((finding.status for finding in self.findings), default=Status.OK)

    @property
    def title(self) -> str:
        """Name it: kind, path, stage."""
        return f"{self.kind} {self.path}" + (f" ({self.stage})" if self.stage else "")

    def worst(self) -> Finding:
        """Return its first finding of the worst kind."""
        return max(self.findings, key=lambda finding: finding.status)


@dataclass(frozen=True)
class Figure:
    """One cell of reports/bleu.csv, and the links that it hangs on, the source first."""

    model: str
    seed: str
    test: str
    metric: str
    score: str
    signature: str
    chain: tuple[Link, ...]

    @property
    def name(self) -> str:
        """Name it: model and seed, test set, metric."""
        return f"{self.model}-{self.seed} {self.test} {self.metric}"

    @property
    def status(self) -> Status:
        """The worst of its links."""
        return max(link.status for link in self.chain)


@dataclass(frozen=True)
class Audit:
    """All links, the source first, and all figures.

    Args:
        project: its name.
        state: commit and cleanness of the tree, in words.
    """

    project: str
    state: str
    links: tuple[Link, ...]
    figures: tuple[Figure, ...]

    @property
    def status(self) -> Status:
        """The worst of its links."""
        return max(link.status for link in self.links)

    @property
    def exit_code(self) -> int:
        """0 all right, 1 a link broken, 2 can't tell."""
        return EXIT_CODES[self.status]

    @property
    def first(self) -> Link | None:
        """The first link from the source on that is as bad as the worst; None if all hold."""
        return first_bad(self.links)

    def count(self, status: Status) -> int:
        """Return how many links have that status."""
        return sum(link.status == status for link in self.links)


def first_bad(links: Sequence[Link]) -> Link | None:
    """Return the first broken link; if none is, the first that can't be told; else None."""
    for status in (Status.BROKEN, Status.UNKNOWN):
        for link in links:
            if link.status == status:
                return link
    return None
