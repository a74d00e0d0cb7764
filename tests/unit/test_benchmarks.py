"""The benchmarks: every part works, contenders do the same work, figures say what they should."""

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import mean

import numpy as np
import psutil
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from typer.testing import CliRunner

from benchmarks.__main__ import PARTS
from benchmarks.arithmetic import Activation, Lengths, activations, products
from benchmarks.command import Options, measure
from benchmarks.corpora import join_and_cut, of_one_length, prepared, repeated
from benchmarks.figures import RATIO, Figure, Lap, combined, rate, speed_ratio
from benchmarks.processes.profile import operations
from benchmarks.profile import table as profile_table
from benchmarks.project import (
    Context,
    Corpus,
    compute_settings,
    new_trainer,
    read_corpus,
    spread_batches,
    trainer_step,
    tutorial_model,
    tutorial_training,
)
from benchmarks.results import BEGIN, END, Results, fill_in, table
from benchmarks.rounds import interleave
from benchmarks.setting import QUICK, Setting
from benchmarks.to_bleu import to_bleu
from benchmarks.tutorial import LoopModel, LoopTrainer
from benchmarks.worker import Worker, WorkerError
from nmt.corpus.tokens import read_tokens, tokens_path
from nmt.errors import DataError
from nmt.model.seq2seq import Seq2Seq
from nmt.model.settings import RecurrentSettings
from nmt.training.corpus import Batch, make_batch
from tests.world.grammar import write_mirror
from tests.world.project import ROOT

PARAMS = ROOT / "tests" / "world" / "params.yaml"
SHAPE = (8, 12, 3)

WANTED = {
    "training": {
        "no_attention", "between_layers", "fed_back", "default_of_bound", "transformer",
        "no_attention_same_settings", "loop_speed", "loop_additive_speed", "default_speed",
        "fed_back_bfloat16", "between_layers_bfloat16_shared", "fed_back_bfloat16_shared_speed",
    },
    "floor": {"no_attention_ceiling", "between_layers_products", "fed_back_gates"},
    "decoding": {"batched_greedy", "beam5", "one_at_a_time_speed", "beam5_speed"},
    "growth": {
        "corpus_4x_peak", "corpus_16x_peak", "corpus_16x_anonymous", "corpus_16x_time",
        "width_2x_time", "width_4x_work", "length_20_time", "length_40_peak", "decoding_40_time",
        "peak",
    },
    "tokenization": {"one_process", "two_processes", "plain", "seconds"},
    "runs": {"command", "reading"},
    "threads": {"two_active_to_two_passive", "two_to_one", "two_to_two_usual"},
    "to_bleu": {"minutes", "epochs"},
}  # fmt: skip


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    """Return the small world's corpus, tokenised, and the sizes of a quick look."""
    base = tmp_path_factory.mktemp("benchmarks")
    write_mirror(base / "mirror")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MULTI30K_MIRROR", str(base / "mirror"))
        with prepared(PARAMS, base, QUICK) as made:
            yield made


@pytest.fixture(scope="module")
def corpus(setting: Setting) -> Corpus:
    return read_corpus(setting, 100)


def batches(corpus: Corpus, count: int) -> list[Batch]:
    plan = spread_batches(corpus.pairs, tutorial_training(16), count)
    return [make_batch(corpus.pairs, numbers) for numbers in plan]


@pytest.mark.slow
@pytest.mark.parametrize("name", WANTED)
def test_each_part_works(name: str, setting: Setting) -> None:
    part = PARTS.get(name, to_bleu)
    figures = {figure.key: figure for figure in part(setting)}
    assert WANTED[name] <= set(figures)
    for figure in figures.values():
        assert math.isfinite(figure.value) and figure.value > 0, figure
        assert figure.low <= figure.high and figure.meaning, figure


def test_the_profile_shares_out_all_of_the_time(setting: Setting) -> None:
    found = operations(setting, "additive")
    assert sum(operation.share for operation in found) == pytest.approx(1.0)
    assert "aten::mm" in {operation.name for operation in found if operation.calls}
    text = profile_table(found, 3)
    assert [line.split("`")[1] for line in text.split("\n")[2:5]] == [o.name for o in found[:3]]


@pytest.mark.parametrize("name", [*WANTED, "profile", "__main__"])
def test_each_program_says_what_it_is_for(name: str) -> None:
    done = CliRunner().invoke(import_module(f"benchmarks.{name}").app, ["--help"])
    assert done.exit_code == 0
    module = "benchmarks" if name == "__main__" else f"benchmarks.{name}"
    assert f"python -m {module}" in done.output


# The tutorial's loop


def copy_weights(model: Seq2Seq, loop: LoopModel) -> None:
    """Give the loop the weights of this project's model."""
    names = {
        "encoder.embedding": "encoder.embedding",
        "encoder.gru": "encoder.layers.stack",
        "decoder.embedding": "decoder.embedding",
        "decoder.gru": "decoder.layers.stack",
        "decoder.attention.query": "decoder.attention.query",
        "decoder.attention.key": "decoder.attention.key",
        "decoder.attention.energy": "decoder.attention.energy",
        "decoder.output": "output",
    }
    ours = dict(model.named_parameters())
    with torch.no_grad():
        for name, weight in loop.named_parameters():
            module, _, last = name.rpartition(".")
            weight.copy_(ours.pop(f"{names[module]}.{last}"))
    assert not ours, "all weights of the one stand in the other"


@pytest.mark.parametrize("context", ["none", "fed_back"])
def test_the_loop_does_the_same_work_as_our_decoder(
    context: Context, corpus: Corpus, setting: Setting
) -> None:
    """At equal weights it has the same loss, and training takes both the same way down."""
    settings, compute = tutorial_training(16), compute_settings(setting)
    trainer = new_trainer(tutorial_model(SHAPE, context), corpus, settings, compute)
    loop = LoopModel(corpus.sizes, SHAPE, attention=context == "fed_back")
    copy_weights(trainer.model, loop)
    rival = LoopTrainer(loop, settings.learning_rate, settings.clip_norm or 1.0)
    every = batches(corpus, 5) * 4
    ours = [float(trainer_step(trainer, batch)) for batch in every]
    theirs = [float(rival.step(batch)) for batch in every]
    assert theirs[0] == pytest.approx(ours[0], rel=1e-5)
    assert theirs == pytest.approx(ours, rel=1e-3)
    assert mean(ours[-5:]) < mean(ours[:5])


# The count of multiply-adds


def counted(run: Callable[[], object]) -> int:
    """Return the multiply-adds that torch itself counts."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        run()
    return int(counter.get_total_flops()) // 2


def lengths_of(batch: Batch) -> Lengths:
    return Lengths(
        batch.lengths.numpy().astype(np.int32), (batch.targets != 1).sum(1).numpy().astype(np.int32)
    )


def rectangle(batch: Batch, size: int = 4) -> Batch:
    """Return sentences of one length, the same on each row, so that there is no padding."""
    rows = torch.zeros(size, dtype=torch.long)
    src = batch.src[rows][:, : int(batch.lengths[0])]
    real = int((batch.targets[0] != 1).sum())
    targets = batch.targets[rows][:, :real]
    return Batch(
        src, batch.lengths[rows], batch.inputs[rows][:, :real], targets, torch.arange(size * real)
    )


@pytest.mark.parametrize("context", ["none", "fed_back"])
def test_multiply_adds_of_the_loop_are_those_that_torch_counts(
    context: Context, corpus: Corpus
) -> None:
    batch = rectangle(batches(corpus, 1)[0])
    loop = LoopModel(corpus.sizes, SHAPE, attention=context == "fed_back")
    expected = counted(partial(loop, batch.src, batch.lengths, batch.inputs))
    lengths = lengths_of(batch)
    found = sum(p.count for p in products(tutorial_model(SHAPE, context), corpus.sizes[1], lengths))
    if context == "fed_back":  # the loop projects the keys anew at each step
        keys = int(lengths.src.sum()) * SHAPE[1] ** 2
        found += (batch.targets.shape[1] - 1) * keys
    assert found == expected


@pytest.mark.parametrize("context", ["none", "fed_back", "between_layers"])
@pytest.mark.parametrize(("cell", "both_ways"), [("gru", True), ("rnn", False)])
def test_multiply_adds_of_our_models_are_those_that_torch_counts(
    context: Context, cell: str, both_ways: bool, corpus: Corpus
) -> None:
    settings = RecurrentSettings.model_validate(
        tutorial_model(SHAPE, context).model_dump()
        | {"attention": "none" if context == "none" else "scaled_dot", "cell": cell}
        | {"bidirectional": both_ways, "tie_target": both_ways, "encoder_layers": 1}
    )
    batch = rectangle(batches(corpus, 1)[0])
    model = Seq2Seq(settings, *corpus.sizes).eval()

    def forward() -> None:
        features = model.features(batch.src, batch.lengths, batch.inputs)
        model.output(features.flatten(0, 1)[batch.real])

    found = sum(p.count for p in products(settings, corpus.sizes[1], lengths_of(batch)))
    assert found == counted(forward)


def test_padding_counts_in_no_product() -> None:
    settings = tutorial_model(SHAPE, "between_layers")
    alone = [Lengths(*(np.array([n], np.int32) for n in pair)) for pair in ((3, 4), (7, 9))]
    together = Lengths(np.array([3, 7], np.int32), np.array([4, 9], np.int32))
    counts = [sum(p.count for p in products(settings, 50, of)) for of in (*alone, together)]
    assert counts[0] + counts[1] == counts[2]


def test_sigmoids_and_tanhs_are_counted_by_step() -> None:
    """By hand: three GRU layers a side of width 12, three gates, 3 source and 4 target tokens."""
    lengths = Lengths(np.array([3], np.int32), np.array([4], np.int32))
    gates = 3 * [Activation(3 * 36, 3)] + 3 * [Activation(4 * 36, 4)]
    attention: dict[Context, list[Activation]] = {
        "none": [],
        "between_layers": [Activation(3 * 4 * 12, 1)],
        "fed_back": [Activation(3 * 3 * 4 * 12, 4)],
    }
    for context, asked in attention.items():
        assert activations(tutorial_model(SHAPE, context), lengths) == gates + asked


# Corpora


def test_a_few_batches_stand_for_the_whole_corpus(corpus: Corpus) -> None:
    lengths = corpus.pairs.trg.lengths
    plan = spread_batches(corpus.pairs, tutorial_training(8), 6)
    chosen = np.concatenate([lengths[numbers] for numbers in plan])
    assert chosen.mean() == pytest.approx(lengths.mean(), rel=0.1)
    assert len({int(n) for numbers in plan for n in numbers}) == len(chosen)


def test_sentences_are_joined_and_cut_to_one_length() -> None:
    pairs = [(list("abc"), list("ABCD")), (list("de"), list("E")), (list("fgh"), list("FGH"))]
    assert list(join_and_cut(pairs, 4)) == [(list("abcd"), list("ABCD"))]
    assert list(join_and_cut(pairs, 1)) == [
        (["a"], ["A"]), (["d"], ["E"]), (["f"], ["F"]),
    ]  # fmt: skip


def test_a_corpus_is_repeated_or_made_of_one_length_without_changing_the_first(
    setting: Setting,
) -> None:
    def side(of: Setting, language: str) -> list[list[str]]:
        return read_tokens(tokens_path(of.tokens, "train", language))

    before = side(setting, "de")
    assert side(repeated(setting, 3), "de") == before * 3
    made = of_one_length(setting, 7)
    assert {len(s) for language in ("de", "en") for s in side(made, language)} == {7}
    assert len(side(made, "de")) == len(side(made, "en")) > 100
    assert side(setting, "de") == before


# Rounds and processes


def test_contenders_run_in_turn_and_warm_up_first() -> None:
    order: list[str] = []

    def run(name: str) -> int:
        order.append(name)
        return len(order)

    contenders = {name: partial(run, name) for name in "ABC"}
    told = interleave(contenders, 2, "test")
    assert "".join(order) == "ABCABCABC"
    assert told == {"A": [4, 7], "B": [5, 8], "C": [6, 9]}
    order.clear()
    assert interleave(contenders, 1, "test", warm_up=2) == {"A": [7], "B": [8], "C": [9]}
    order.clear()
    assert interleave(contenders, 1, "test", warm_up=0) == {"A": [1], "B": [2], "C": [3]}


TASKS = {
    "policy": partial(os.getenv, "OMP_WAIT_POLICY"),
    "spin": partial(os.getenv, "GOMP_SPINCOUNT"),
    "pid": os.getpid,
    "print": partial(print, "between the answers"),
    "fail": partial(int, "no number"),
}
MAKE: Callable[[], dict[str, Callable[[], object]]] = partial(dict, TASKS)


def test_a_worker_has_variables_of_its_own_and_is_stopped_between_its_tasks() -> None:
    with Worker(MAKE, {"OMP_WAIT_POLICY": "active"}) as worker:
        assert worker.run("policy") == "active"
        assert worker.run("print") is None
        process = psutil.Process(worker.run("pid"))
        assert process.pid != os.getpid()
        assert process.status() == psutil.STATUS_STOPPED
    assert not process.is_running()


@pytest.mark.parametrize("stage", [True, False])
def test_threads_of_a_worker_wait_as_in_a_stage_or_as_usual(stage: bool) -> None:
    unset = {"OMP_WAIT_POLICY": None, "GOMP_SPINCOUNT": None}
    with Worker(MAKE, unset, stage=stage) as worker:
        assert (worker.run("spin") is not None) == stage


def test_a_worker_that_fails_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    with (
        pytest.raises(WorkerError, match="ended with code 1; its own message stands above"),
        Worker(MAKE) as worker,
    ):
        worker.run("fail")
    assert "invalid literal for int()" in capfd.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells a process of its parent's death")
def test_a_stopped_worker_ends_with_its_parent() -> None:
    program = """
import os, time
from functools import partial
from benchmarks.worker import Worker
worker = Worker(partial(dict, {"pid": os.getpid}))
print(worker.run("pid"), flush=True)
time.sleep(60)
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()
    end = time.monotonic() + 10
    while is_alive(child) and time.monotonic() < end:
        time.sleep(0.02)
    assert not is_alive(child)


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


# Figures and results


def test_a_ratio_is_of_medians_and_its_spread_of_rounds() -> None:
    fast = [Lap(1.0, 30), Lap(2.0, 20), Lap(1.0, 20)]  # 30, 10, 20 a second
    slow = [Lap(1.0, 10), Lap(1.0, 10), Lap(1.0, 40)]
    found = speed_ratio("key", "what", fast, slow)
    assert (found.value, found.low, found.high) == (2.0, 0.5, 3.0)
    speed = rate("key", "what", "tokens/s", fast)
    assert (speed.value, speed.low, speed.high) == (20.0, 10.0, 30.0)


def test_of_several_runs_the_median_is_taken() -> None:
    runs = [[Figure("a", "what", "×", value, value - 1, value + 1)] for value in (5.0, 2.0, 3.0)]
    assert combined(runs) == [Figure("a", "what", "×", 3.0, 1.0, 6.0)]


def made(key: str, value: float) -> Figure:
    return Figure(key, f"what {key} is", "×", value, value / 2, value * 2)


def results(**parts: list[Figure]) -> Results:
    return Results({"processor": "made", "cores": "2"}, False, dict.fromkeys(parts, 1), parts)


def test_results_are_values_by_part_and_key(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    whole = results(training=[made("fed_back", 1.53219), made("bound", 2.0)])
    whole.write(path)
    found = json.loads(path.read_text())
    assert found["training"] == {"fed_back": 1.532, "bound": 2.0}
    assert found["machine"]["cores"] == "2"
    assert [f.key for f in Results.read(path).parts["training"]] == ["fed_back", "bound"]


def test_parts_of_one_machine_are_kept_together(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    results(training=[made("a", 1.0)], runs=[made("b", 1.0)]).write(path)
    again = replace(results(runs=[made("b", 3.0)]), repeats={"runs": 3})
    whole = again.added_to(path)
    assert whole.parts == {"training": [made("a", 1.0)], "runs": [made("b", 3.0)]}
    assert whole.repeats == {"training": 1, "runs": 3}
    elsewhere = replace(again, machine={"processor": "another"})
    assert elsewhere.added_to(path).parts == {"runs": [made("b", 3.0)]}
    assert replace(again, quick=True).added_to(path).parts == {"runs": [made("b", 3.0)]}


def test_measuring_writes_results_picture_and_page(
    tmp_path: Path, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_mirror(tmp_path / "mirror")
    monkeypatch.setenv("MULTI30K_MIRROR", str(tmp_path / "mirror"))
    page = tmp_path / "page.md"
    page.write_text(f"# Speed\n\n{BEGIN}\nold\n{END}\n\nEnd.\n")
    figures = [made("a", 2.0), Figure("speed", "how fast", "target tokens/s", 1234.5, 1000, 2000)]
    options = Options(PARAMS, quick=True, repeat=2, out=tmp_path / "out", page=page)
    measure({"training": lambda _: figures}, options)
    found = json.loads((tmp_path / "out" / "results.json").read_text())
    assert (found["training"], found["repeats"]) == (
        {"a": 2.0, "speed": 1234.0},
        {"training": 2},
    )
    facts = found["machine"]
    assert {"processor", "cores", "torch", "threads", "omp_wait_policy"} <= set(facts)
    assert not {os.uname().nodename, str(tmp_path)} & set(facts.values())
    text = page.read_text()
    assert "old" not in text and text.endswith("End.\n")
    assert "| `training.a` | 2.00 | 1.00 … 4.00 | what a is |" in text
    assert "| `training.speed` | 1,234 target tokens/s | 1,000 … 2,000 | how fast |" in text
    assert "these figures mean nothing" in text, "it was a quick look"
    assert (tmp_path / "out" / "results.png").read_bytes().startswith(b"\x89PNG")


def test_the_page_is_what_the_file_of_results_alone_gives(
    tmp_path: Path, setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_mirror(tmp_path / "mirror")
    monkeypatch.setenv("MULTI30K_MIRROR", str(tmp_path / "mirror"))
    page, copy = tmp_path / "page.md", tmp_path / "copy.md"
    for path in (page, copy):
        path.write_text(f"{BEGIN}\n{END}\n")
    # 0.563 as it is, 0.562 as it is kept: 0.5625
    figures = [Figure("a", "what a is", RATIO, 1.0, 0.56254, 2.0)]
    options = Options(PARAMS, quick=True, out=tmp_path / "out", page=page)
    measure({"training": lambda _: figures}, options)
    fill_in(copy, Results.read(tmp_path / "out" / "results.json"))
    assert copy.read_text() == page.read_text()


def test_a_page_without_marks_is_an_error(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Speed\n")
    with pytest.raises(DataError, match="the line <!-- figures --> or .* is missing"):
        fill_in(page, results())


def test_ratios_come_first_in_the_table() -> None:
    speed = Figure("speed", "how fast", "tokens/s", 1.0, 1.0, 1.0)
    lines = table(results(training=[speed, made("a", 1.0)], runs=[made("b", 1.0)])).split("\n")
    assert [line.split("`")[1] for line in lines[2:]] == ["training.a", "runs.b", "training.speed"]


def test_the_committed_page_shows_the_committed_results(tmp_path: Path) -> None:
    path = ROOT / "benchmarks" / "results.json"
    if not path.exists():
        pytest.skip("no results are committed yet: run `make bench`")
    found = Results.read(path)
    assert not found.quick
    page = ROOT / "docs" / "performance.md"
    copy = tmp_path / "page.md"
    copy.write_bytes(page.read_bytes())
    fill_in(copy, found)
    assert copy.read_bytes() == page.read_bytes()
