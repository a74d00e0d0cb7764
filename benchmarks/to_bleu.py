"""Minutes from nothing but text to a validation BLEU of 33, with the default model.

The params are the default ones too, but for two. `training.epochs` is 3: a learning rate that
falls to zero sooner gets there sooner, and a little less far in the end. `compute.precision` is
bfloat16, which takes a processor with such instructions to be fast.

Tokenization, vocabularies, reading, training and the validation after each epoch are counted;
the download and the start of Python are not. The BLEU is that of greedy translations on tokens,
which training watches. It takes minutes, and is measured once a run.

Example:
    python -m benchmarks.to_bleu --out benchmarks --page docs/performance.md
"""

from functools import partial

from benchmarks.command import program
from benchmarks.figures import Figure, figure
from benchmarks.processes.to_bleu import Course, train_to_bleu
from benchmarks.setting import Setting
from benchmarks.worker import Worker
from nmt import script
from nmt.errors import TrainingError


def to_bleu(setting: Setting) -> list[Figure]:
    """Train until validation BLEU is as high as wanted.

    Raises:
        TrainingError: it is not reached in all epochs.
    """
    with Worker(partial(dict, {"train": partial(train_to_bleu, setting)})) as worker:
        course: Course = worker.run("train")
    wanted, epochs = setting.sizes.bleu, len(course.bleu)
    if course.bleu[-1] < wanted:
        raise TrainingError(
            f"validation BLEU is {course.bleu[-1]:.2f} after {epochs} epochs, wanted {wanted:g}; "
            "give it more epochs (bleu_epochs in benchmarks/setting.py) or params that learn faster"
        )
    said = f"from text to a validation BLEU of {wanted:g}, {setting.sizes.bleu_precision}"
    return [
        figure("minutes", f"{said}: time", "min", [course.seconds / 60]),
        figure("preparing", f"{said}: of it, tokens and vocabularies", "s", [course.preparing]),
        figure("epochs", f"{said}: epochs", "epochs", [epochs]),
        figure("bleu", f"{said}: BLEU of the last epoch", "BLEU", [course.bleu[-1]]),
    ]


app = program("to_bleu", to_bleu)

if __name__ == "__main__":
    script.run(app)
