"""From the files of all stages to the report."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nmt.evaluation.scores import ModelScores
from nmt.files import write_text
from nmt.report.comparisons import Outcome, compare_all
from nmt.report.facts import EXPLAINED, gather
from nmt.report.job import Report
from nmt.report.look import look_at_data
from nmt.report.neighbours import read_neighbours
from nmt.report.page import render, settings_by_model, settings_by_section
from nmt.report.pictures import read_pictures
from nmt.report.quality import quality_tables, read_grid
from nmt.report.samples import random_pairs, sample_translations
from nmt.report.tables import scores_csv, significance_csv
from nmt.report.trainings import compare_trainings

log = logging.getLogger(__name__)


def write_report(report: Report) -> None:
    """Write bleu.csv, bleu.md, significance.csv and index.html.

    Everything is read and made before the first file is written.

    Raises:
        DataError: a file is missing (naming the stage to run), damaged, or can't stand in one
            table with the others.
        ParamsError: the baseline is not in the grid.
    """
    reports = report.folders.reports
    scores = read_grid(reports / "scores", report.grid, report.data.tests)
    comparisons = compare_all(report, scores)
    values = _values(report, scores, comparisons)
    documents = {
        "bleu.csv": scores_csv(scores, report.data.tests),
        "bleu.md": render("bleu.md.j2", values),
        "significance.csv": significance_csv(comparisons),
        "index.html": render("page.html.j2", values),
    }
    for name, text in documents.items():
        write_text(reports / name, text)
    log.info("report in %s", reports / "index.html")


def _values(
    report: Report, scores: Sequence[ModelScores], comparisons: Sequence[Outcome]
) -> dict[str, Any]:
    """Gather what the templates ask for."""
    looks = look_at_data(report)
    trainings = compare_trainings(report.models, report.sections["training"])
    sections = {**report.sections, "training": trainings.alike}
    pictures: dict[str, Path] = {
        "training": report.folders.reports / "training",
        "attention": report.folders.reports / "attention",
        "states": report.folders.reports / "encoder_states",
    }
    return {
        "facts": gather(report, scores, looks[0].splits[0].sentences, len(comparisons), trainings),
        "explained": EXPLAINED,
        "tables": quality_tables(scores, report.grid, report.data.tests),
        "comparisons": comparisons,
        "scores": scores,
        "looks": looks,
        "pairs": random_pairs(report),
        "samples": {test: sample_translations(report, test) for test in report.data.tests},
        "pictures": {name: read_pictures(folder) for name, folder in pictures.items()},
        "neighbours": read_neighbours(pictures["states"], report.grid.models),
        "model_settings": settings_by_model(report.models, trainings),
        "sections": settings_by_section(sections, scores[0].settings),
    }
