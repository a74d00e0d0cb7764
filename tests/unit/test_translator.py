"""From tokens to translations: unknown words, order, files, refusals."""

import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from nmt.compute import ComputeSettings
from nmt.corpus.settings import DataSettings
from nmt.corpus.symbols import UNK
from nmt.corpus.tokens import tokens_path, write_tokens
from nmt.corpus.vocabulary import Vocabulary
from nmt.decoding.job import Job, summary, translate_tests
from nmt.decoding.settings import DecodingSettings
from nmt.decoding.translator import Translation, Translator
from nmt.decoding.unknown import replace_unknown
from nmt.errors import DataError, ModelError
from nmt.files import read_lines, sha256, write_json
from nmt.model.seq2seq import Seq2Seq
from nmt.model.store import save_model
from nmt.prepared import Prepared
from nmt.spacing import Spacing
from nmt.translations import read_attention, read_hypotheses, read_record
from tests.unit.search_models import SIZE, real_model, settings, sources

COMPUTE = ComputeSettings(device="cpu", precision="float32", threads=1, processes=1)

# --- unknown words ---------------------------------------------------------------------------

ROWS = np.array(
    [[[0.1, 0.8, 0.1], [0.2, 0.1, 0.7]], [[0.5, 0.2, 0.3], [0.1, 0.3, 0.6]]], np.float32
)


@pytest.mark.parametrize(
    ("tokens", "weights", "source", "expected"),
    [
        (["<unk>"], ROWS, ["groß", "haus"], ["groß"]),  # the last row is the top layer's
        (["a", "<unk>"], ROWS, ["groß", "haus"], ["a", "haus"]),  # not the end sign, at 0.6
        (["<unk>", "<unk>"], ROWS[:1], ["groß", "haus"], ["haus", "groß"]),
        (["a", "b"], ROWS, ["groß", "haus"], ["a", "b"]),
        (["<unk>"], ROWS[:0], ["groß", "haus"], ["<unk>"]),  # no attention
        (["<unk>"], ROWS[:, :, 2:], [], ["<unk>"]),  # empty source
        ([], ROWS, ["groß", "haus"], []),
        (["<unk>"], np.full((1, 1, 3), 1 / 3, np.float32), ["x", "y"], ["x"]),  # a tie
    ],
)
def test_unknown_words_come_from_the_source(
    tokens: list[str], weights: np.ndarray, source: list[str], expected: list[str]
) -> None:
    assert replace_unknown(tokens, weights, source) == expected


# --- the translator --------------------------------------------------------------------------

GERMAN = Vocabulary.build([[f"de{i:02}" for i in range(SIZE - 4)]], 1)
ENGLISH = Vocabulary.build([[f"en{i:02}" for i in range(SIZE - 4)]], 1)
SENTENCES = [[GERMAN.tokens[i] if i else "fremd" for i in ids] for ids in sources()]


def translator(model: Seq2Seq, how: DecodingSettings) -> Translator:
    return Translator((model,), GERMAN, ENGLISH, " ".join, how, COMPUTE)


def test_order_is_kept_whatever_the_lengths_and_the_batch() -> None:
    model, how = real_model(), settings(beam=3, ratio=1.5, extra=3)
    expected = [translator(model, how).translate([s])[0] for s in SENTENCES]
    for size in (1, 3, 100):
        found = translator(model, how.model_copy(update={"batch_size": size})).translate(SENTENCES)
        assert [t.hypothesis.tokens for t in found] == [t.hypothesis.tokens for t in expected]
        for got, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(got.weights, wanted.weights, atol=1e-5)
            assert got.hypothesis.log_probability == pytest.approx(
                wanted.hypothesis.log_probability, abs=1e-5
            )


def test_hypotheses_tell_of_unknown_words_and_lengths() -> None:
    found = translator(real_model(), settings(ratio=1.5)).translate(SENTENCES)
    hypotheses = [t.hypothesis for t in found]
    assert [h.source_length for h in hypotheses] == [len(s) for s in SENTENCES]
    assert [h.source_unknown for h in hypotheses] == [0] * 9 + [3]
    assert all(h.unknown == h.tokens.count("<unk>") for h in hypotheses)
    assert all(h.text == " ".join(h.tokens) for h in hypotheses)


def test_all_unknown_and_empty_sources_give_one_finite_line_each() -> None:
    """V03: nothing of the source is known."""
    found = translator(real_model(), settings()).translate([["qwzx", "vbnk", "."], []])
    assert [t.hypothesis.source_unknown for t in found] == [3, 0]
    assert all(math.isfinite(t.hypothesis.log_probability) for t in found)
    assert all(np.isfinite(t.weights).all() for t in found)


def test_no_sentences_give_no_translations() -> None:
    assert translator(real_model(), settings()).translate([]) == []


def test_produced_unknown_words_are_counted_and_replaced_if_asked() -> None:
    model = real_model(end=-1e4)
    with torch.no_grad():
        model.output.bias[UNK] += 1e3
    kept = translator(model, settings(extra=3)).translate([["de00", "fremd"]])[0]
    assert kept.hypothesis.tokens == ["<unk>"] * 3
    taken = translator(model, settings(extra=3, replace_unknown=True)).translate(
        [["de00", "fremd"]]
    )[0]
    assert set(taken.hypothesis.tokens) <= {"de00", "fremd"}
    assert taken.hypothesis.text == " ".join(taken.hypothesis.tokens)
    assert taken.hypothesis.unknown == kept.hypothesis.unknown == 3


def test_translating_twice_is_the_same_and_draws_no_random_number() -> None:
    """T06, for a model that was left in training mode too."""
    tool = translator(real_model().train(), settings(beam=3, ratio=1.5, extra=3))
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = tool.translate(SENTENCES)
    assert torch.equal(torch.get_rng_state(), before)
    assert same(tool.translate(SENTENCES), first)


def same(some: list[Translation], others: list[Translation]) -> bool:
    return all(
        a.hypothesis == b.hypothesis and np.array_equal(a.weights, b.weights)
        for a, b in zip(some, others, strict=True)
    )


# --- files -----------------------------------------------------------------------------------

TESTS = {"test_a": SENTENCES, "test_b": [["qwzx", "vbnk"], []]}
TOKENIZER = {"kind": "spacy", "spacy": "3.8.18", "source": "blank de"}
ROOT = Path(__file__).parents[2]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A model, tokens and vocabularies on disk."""
    data = DataSettings.model_construct(
        source_language="de", target_language="en", tests=tuple(TESTS)
    )
    made = Job(
        data=data,
        compute=COMPUTE,
        decoding=settings(beam=2, ratio=1.5, extra=3),
        models=(tmp_path / "models/small/1",),
        prepared=Prepared(tmp_path / "prepared/small"),
        out=tmp_path / "translations/small/1",
    )
    for test, sentences in TESTS.items():
        write_tokens(tokens_path(made.prepared.tokens, test, "de"), sentences)
    write_json(made.prepared.tokens / "tokenizer.json", TOKENIZER)
    GERMAN.save(made.prepared.vocab / "de.json")
    ENGLISH.save(made.prepared.vocab / "en.json")
    Spacing.learn(["en00 en01"], [["en00", "en01"]]).save(made.prepared.spacing)
    save(made, real_model())
    return made


def save(job: Job, model: Seq2Seq, seed: int = 1, name: str = "small") -> None:
    folder = job.models[0].parent / str(seed)
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {
        side: {"size": SIZE, "sha256": sha256(job.prepared.vocab / f"{language}.json")}
        for side, language in (("source", "de"), ("target", "en"))
    }
    config = {
        "name": name,
        "seed": seed,
        "model": model.settings.model_dump(),
        "tokenizer": TOKENIZER,
        "vocabulary": vocabulary,
        "parameters": model.parameter_count,
        "best_epoch": seed + 1,
    }
    save_model(folder, model.state_dict(), config)


def test_each_test_set_is_translated_line_by_line(job: Job) -> None:
    translate_tests(job)
    for test, sentences in TESTS.items():
        hypotheses = read_hypotheses(job.out / "hypotheses", test)
        weights = read_attention(job.out / "attention", test)
        texts = read_lines(job.out / "hypotheses" / f"{test}.txt")
        assert [h.source_length for h in hypotheses] == [len(s) for s in sentences]
        assert texts == [h.text for h in hypotheses]
        for h, w in zip(hypotheses, weights, strict=True):
            assert w.shape == (1, len(h.tokens) + (not h.cut), h.source_length + 1)
            np.testing.assert_allclose(w.sum(-1), 1, atol=1e-5)


def test_the_record_tells_what_made_them(job: Job) -> None:
    translate_tests(job)
    record = read_record(job.out / "hypotheses")
    assert (record.name, record.seed, record.best_epoch) == ("small", 1, 2)
    assert record.parameters == real_model().parameter_count
    assert record.decoding == job.decoding.model_dump()
    assert record.tokenizer == TOKENIZER
    assert (record.source_language, record.target_language) == ("de", "en")


def test_a_second_run_gives_the_same_bytes_and_leaves_nothing_else(job: Job) -> None:
    translate_tests(job)
    first = digests(job.out)
    (job.out / "hypotheses" / "old_test.txt").write_text("of an earlier grid")
    translate_tests(job)
    assert digests(job.out) == first
    assert sorted(first) == [
        "attention/test_a.safetensors",
        "attention/test_b.safetensors",
        "hypotheses/record.json",
        "hypotheses/test_a.jsonl",
        "hypotheses/test_a.txt",
        "hypotheses/test_b.jsonl",
        "hypotheses/test_b.txt",
    ]


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): sha256(path)
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_model_without_attention_writes_empty_rows(job: Job) -> None:
    save(job, real_model("plain"))
    translate_tests(replace(job, decoding=settings(replace_unknown=True)))
    shapes = [w.shape for w in read_attention(job.out / "attention", "test_b")]
    assert [(a, s) for a, _, s in shapes] == [(0, 3), (0, 1)]


def test_another_vocabulary_is_refused(job: Job) -> None:
    tokens, counts = list(GERMAN.tokens), GERMAN.counts
    tokens[-2:] = reversed(tokens[-2:])
    Vocabulary(tuple(tokens), counts).save(job.prepared.vocab / "de.json")
    with pytest.raises(ModelError, match=r"de\.json: SHA-256 is .*, but .*/small/1 was trained"):
        translate_tests(job)
    assert not job.out.exists()


def test_a_vocabulary_of_another_size_is_refused(job: Job) -> None:
    Vocabulary(ENGLISH.tokens[:-1], ENGLISH.counts[:-1]).save(job.prepared.vocab / "en.json")
    with pytest.raises(ModelError, match="target vocabulary of 40 tokens, got 39"):
        translate_tests(job)


def test_tokens_of_another_tokenizer_are_refused(job: Job) -> None:
    """S02: the version drifted."""
    write_json(job.prepared.tokens / "tokenizer.json", TOKENIZER | {"spacy": "3.7.2"})
    with pytest.raises(
        ModelError, match=r"not the tokenizer that .*: spacy is '3\.7\.2', in training '3\.8\.18';"
    ):
        translate_tests(job)
    assert not job.out.exists()


def test_a_missing_model_is_told(job: Job) -> None:
    with pytest.raises(DataError, match=r"config\.json: no such file; run the stage that makes it"):
        translate_tests(replace(job, models=(job.models[0].parent / "2",)))


# --- ensembles -------------------------------------------------------------------------------


def of_seeds(job: Job, *seeds: int) -> Job:
    """Return the same for all seeds at once."""
    return replace(job, models=tuple(job.models[0].parent / str(seed) for seed in seeds))


def test_an_ensemble_is_translated_with_all_members(job: Job) -> None:
    translate_tests(job)
    alone = digests(job.out)
    other = real_model()
    with torch.no_grad():
        other.output.weight.neg_()
    save(job, other, seed=4)
    translate_tests(of_seeds(job, 1, 4))
    both = digests(job.out)
    assert both.keys() == alone.keys()
    assert all(both[path] != alone[path] for path in both)
    record = read_record(job.out / "hypotheses")
    assert (record.name, record.seed, record.best_epoch) == ("small", (1, 4), (2, 5))
    assert record.parameters == 2 * real_model().parameter_count
    for weights in read_attention(job.out / "attention", "test_a"):
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


def test_an_ensemble_of_equals_is_its_member(job: Job) -> None:
    translate_tests(job)
    alone = [read_hypotheses(job.out / "hypotheses", test) for test in TESTS]
    save(job, real_model(), seed=2)
    translate_tests(of_seeds(job, 1, 2))
    both = [read_hypotheses(job.out / "hypotheses", test) for test in TESTS]
    assert [[h.tokens for h in test] for test in both] == [[h.tokens for h in t] for t in alone]


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("plain", "small", r"small/1 and .*small/2 can't translate together: .*'additive'.*'none'"),
        ("between", "other", "they are small with .*, and other with .*; train both with the same"),
    ],
)
def test_members_of_unlike_models_are_refused(job: Job, kind: str, name: str, message: str) -> None:
    save(job, real_model(kind), seed=2, name=name)
    with pytest.raises(ModelError, match=message):
        translate_tests(of_seeds(job, 1, 2))
    assert not job.out.exists()


def test_the_log_counts_cut_and_unknown(job: Job, caplog: pytest.LogCaptureFixture) -> None:
    save(job, real_model(end=-1e4))
    with caplog.at_level("INFO"):
        translate_tests(job)
    assert ("test_b: 2 sentences, 2 cut at the length limit (100.0%), 0 empty, ") in caplog.text
    assert "2 of 2 source tokens unknown (100.0%)" in caplog.text


def test_summary_of_nothing() -> None:
    assert summary("test", []) == (
        "test: 0 sentences, 0 cut at the length limit (0.0%), 0 empty, 0 <unk> produced, "
        "0 of 0 source tokens unknown (0.0%)"
    )


def run_stage(job: Job, params: Path) -> subprocess.CompletedProcess[str]:
    root = job.models[0].parents[2]
    return subprocess.run(
        [
            *(sys.executable, "-m", "pipeline.translate", "--model", "small", "--seed", "1"),
            *("--params", str(params), "--models", str(root / "models")),
            *("--prepared", str(job.prepared.folder.parent)),
            *("--out", str(root / "translations")),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_stage_script_translates_and_tells_errors(job: Job, tmp_path: Path) -> None:
    params = tmp_path / "params.yaml"
    files = {
        f"{split}.{language}": {"rows": 1, "archive": "0" * 64, "text": "0" * 64}
        for split in ("train", "val", *TESTS)
        for language in ("de", "en")
    }
    data = {
        "source_language": "de",
        "target_language": "en",
        "train": "train",
        "validation": "val",
        "tests": list(TESTS),
        "sources": [],
        "files": files,
    }
    values = {
        "data": data,
        "compute": COMPUTE.model_dump(),
        "decoding": job.decoding.model_dump(),
    }
    params.write_text(json.dumps(values))  # JSON is YAML
    done = run_stage(job, params)
    assert done.returncode == 0, done.stderr
    through_script = digests(job.out)
    translate_tests(job)
    assert digests(job.out) == through_script
    write_json(job.prepared.tokens / "tokenizer.json", TOKENIZER | {"kind": "other"})
    failed = run_stage(job, params)
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1].startswith("error: ")
    assert "kind is 'other'" in failed.stderr
