"""All pictures of a grid, from files to files."""

import logging

from nmt.plots import style
from nmt.plots.attention import draw_attention
from nmt.plots.gallery import gallery
from nmt.plots.job import Job
from nmt.plots.states import draw_states
from nmt.plots.training import draw_training

log = logging.getLogger(__name__)

_GALLERIES = {
    "training": draw_training,
    "attention": draw_attention,
    "encoder_states": draw_states,
}
"""Folder of the reports, and what fills it."""


def draw_pictures(job: Job) -> None:
    """Draw everything; each folder takes the place of the old one, whole or not at all.

    Raises:
        ParamsError: a sentence is asked for that the test set does not have.
        DataError: a file is missing (naming the stage to run) or damaged.
        ModelError: a model does not fit the vocabularies.
    """
    with style.applied():
        for name, fill in _GALLERIES.items():
            with gallery(job.folders.reports / name, job.settings.dpi) as pictures:
                fill(job, pictures)
            log.info("%d pictures in %s", len(pictures.captions), job.folders.reports / name)
