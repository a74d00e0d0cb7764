"""The whole audit: all links from the source on, and the chain of each figure."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from nmt import dag
from nmt.audit.consistent import check_lock
from nmt.audit.environment import check_requirements, mark_tokenizer, mark_versions
from nmt.audit.findings import Audit, AuditError, Check, Figure, Link, Status
from nmt.audit.lock import LOCK, Entry, committed_lock, lock_here
from nmt.audit.outs import check_outs
from nmt.audit.recorded import History, read_history
from nmt.audit.replay import Replay, check_known, run_again
from nmt.audit.runs import check_run, check_store
from nmt.audit.scores import check_scores
from nmt.audit.source import check_archives, check_raw
from nmt.audit.stale import Graph, check_stale
from nmt.audit.table import check_tables, read_rows
from nmt.audit.tree import Project
from nmt.corpus.settings import DataSettings
from nmt.ensembles import ENSEMBLE, split_address
from nmt.errors import DataError
from nmt.grid import GridSettings
from nmt.params import Params
from nmt.provenance.database import project_name
from nmt.provenance.git import git_state
from nmt.run import TRACKED
from nmt.run.inputs import text
from nmt.settings import check

KINDS = {
    "download": ("raw data", "data/raw"),
    "tokenize": ("tokens", "data/tokens/{item}"),
    "build_vocab": ("vocabulary", "data/vocab/{item}"),
    "prepare": ("model's data", "data/prepared/{item}"),
    "train": ("model", "models/{model}/{seed}"),
    "translate": ("hypotheses", "translations/{model}/{seed}"),
    "translate_ensemble": ("hypotheses", "translations/{model}/{seed}"),
    "evaluate": ("score file", "reports/scores/{model}-{seed}.json"),
    "evaluate_ensemble": ("score file", "reports/scores/{model}-{seed}.json"),
    "plot": ("pictures", "reports/attention"),
    "report": ("table", "reports/bleu.csv"),
}
"""What a stage makes, in words, and where; in the order of the chain."""

_OFF_CHAIN = ("plot",)  # no figure of the table hangs on it


@dataclass(frozen=True)
class Job:
    """What all checks need."""

    project: Project
    params: Params
    graph: Graph
    history: History


def audit(root: Path, replay: Replay | None = None) -> Audit:
    """Check every link of every figure of the project's report. Nothing is changed.

    Args:
        root: the project's folder.
        replay: stages to run again in a copy.

    Raises:
        ParamsError: params.yaml is not what it must be.
        AuditError: dvc.lock can't be read, so nothing can be told.
    """
    root = root.resolve()
    lock = lock_here(root)
    params = Params.read(root / "params.yaml")
    check(params)
    project = Project(root)
    graph = Graph(_stages(root), lock, project, params)
    job = Job(project, params, graph, read_history(root))
    if replay:
        check_known(replay, graph)
    made = _stage_links(job)
    if replay:
        run_again(replay, graph, made)
    links = (
        check_lock(graph, committed_lock(root)),
        check_store(job.history, root),
        check_requirements(list(made.values()), project),
        check_archives(params.section("data", DataSettings), project),
        *made.values(),
    )
    figures = _figures(job, links)
    return Audit(project_name(root), _state(root), links, figures)


def _stages(root: Path) -> dict[str, dag.Stage]:
    try:
        return dag.stages(root)
    except Exception as error:  # of DVC, which nmt.dag alone imports
        what = " ".join(str(error).split())
        raise AuditError(
            f"dvc.yaml: DVC can't read the graph ({what}); restore it with "
            "`git checkout -- dvc.yaml`, and .dvc with `dvc init` if it is missing"
        ) from None


def _stage_links(job: Job) -> dict[str, Link]:
    """Return the link of each stage by its address, in the order of the chain."""
    order = {name: place for place, name in enumerate(KINDS)}
    last = len(order)
    stages = sorted(job.graph.stages.values(), key=lambda stage: order.get(stage.name, last))
    bar = tqdm(stages, desc="audit", unit="stage", disable=None)
    return {stage.address: _stage_link(stage, job) for stage in bar}


def _stage_link(stage: dag.Stage, job: Job) -> Link:
    model, seed = split_address(stage.address)
    kind, path = KINDS.get(stage.name, ("result", ", ".join(stage.outs)))
    item = stage.address.partition("@")[2]
    link = Link(kind, path.format(model=model, seed=seed, item=item), stage.address)
    entry = job.graph.lock.get(stage.address)
    if entry is None:
        link.add(
            Check.STALE,
            Status.BROKEN,
            f"{LOCK} has no entry of {stage.address}: it was never run; "
            f"`dvc repro {stage.address}`",
        )
        return link
    link.code = {path: entry.deps.get(path, "") for path in job.graph.code(stage)}
    link.params = {key: text(value) for key, value in entry.params.items()}
    check_outs(link, entry, job.project)
    check_stale(link, stage, job.graph)
    if stage.name in TRACKED:
        check_run(link, entry, job.history, job.project)
        mark_versions(link, job.project)
    own = _OWN.get(stage.name)
    if own:
        own(link, job, entry)
    return link


def _raw(link: Link, job: Job, _: Entry) -> None:
    check_raw(link, job.params.section("data", DataSettings), job.project)


def _tokens(link: Link, job: Job, _: Entry) -> None:
    mark_tokenizer(link, job.project)


def _scores(link: Link, job: Job, _: Entry) -> None:
    model, seed = split_address(link.stage)
    seeds = job.params.section("grid", GridSettings).seeds
    check_scores(link, model, seeds if seed == ENSEMBLE else int(seed), job.params, job.project)


def _tables(link: Link, job: Job, _: Entry) -> None:
    check_tables(link, job.params, job.project)


_OWN: dict[str, Callable[[Link, Job, Entry], None]] = {
    "download": _raw,
    "tokenize": _tokens,
    "evaluate": _scores,
    "evaluate_ensemble": _scores,
    "report": _tables,
}


def _figures(job: Job, links: tuple[Link, ...]) -> tuple[Figure, ...]:
    """Return each figure of bleu.csv with its chain; a table that can't be read breaks its link."""
    try:
        rows = read_rows(job.project.root)
    except DataError as error:
        table = next(link for link in links if link.stage == "report")
        table.add(Check.TABLE, Status.BROKEN, str(error))
        return ()
    return tuple(
        Figure(
            row.model,
            row.seed,
            row.test,
            row.metric,
            row.score,
            row.signature,
            tuple(link for link in links if _of(link, row.model, row.seed, job.params)),
        )
        for row in rows
    )


def _of(link: Link, model: str, seed: str, params: Params) -> bool:
    """Tell whether the figures of a model and seed hang on a link; an ensemble's on all models."""
    if not link.stage:
        return True
    name, _, item = link.stage.partition("@")
    if name in _OFF_CHAIN or name not in KINDS:
        return False
    if name in ("tokenize", "build_vocab"):
        scored = name == "tokenize" and item == params.value("evaluation.tokenizer")
        return scored or (
            model in params.names("models") and item == params.value(f"models.{model}.tokenizer")
        )
    if name == "prepare":
        return item == model
    stage = split_address(link.stage)
    member = seed == ENSEMBLE and name == "train" and stage[0] == model
    return "@" not in link.stage or stage == (model, seed) or member


def _state(root: Path) -> str:
    state = git_state(root)
    told = {"true": "with uncommitted changes to code or params", "false": "clean"}
    return (
        f"commit {state.commit[:10]}, {told.get(state.dirty, 'unknown')}"
        if len(state.commit) == 40
        else state.commit
    )
