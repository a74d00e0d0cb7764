"""Contenders in training: the tutorial's loop, this project's models, and bare matrix products."""

from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path

import torch

from benchmarks.arithmetic import (
    activations,
    bare_tanh,
    lengths_of,
    multiply_adds,
    own_shapes,
    products,
    square,
)
from benchmarks.figures import Lap, Run
from benchmarks.project import (
    Context,
    Corpus,
    any_model,
    compute_settings,
    default_model,
    join,
    loss_and_optimizer,
    new_trainer,
    read_corpus,
    spread_batches,
    timed_steps,
    timed_training,
    training_settings,
    transformers,
    tutorial_model,
    tutorial_training,
    wanted_device,
)
from benchmarks.setting import Setting
from benchmarks.tutorial import LoopModel, LoopTrainer
from benchmarks.worker import Tasks
from nmt.compute import ComputeSettings
from nmt.device import prepare
from nmt.model.settings import ModelSettings, RecurrentSettings
from nmt.seeding import seed_everything
from nmt.training.corpus import Numbers, Pairs, make_batch
from nmt.training.group import ALONE, Group
from nmt.training.settings import TrainingSettings

LOOPS = {
    "loop": "step-by-step loop without attention",
    "loop_additive": "step-by-step loop with additive attention",
}
"""The tutorial's two models."""

SAME = "_same_settings"
"""Ends the name of a loop that runs in a process with this project's settings."""

BFLOAT16, SHARED = "_bfloat16", "_bfloat16_shared"
"""End the names of decoders with products in bfloat16: in one process, and in two together."""

WARM_UP = 3
"""Rounds until the C library has all the memory that a training takes, as after its first batches.

A page that the system has to give first costs more than the work on it.
"""

DECODERS: dict[str, tuple[Context, str]] = {
    "no_attention": ("none", "loop"),
    "between_layers": ("between_layers", "loop_additive"),
    "fed_back": ("fed_back", "loop_additive"),
}
"""This project's decoders at the loop's sizes: where the context goes, and the loop of its kind."""


def usual_process(setting: Setting) -> Tasks:
    """Make the loops, with the number of threads set and nothing else."""
    torch.set_num_threads(compute_settings(setting).threads)
    return _loops(setting, "", wanted_device(setting))


def same_process(setting: Setting) -> Tasks:
    """Make the loops, with all of this project's settings."""
    return _loops(setting, SAME, prepare(compute_settings(setting)))


def decoders_process(setting: Setting) -> Tasks:
    """Make this project's decoders at the loop's sizes."""
    return _decoders(setting, compute_settings(setting))


def bfloat16_process(setting: Setting) -> Tasks:
    """Make them with products in bfloat16."""
    compute = compute_settings(setting).model_copy(update={"precision": "bfloat16"})
    return _decoders(setting, compute, BFLOAT16)


def shared_process(setting: Setting, meeting: Path, rank: int) -> Tasks:
    """Make one of two processes that train each of them together, in bfloat16, a thread each.

    They join with the first task, for none can be made before the other is there.
    """
    changes = {"precision": "bfloat16", "threads": 1, "processes": 2}
    compute = compute_settings(setting).model_copy(update=changes)
    group = Group(rank, 2)
    stack = ExitStack()

    @cache
    def joined() -> dict[str, Run]:
        join(stack, group, meeting)
        return _decoders(setting, compute, SHARED, group)

    def run(name: str) -> Lap:
        return joined()[name]()

    return {name + SHARED: partial(run, name + SHARED) for name in DECODERS}


def models_process(setting: Setting) -> Tasks:
    """Make the models of the params, and the bare products that the default model is held to."""
    device = prepare(compute_settings(setting))
    default = training_settings(setting)
    corpus = read_corpus(setting, default.max_length)
    plan = spread_batches(corpus.pairs, default, setting.sizes.batches)
    model = default_model(setting)
    middle = lengths_of(corpus, [plan[len(plan) // 2]])
    tasks = {"default": _contender(setting, corpus, model, default)}
    for name in transformers(setting)[:1]:
        own = training_settings(setting, name)
        tasks["transformer"] = _contender(setting, corpus, any_model(setting, name), own)
    tasks["square"] = square(setting.sizes.square, device)
    tasks["own_shapes"] = own_shapes(products(model, corpus.sizes[1], middle), device)
    return {**tasks, "multiply_adds": partial(multiply_adds, model, corpus, plan)}


def floor_process(setting: Setting) -> Tasks:
    """Make this project's decoders, and apart from them what any code for them needs."""
    device = prepare(compute_settings(setting))
    settings = _tutorial_training(setting)
    corpus = read_corpus(setting, settings.max_length)
    plan = spread_batches(corpus.pairs, settings, setting.sizes.batches)
    middle = lengths_of(corpus, [plan[len(plan) // 2]])
    tokens = int(middle.trg.sum())
    tasks: dict[str, Run] = {}
    for name in DECODERS:
        model = _decoder(setting, name)
        bare = {
            "products": own_shapes(products(model, corpus.sizes[1], middle), device),
            "gates": bare_tanh(activations(model, middle), device),
        }
        trainer = new_trainer(model, corpus, settings, compute_settings(setting))
        tasks[name] = _contender(setting, corpus, model, settings)
        for part, run in bare.items():
            tasks[f"{name}_{part}"] = partial(_for_tokens, run, tokens)
        tasks[f"{name}_loss"] = loss_and_optimizer(trainer, tokens, corpus.sizes[1])
    return tasks


def _for_tokens(run: Run, tokens: int) -> Lap:
    """Let a contender run whose work is a step for so many target tokens."""
    return Lap(run().seconds, tokens)


def _tutorial_training(setting: Setting) -> TrainingSettings:
    return tutorial_training(setting.sizes.tutorial_batch)


def _decoder(setting: Setting, name: str) -> RecurrentSettings:
    context, _ = DECODERS[name]
    return tutorial_model(setting.sizes.tutorial, context)


def _decoders(
    setting: Setting, compute: ComputeSettings, ending: str = "", group: Group = ALONE
) -> dict[str, Run]:
    """Return this project's training of each decoder at the loop's sizes."""
    prepare(compute)
    settings = _tutorial_training(setting)
    corpus = read_corpus(setting, settings.max_length)
    return {
        name + ending: _contender(
            setting, corpus, _decoder(setting, name), settings, compute, group
        )
        for name in DECODERS
    }


def _contender(
    setting: Setting,
    corpus: Corpus,
    model: ModelSettings,
    settings: TrainingSettings,
    compute: ComputeSettings | None = None,
    group: Group = ALONE,
) -> Run:
    """Return this project's training of a model, some batches a lap; `compute` as in the params."""
    trainer = new_trainer(model, corpus, settings, compute or compute_settings(setting), group)
    plan = spread_batches(corpus.pairs, settings, setting.sizes.batches)
    return partial(timed_training, trainer, corpus.pairs, plan)


def _loops(setting: Setting, ending: str, device: torch.device) -> dict[str, Run]:
    """Return the tutorial's training of both its models, on the batches of the decoders."""
    settings = _tutorial_training(setting)
    corpus = read_corpus(setting, settings.max_length)
    plan = spread_batches(corpus.pairs, settings, setting.sizes.batches)
    found: dict[str, Run] = {}
    for name in LOOPS:
        seed_everything(1)
        model = LoopModel(corpus.sizes, setting.sizes.tutorial, name == "loop_additive").to(device)
        trainer = LoopTrainer(model, settings.learning_rate, settings.clip_norm or 1.0)
        step = partial(_loop_step, trainer, corpus.pairs)
        found[name + ending] = partial(timed_steps, corpus.pairs, plan, step)
    return found


def _loop_step(trainer: LoopTrainer, pairs: Pairs, numbers: Numbers) -> torch.Tensor:
    return trainer.step(make_batch(pairs, numbers))


def default_process(setting: Setting, count: int) -> Tasks:
    """Make a training of the default model with so many threads."""
    training = training_settings(setting)
    compute = compute_settings(setting).model_copy(update={"threads": count})
    corpus = read_corpus(setting, training.max_length)
    return {"default": _contender(setting, corpus, default_model(setting), training, compute)}
