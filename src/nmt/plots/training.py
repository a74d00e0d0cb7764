"""Training curves: figures of each epoch, and the loss of each batch."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from nmt.plots import style
from nmt.plots.gallery import Gallery
from nmt.plots.history import Course, read_courses, write_curves
from nmt.plots.job import Job

_PANELS = (
    ("train_loss", "Training loss, nats a token"),
    ("validation_loss", "Validation loss, nats a token"),
    ("validation_accuracy", "Validation accuracy"),
    ("validation_bleu", "Validation BLEU"),
)


def draw_training(job: Job, gallery: Gallery) -> None:
    """Draw the trainings of the whole grid, and write curves.csv beside the pictures.

    Raises:
        DataError: a model's files are missing or damaged.
    """
    courses = read_courses(job)
    write_curves(gallery.folder / "curves.csv", courses)
    gallery.add("epochs", epochs_figure(courses), _epochs_title(job), _epochs_alt(courses))
    window = smoothing_window(courses)
    gallery.add(
        "iterations",
        iterations_figure(courses, window),
        "Training loss of each batch, in nats a token: pale as it was, dark the mean of "
        f"{window} batches around; the other models in grey.",
        _iterations_alt(courses),
    )


def epochs_figure(courses: list[Course]) -> Figure:
    """Return four panels over epochs, a line for each model and seed, named at its end."""
    figure = Figure(figsize=(style.WIDTH, 5.9))
    names = max(style.text_widths([style.shown(course.model) for course in courses]))
    left, right = 0.42, names + 0.3  # inches beside each panel
    width = style.WIDTH / 2 - left - right
    figure.subplots_adjust(
        left=left / style.WIDTH, right=1 - right / style.WIDTH, wspace=(left + right) / width,
        bottom=0.115, top=0.945, hspace=0.3,
    )  # fmt: skip
    panels = figure.subplots(2, 2)
    for axes, (name, title) in zip(panels.flat, _PANELS, strict=True):
        axes.set_title(title)
        axes.grid(axis="y")
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
        _draw_epochs(axes, courses, name)
    for axes in panels[1]:
        axes.set_xlabel("epoch")
    figure.text(left / style.WIDTH, 0.014, "●  epoch whose weights are kept", color=style.SOFT)
    return figure


def _draw_epochs(axes: Axes, courses: list[Course], name: str) -> None:
    models = list(dict.fromkeys(course.model for course in courses))
    for course in courses:
        look = style.model_line(models.index(course.model))
        values, best = course.figures[name], course.best_epoch
        axes.plot(course.epochs, values, lw=1.5, color=look.colour, ls=look.dashes)
        axes.plot(best, values[best - 1], "o", ms=4.5, color=look.colour)
    first, last = 1, max(len(course.epochs) for course in courses)
    axes.set_xlim(first - 0.02 * (last - first) - 0.2, last + 0.2)
    if name in ("validation_accuracy", "validation_bleu"):
        axes.set_ylim(bottom=0)
    ends = []
    for number, model in enumerate(models):
        own = [course for course in courses if course.model == model]
        height = float(np.mean([course.figures[name][-1] for course in own]))
        colour = style.model_line(number).colour
        ends.append(
            (style.shown(model), colour, float(max(len(course.epochs) for course in own)), height)
        )
    style.label_ends(axes, ends)


def iterations_figure(courses: list[Course], window: int) -> Figure:
    """Return a panel for each model: the loss of each batch, raw and smoothed."""
    models = list(dict.fromkeys(course.model for course in courses))
    columns = min(3, len(models))
    rows = -(-len(models) // columns)
    figure = Figure(figsize=(style.WIDTH, 0.75 + 2.5 * rows))
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    figure.subplots_adjust(
        left=0.075, right=0.985, wspace=0.1, hspace=0.25,
        bottom=0.48 / figure.get_figheight(), top=1 - 0.3 / figure.get_figheight(),
    )  # fmt: skip
    for number, (axes, model) in enumerate(zip(panels.flat, models, strict=False)):
        look = style.model_line(number)
        axes.set_title(style.shown(model), color=look.colour)
        axes.grid(axis="y")
        _draw_losses(axes, courses, model, look, window)
    for axes in panels.flat[len(models) :]:
        axes.set_axis_off()
    for axes in panels.flat[max(0, len(models) - columns) : len(models)]:
        axes.set_xlabel("batch")
        axes.tick_params(labelbottom=True)
    for axes in panels[:, 0]:
        axes.set_ylabel("training loss")
    _limit(panels.flat[0], courses, window)
    return figure


def _draw_losses(
    axes: Axes, courses: list[Course], model: str, look: style.Line, window: int
) -> None:
    for course in courses:
        batches = np.arange(1, len(course.losses) + 1)
        if course.model == model:
            axes.plot(batches, course.losses, lw=0.4, color=look.colour, alpha=0.3)
            smoothed = smooth(course.losses, window)
            axes.plot(batches, smoothed, lw=1.4, color=look.colour, ls=look.dashes, zorder=3)
        else:
            axes.plot(batches, smooth(course.losses, window), lw=0.8, color="#b5bdc1", zorder=1)


def _limit(axes: Axes, courses: list[Course], window: int) -> None:
    """Keep a few wild batches from flattening the rest."""
    everything = np.concatenate([course.losses for course in courses])
    smoothed = np.concatenate([smooth(course.losses, window) for course in courses])
    low = min(np.quantile(everything, 0.005), smoothed.min())
    high = max(np.quantile(everything, 0.995), smoothed.max())
    room = 0.05 * (high - low) or 0.1
    axes.set_ylim(max(0.0, low - room), high + room)
    axes.set_xlim(0, max(len(course.losses) for course in courses) * 1.01)
    axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))


def smoothing_window(courses: list[Course]) -> int:
    """Return an odd number of batches: about a fiftieth of the longest training."""
    return max(len(course.losses) for course in courses) // 100 * 2 + 1


def smooth(values: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    """Return the mean of `window` values around each; at the ends, of those that there are."""
    half = window // 2
    sums = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(len(values))
    low, high = np.maximum(at - half, 0), np.minimum(at + half + 1, len(values))
    means: NDArray[np.float64] = (sums[high] - sums[low]) / (high - low)
    return means


def _epochs_title(job: Job) -> str:
    lines = "one line a model"
    if len(job.grid.seeds) > 1:
        lines = f"one line a model and seed ({', '.join(map(str, job.grid.seeds))})"
    return (
        f"Figures of each epoch, {lines}; a dot marks the epoch whose weights are kept. "
        "Losses are in nats a token; that of training is what was minimised, with dropout and any "
        "label smoothing, that of validation without either."
    )


def _epochs_alt(courses: list[Course]) -> str:
    parts = []
    for course in courses:
        bleu, loss = course.figures["validation_bleu"], course.figures["validation_loss"]
        parts.append(
            f"{course.model}, seed {course.seed}: over {len(bleu)} epochs validation BLEU goes "
            f"from {bleu[0]:.1f} to {bleu[-1]:.1f} and validation loss from {loss[0]:.2f} to "
            f"{loss[-1]:.2f}; epoch {course.best_epoch} is kept."
        )
    return "Four line charts over epochs. " + " ".join(parts)


def _iterations_alt(courses: list[Course]) -> str:
    parts = []
    for course in courses:
        start, *_ = course.losses
        end = course.losses[-max(1, len(course.losses) // 50) :].mean()
        parts.append(f"{course.model}, seed {course.seed}: from {start:.1f} to {end:.1f}")
    return f"Line charts of the loss over batches. {'; '.join(parts)}."
