"""The `nmt` command: what is not a stage."""

import os
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from nmt import script
from nmt.errors import NmtError, ParamsError
from nmt.files import write_text

app = typer.Typer(
    help="Look after a project: its params, its runs, its history.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

results = typer.Typer(help="Keep docs/results.csv and docs/results.md.", no_args_is_help=True)
app.add_typer(results, name="results")

OutOption = Annotated[Path | None, typer.Option(dir_okay=False, help="file; else standard output")]


class RunsFormat(Enum):
    """How the history is shown."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"


class PageFormat(Enum):
    """How an answer is shown."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"


def main() -> None:
    """Run the command in the project that the current folder lies in, with its own library."""
    _use_own_library()
    script.run(app)


def _use_own_library() -> None:
    """Start anew with the library of the project here, if this one is another's.

    An editable install names the first checkout; in a copy the copy's own code must run.
    """
    try:
        library = project_root() / "src"
    except NmtError:
        return  # told by the commands that need a project
    own = library / "nmt" / "cli.py"
    if own.is_file() and not own.samefile(__file__):
        environment = {**os.environ, "PYTHONPATH": str(library)}
        os.execve(sys.executable, [sys.executable, "-m", "nmt.cli", *sys.argv[1:]], environment)


@app.command()
def params(
    section: Annotated[
        str, typer.Argument(help="dotted key, such as training; all if not given")
    ] = "",
) -> None:
    """Print each key of params.yaml and what it allows."""
    from nmt.settings import SECTIONS, every_key

    chosen = [
        key for key in every_key() if f"{key.name}.".startswith(f"{section}." if section else "")
    ]
    if not chosen:
        raise ParamsError(f"no key begins with {section}; sections: {', '.join(SECTIONS)}")
    for key in chosen:
        typer.echo(f"{key.name}: {key.allowed}\n    {key.meaning}")


@app.command("check-params")
def check_params(path: script.ParamsOption = Path("params.yaml")) -> None:
    """Check a params file, with what it builds on."""
    from nmt.params_files import read_params
    from nmt.settings import check

    check(read_params(path if path.is_absolute() else project_root() / path))
    typer.echo(f"{path}: ok")


@app.command("use-params")
def use_params(
    path: Annotated[Path, typer.Argument(help="params file, such as params/best.yaml")],
) -> None:
    """Check a params file and put it in place of params.yaml, if git holds what stands there."""
    from nmt.use_params import PARAMS
    from nmt.use_params import use_params as use

    root = project_root()
    if use(root, path if path.is_absolute() else root / path):
        typer.echo(f"{PARAMS}: now has the values of {path}; the way back: git restore {PARAMS}")
    else:
        typer.echo(f"{PARAMS}: equals {path}")


@app.command()
def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="port on this machine")] = 5000,
) -> None:
    """Show the runs in a browser, with MLflow's own pages."""
    from nmt.tracking import open_store

    store = open_store(project_root())
    if store.folder is None:
        typer.echo(f"the runs are kept at {store.address}: open it in a browser")
        return
    typer.echo(f"runs of {store.address}: http://127.0.0.1:{port} (end with Ctrl-C)")
    options = ["--backend-store-uri", store.address, "--host", "127.0.0.1", "--port", str(port)]
    os.environ.setdefault("MLFLOW_SERVER_ENABLE_JOB_EXECUTION", "false")  # not used: starts faster
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "mlflow", "ui", "--workers", "1", *options])


@app.command()
def sweep() -> None:
    """Close as KILLED the runs whose process has died."""
    from nmt.tracking import open_store
    from nmt.tracking import sweep as close

    store = open_store(project_root())
    closed = close(store)
    for name in closed:
        typer.echo(f"{name}: KILLED")
    typer.echo(f"{len(closed)} closed in {store.address}")


@app.command()
def runs(
    where: Annotated[
        list[str] | None,
        typer.Option(
            help="condition such as models.additive.hidden=384 or test.bleu>30; repeatable"
        ),
    ] = None,
    sort: Annotated[str, typer.Option(help="field, param or metric (from best to worst)")] = "",
    reverse: Annotated[bool, typer.Option("--reverse", help="turn the order round")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="at most so many rows")] = None,
    columns: Annotated[str, typer.Option(help="names with commas between")] = "",
    best: Annotated[
        str, typer.Option(help="validation metric that the best is chosen by")
    ] = "best.validation_bleu",
    form: Annotated[RunsFormat, typer.Option("--format")] = RunsFormat.TEXT,
    out: OutOption = None,
) -> None:
    """Show all runs, revisions and experiments as one table, and the best."""
    from nmt.history import Choice, history
    from nmt.history.show import as_csv, as_json, as_text

    names = [name.strip() for name in columns.split(",") if name.strip()]
    found = history(project_root(), Choice(where or (), sort, reverse, limit, names, best))
    write = {RunsFormat.TEXT: as_text, RunsFormat.JSON: as_json, RunsFormat.CSV: as_csv}[form]
    _give(write(found), out)


@app.command()
def audit(
    replay: Annotated[
        list[str] | None,
        typer.Option(help="stage to run again in a copy, such as train@additive-1; repeatable"),
    ] = None,
    band: Annotated[
        float | None,
        typer.Option(min=0, help="points by which scores of a replay may differ if bytes do"),
    ] = None,
    form: Annotated[PageFormat, typer.Option("--format")] = PageFormat.TEXT,
    out: OutOption = None,
) -> None:
    """Trace each figure of the report to its source and check every link.

    Exit code: 0 all right, 1 a link is broken, 2 it can't be told.
    """
    from nmt.audit.audit import audit as make
    from nmt.audit.findings import AuditError
    from nmt.audit.page import as_html
    from nmt.audit.replay import Replay
    from nmt.audit.text import as_json, as_text

    try:
        found = make(project_root(), Replay(tuple(replay or ()), band))
    except AuditError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(2) from None
    write = {PageFormat.TEXT: as_text, PageFormat.JSON: as_json, PageFormat.HTML: as_html}[form]
    _give(write(found), out)
    raise typer.Exit(found.exit_code)


@app.command()
def compare(
    a: Annotated[str, typer.Argument(help="commit, tag, branch, experiment, run or `workspace`")],
    b: Annotated[str, typer.Argument(help="likewise; what is told is B against A")],
    form: Annotated[PageFormat, typer.Option("--format")] = PageFormat.TEXT,
    out: OutOption = None,
    sentences: Annotated[int, typer.Option(min=0, help="so many that changed most")] = 5,
    resamples: Annotated[int, typer.Option(min=1, help="of the paired bootstrap")] = 1000,
    trials: Annotated[int, typer.Option(min=1, help="of approximate randomization")] = 10000,
    seed: Annotated[int, typer.Option(min=1, help="of both tests")] = 12345,
) -> None:
    """Compare two sides: what differs, and whether one is really better.

    Ends with 0 if all could be compared, with 2 if something can't be told, with 1 on an error.
    """
    from nmt.compare import Wanted
    from nmt.compare import compare as compare_sides
    from nmt.compare.page import as_html
    from nmt.compare.significance import Draws
    from nmt.compare.text import as_json, as_text

    wanted = Wanted(Draws(resamples, trials, seed), sentences, attention=form is PageFormat.HTML)
    found = compare_sides(project_root(), a, b, wanted)
    write = {PageFormat.TEXT: as_text, PageFormat.JSON: as_json, PageFormat.HTML: as_html}[form]
    _give(write(found), out)
    if not found.complete:
        raise typer.Exit(2)


@app.command()
def tune(
    model: Annotated[str, typer.Argument(help="trained model, such as additive")],
    beam: Annotated[list[int] | None, typer.Option(min=1, help="width; repeatable")] = None,
    length_penalty: Annotated[list[float] | None, typer.Option(min=0, help="repeatable")] = None,
    replace_unknown: Annotated[bool, typer.Option("--replace-unknown", help="both ways")] = False,
    ensemble: Annotated[bool, typer.Option("--ensemble", help="all seeds together")] = False,
    out: OutOption = None,
) -> None:
    """Compare ways to search on the validation set; what is not given is as in params.yaml.

    Scores: mean ± sample standard deviation over the seeds. Nothing in the project is changed.

    Example: nmt tune additive --beam 1 --beam 5 --length-penalty 0.6 --length-penalty 1
    """
    from nmt import tune as search

    ways = search.Ways(beam or (), length_penalty or (), (False, True) if replace_unknown else ())
    found = search.tune(project_root(), model, ways, ensemble=ensemble)
    _give(search.as_text(list(found)), out)


@results.command("add")
def add_results(
    params_file: Annotated[
        Path, typer.Option(help="params file that the finished run here was made with")
    ],
    note: Annotated[str, typer.Option(help="kept with the rows, and shown on the page")] = "",
) -> None:
    """Add the finished run in the working tree; its rows take the place of their older ones."""
    from nmt.results import RESULTS, add

    count = add(project_root(), params_file, note)
    typer.echo(f"{count} scores of {params_file} are in {RESULTS}")


@results.command("page")
def results_page() -> None:
    """Make the tables of docs/results.md again from docs/results.csv."""
    from nmt.results import PAGE, write_page

    write_page(project_root())
    typer.echo(f"written to {PAGE}")


def _give(text: str, out: Path | None) -> None:
    """Write what a command has found to a file, or to standard output."""
    if out is None:
        typer.echo(text, nl=False)
        return
    write_text(out, text)
    typer.echo(f"written to {out}", err=True)


def project_root() -> Path:
    """Return the nearest folder, from the current one upwards, that is a project.

    Raises:
        NmtError: there is none.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "pipeline" / "run.py").is_file():
            return folder
    raise NmtError(f"{here} lies in no project: no pipeline/run.py here or above; go to one")


if __name__ == "__main__":
    main()
