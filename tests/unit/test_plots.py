"""The pictures as files: their bytes, their captions, the curves, what is refused."""

import csv
import json
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.font_manager import findfont
from matplotlib.text import Annotation
from ruamel.yaml import YAML

from nmt.errors import DataError, ModelError, ParamsError
from nmt.files import read_json, read_jsonl, write_json, write_jsonl, write_lines
from nmt.params import Params
from nmt.plots import style
from nmt.plots.draw import draw_pictures
from nmt.plots.history import read_courses
from nmt.plots.settings import PlotSettings
from nmt.plots.training import epochs_figure, iterations_figure, smooth, smoothing_window
from nmt.report.neighbours import read_neighbours
from tests.unit.plot_world import (
    COMPUTE,
    DATA,
    GRID,
    OUTPUTS,
    PLOTS,
    SOURCES,
    TEST,
    assert_readable,
    make_job,
    make_world,
    write_model,
    write_translations,
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a world with its pictures; not to be changed."""
    root = make_world(tmp_path_factory.mktemp("world"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a glyph that the font lacks, a layout that does not fit
        draw_pictures(make_job(root))
    return root


@pytest.fixture
def world(made: Path, tmp_path: Path) -> Path:
    """Return a copy of a world with its pictures, to be changed."""
    return shutil.copytree(made, tmp_path / "world")


def test_each_folder_holds_its_pictures_with_captions(made: Path) -> None:
    expected = {
        "training": {"epochs.png", "iterations.png", "curves.csv"},
        "attention": {f"{TEST}-000{n}.png" for n in (1, 2, 3, 5)},
        "encoder_states": {"baseline.png", "additive.png", "fed_back.png", "neighbours.json"},
    }
    for name, files in expected.items():
        folder = made / "reports" / name
        assert {path.name for path in folder.iterdir()} == files | {"captions.json"}
        captions = read_json(folder / "captions.json")
        assert set(captions) == {file for file in files if file.endswith(".png")}
        assert all(
            c["title"] and c["alt"] and set(c) == {"title", "alt"} for c in captions.values()
        )


def test_pictures_hold_no_date_and_no_version(made: Path) -> None:
    for path in (made / "reports").rglob("*.png"):
        data, kinds, at = path.read_bytes(), set(), 8
        while at < len(data):
            kinds.add(data[at + 4 : at + 8])
            at += 12 + int.from_bytes(data[at : at + 4], "big")
        assert kinds == {b"IHDR", b"pHYs", b"IDAT", b"IEND"}


_PROCESS = """
import sys
from pipeline.plot import app
app(sys.argv[1:], standalone_mode=False)
loaded = [m for m in sys.modules if m.startswith("matplotlib.backends.backend_")]
assert loaded == ["matplotlib.backends.backend_agg"], loaded
assert not {"matplotlib.pyplot", "tkinter", "PyQt5", "gi"} & set(sys.modules)
"""


@pytest.mark.slow
def test_bytes_are_equal_in_fresh_processes_whatever_the_user_has_set(
    made: Path, tmp_path: Path
) -> None:
    params = tmp_path / "params.yaml"
    YAML().dump({"data": DATA, "grid": GRID, "plots": PLOTS, "compute": COMPUTE}, params)
    (tmp_path / "matplotlibrc").write_text("font.size: 30\nsavefig.dpi: 20\naxes.grid: True\n")
    settings: list[dict[str, str]] = [
        {"PYTHONHASHSEED": "1", "MPLBACKEND": "", "OPENBLAS_NUM_THREADS": "2"},
        {"PYTHONHASHSEED": "2", "MPLBACKEND": "TkAgg", "MATPLOTLIBRC": str(tmp_path)},
    ]
    processes = []
    for number, setting in enumerate(settings):
        outer = {k: v for k, v in os.environ.items() if k != "DISPLAY" and not k.startswith("MPL")}
        command = [sys.executable, "-c", _PROCESS, "--params", str(params)]
        for name in ("data/prepared", "models", "translations"):
            command += [f"--{Path(name).name}", str(made / name)]
        command += ["--reports", str(tmp_path / str(number))]
        processes.append(
            subprocess.Popen(command, cwd=ROOT, env=outer | setting, stderr=subprocess.PIPE)
        )
    for process in processes:
        _, error = process.communicate()
        assert process.returncode == 0, error.decode()
    first, second, third = (files(p) for p in (made / "reports", tmp_path / "0", tmp_path / "1"))
    assert first.keys() == second.keys() == third.keys()
    for name, data in first.items():
        assert data == second[name] == third[name], name


def files(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def test_the_font_is_the_one_of_matplotlib() -> None:
    path = Path(findfont("DejaVu Sans", fallback_to_default=False))
    assert path.is_relative_to(matplotlib.get_data_path())


def test_settings_of_matplotlib_are_left_as_they_were() -> None:
    before = dict(matplotlib.rcParams)
    with style.applied():
        assert matplotlib.rcParams["text.parse_math"] is False
    assert dict(matplotlib.rcParams) == before


def test_a_stale_picture_does_not_survive(world: Path) -> None:
    stale = world / "reports/attention/test_old-0001.png"
    stale.write_bytes(b"old")
    draw_pictures(make_job(world, {"models": ["baseline", "additive"]}, attention_sentences=[1]))
    assert {p.name for p in stale.parent.iterdir()} == {"captions.json", f"{TEST}-0001.png"}
    assert not (world / "reports/encoder_states/fed_back.png").exists()


def test_a_failed_drawing_leaves_the_old_pictures(world: Path) -> None:
    before = files(world / "reports/attention")
    write_jsonl(world / f"translations/fed_back/1/hypotheses/{TEST}.jsonl", [])
    with pytest.raises(DataError):
        draw_pictures(make_job(world))
    assert files(world / "reports/attention") == before


def test_neighbours_are_told_by_figures(made: Path) -> None:
    found = read_json(made / "reports/encoder_states/neighbours.json")
    assert set(found) == {"baseline", "additive", "fed_back"}
    one = found["additive"]
    about = {"metric": "chrF2", "seed": 1, "sentences": 8, "test_set": TEST}
    assert {key: one[key] for key in about} == about
    assert len(one["explained_variance"]) == 2 and 0 < sum(one["explained_variance"]) <= 1
    for space in (one, one["plane"]):
        assert space["gain"] == pytest.approx(space["nearest"] - one["random"], abs=1e-3)
        assert space["gain_standard_error"] > 0
    title = read_json(made / "reports/encoder_states/captions.json")["additive.png"]["title"]
    assert f"{one['nearest']:.1f} ± {one['nearest_standard_error']:.1f} (cosine" in title
    assert f"random pairs {one['random']:.1f} ± " in title


def test_the_report_reads_the_figures_of_neighbours(made: Path) -> None:
    (found,) = read_neighbours(made / "reports/encoder_states", ["additive"])
    assert found.sentences == 8 and 0 < found.random < 100


def test_curves_csv_has_a_row_for_each_model_seed_and_epoch(made: Path) -> None:
    text = (made / "reports/training/curves.csv").read_bytes().decode()
    assert text.endswith("\n") and "\r" not in text
    rows = list(csv.DictReader(text.split("\n")[:-1]))
    assert len(rows) == 3 * 2 * 3
    assert rows[0] == {
        "model": "baseline",
        "seed": "1",
        "epoch": "1",
        "train_loss": "6.0",
        "validation_loss": "5.0",
        "validation_perplexity": "100.0",
        "validation_accuracy": "0.125",
        "validation_bleu": "18.0",
    }
    assert rows[-1]["model"] == "fed_back" and rows[-1]["seed"] == "2" and rows[-1]["epoch"] == "3"


def test_epochs_show_every_model_and_seed_and_the_kept_epoch(made: Path) -> None:
    with style.applied():
        figure = epochs_figure(read_courses(make_job(made)))
    panels = figure.axes
    assert [panel.get_title(loc="left").split(",")[0] for panel in panels] == [
        "Training loss",
        "Validation loss",
        "Validation accuracy",
        "Validation BLEU",
    ]
    for panel in panels:
        lines = [line for line in panel.lines if len(line.get_xdata()) == 3]  # type: ignore[arg-type]
        assert len(lines) == 3 * 2
        assert len({line.get_color() for line in lines}) == 3
        dots = [line for line in panel.lines if line.get_marker() == "o"]
        assert [line.get_xdata()[0] for line in dots] == [2] * 6  # type: ignore[index]
        names = [text.get_text() for text in panel.texts if isinstance(text, Annotation)]
        assert names == ["baseline", "additive", "fed_back"]
    assert_readable(figure)


@pytest.mark.parametrize("models", [1, 4, 7])
def test_batches_have_a_panel_for_each_model(world: Path, models: int) -> None:
    names = [f"a_model_of_name_{n}" for n in range(models)]
    for name in names:
        shutil.copytree(world / "models/additive", world / "models" / name)
    courses = read_courses(make_job(world, {"models": names}))
    with style.applied():
        figure = iterations_figure(courses, smoothing_window(courses))
        assert_readable(epochs_figure(courses))
    assert [axes.get_title(loc="left") for axes in figure.axes[:models]] == names
    for axes in figure.axes[:models]:
        assert len(axes.lines) == 2 * 2 + (models - 1) * 2  # own raw and smooth, others smooth
    assert_readable(figure)


def test_one_epoch_is_seen(world: Path) -> None:
    for path in (world / "models").glob("*/*"):
        write_jsonl(path / "history.jsonl", read_jsonl(path / "history.jsonl")[:1])
        write_json(path / "config.json", read_json(path / "config.json") | {"best_epoch": 1})
    with style.applied():
        assert_readable(epochs_figure(read_courses(make_job(world))))


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        (1, [1, 2, 6, 3, 8]),
        (3, [1.5, 3, 11 / 3, 17 / 3, 5.5]),
        (99, [4, 4, 4, 4, 4]),
    ],
)
def test_smoothing_is_the_mean_around(window: int, expected: list[float]) -> None:
    assert smooth(np.array([1.0, 2, 6, 3, 8]), window) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        ("models/additive/2/history.jsonl", r"history\.jsonl: no .*`dvc repro train@additive-2`"),
        ("models/fed_back/1/iterations.csv", r"iterations\.csv: no .*`dvc repro train@fed_back-1`"),
        ("models/baseline/1/weights.safetensors", r"weights\.saf.*: no .*train@baseline-1`"),
        (f"translations/additive/1/attention/{TEST}.safetensors", r"`dvc repro translate@add"),
        (f"translations/additive/1/hypotheses/{TEST}.jsonl", r"`dvc repro translate@additive-1`"),
        (f"data/prepared/additive/tokens/{TEST}.de.jsonl", r"no .*`dvc repro prepare@add"),
        ("data/prepared/additive/vocab/en.json", r"en\.json: no .*`dvc repro prepare@additive`"),
    ],
)  # fmt: skip
def test_a_missing_file_names_the_stage_to_run(world: Path, spoil: str, message: str) -> None:
    (world / spoil).unlink()
    with pytest.raises(DataError, match=message):
        draw_pictures(make_job(world))


def _drop_epoch(world: Path) -> None:
    write_json(world / "models/additive/1/config.json", {"best_epoch": 9})


def _longer_source(world: Path) -> None:
    path = world / f"data/prepared/additive/tokens/{TEST}.de.jsonl"
    write_jsonl(path, [["noch", *source] for source in SOURCES])


def _fewer_sources(world: Path) -> None:
    write_jsonl(world / f"data/prepared/baseline/tokens/{TEST}.de.jsonl", SOURCES[:7])


def _fewer_references(world: Path) -> None:
    write_jsonl(world / f"data/prepared/baseline/tokens/{TEST}.en.jsonl", OUTPUTS[:7])


def _no_number(world: Path) -> None:
    write_jsonl(world / "models/additive/1/history.jsonl", [{"train_loss": "high"}])


def _no_epochs(world: Path) -> None:
    write_jsonl(world / "models/additive/1/history.jsonl", [])


def _no_loss(world: Path) -> None:
    write_lines(world / "models/additive/1/iterations.csv", ["iteration,epoch,loss", "1,1"])


def _no_losses(world: Path) -> None:
    write_lines(world / "models/additive/1/iterations.csv", ["iteration,epoch,loss"])


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_drop_epoch, r"config\.json: best_epoch is 9, expected 1 to 3; run `dvc repro train@add"),
        (_longer_source, r"additive, sentence 1: attention is for 5 output and 5 source tokens, but"
                         r" there are 5 and 6; run the translate stage again"),
        (_fewer_sources, r"baseline: attention of 8 sentences, but test_a has 7; run `dvc repro"),
        (_fewer_references, r"test_a has 8 source and 7 target sentences; run `dvc repro prep"),
        (_no_number, r"history\.jsonl, line 1: train_loss: expected a number, got 'high'; train"),
        (_no_epochs, r"history\.jsonl: expected a line for each epoch, got none; run `dvc"),
        (_no_loss, r"iterations\.csv, line 2: expected iteration,epoch,loss, got '1,1'; run `d"),
        (_no_losses, r"iterations\.csv: expected a line for each batch, got none; run `dvc"),
    ],
)  # fmt: skip
def test_damaged_files_are_refused(
    world: Path, spoil: Callable[[Path], None], message: str
) -> None:
    spoil(world)
    with pytest.raises(DataError, match=message):
        draw_pictures(make_job(world, states_sentences=5))


def test_a_model_of_another_vocabulary_is_refused(world: Path) -> None:
    path = world / "data/prepared/baseline/vocab/de.json"
    path.write_text(json.dumps([*json.loads(path.read_text()), ["neu", 1]]))
    with pytest.raises(ModelError, match="baseline/1: trained with a source vocabulary of"):
        draw_pictures(make_job(world))


@pytest.mark.parametrize(
    ("plots", "message"),
    [
        ({"seed": 3}, r"plots\.seed: got 3, which is not in grid\.seeds \(1, 2\); name one of"),
        ({"attention_test": "test_b"}, r"plots\.attention_test: got 'test_b', .* data\.tests \("),
        ({"states_test": "test_b"}, r"plots\.states_test: got 'test_b', .* data\.tests \(test_a\)"),
        ({"attention_sentences": [1, 9]}, r"plots\.attention_sentences: got 9, but test_a has 8 se"
                                          r"ntences; name numbers from 1 to 8"),
        ({"states_sentences": 9}, r"plots\.states_sentences: got 9, but test_a has 8 sentences; a"),
    ],
)  # fmt: skip
def test_settings_must_fit_the_grid_and_the_files(
    world: Path, plots: dict[str, object], message: str
) -> None:
    with pytest.raises(ParamsError, match=message):
        draw_pictures(make_job(world, None, **plots))


@pytest.mark.parametrize(
    ("plots", "message"),
    [
        ({"attention_sentences": [0]}, r"plots\.attention_sentences\.0: got 0; Input should be"),
        ({"attention_sentences": [2, 2]}, r"attention_sentences: \[2, 2\] holds one twice; n"),
        ({"states_labelled": 9}, r"states_labelled must not exceed states_sentences, got 9 and 8"),
        ({"states_labelled": 25}, r"plots\.states_labelled: got 25; Input should be less than or "),
        ({"states_sentences": 2}, r"plots\.states_sentences: got 2; Input should be greater than "),
        ({"dpi": 10}, r"plots\.dpi: got 10; Input should be greater than or equal to 50"),
    ],
)  # fmt: skip
def test_settings_are_checked(tmp_path: Path, plots: dict[str, object], message: str) -> None:
    YAML().dump({"plots": PLOTS | plots}, tmp_path / "params.yaml")
    with pytest.raises(ParamsError, match=message):
        Params.read(tmp_path / "params.yaml").section("plots", PlotSettings)


def test_left_overs_of_an_earlier_grid_are_not_drawn(world: Path) -> None:
    write_model(world, "additive", 3, 1)
    write_translations(world, "additive", 3)
    grid = {"models": ["additive"]}
    assert [course.seed for course in read_courses(make_job(world, grid))] == [1, 2]
