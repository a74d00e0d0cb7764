"""The models: padding, steps against whole targets, shapes, saving."""

import itertools
from pathlib import Path

import pytest
import torch

from nmt.corpus.batches import pad
from nmt.corpus.symbols import EOS, PAD, SOS
from nmt.errors import ModelError, ParamsError
from nmt.files import read_json, write_json
from nmt.model.decoder import build_decoder
from nmt.model.encoder import Encoder
from nmt.model.seq2seq import Seq2Seq
from nmt.model.settings import ModelSettings, RecurrentSettings
from nmt.model.store import load_model, save_model
from nmt.params import Params
from nmt.validation.greedy import greedy

SOURCES = [[5, 6, 7, EOS], [8, EOS], [EOS], [4, 4, 4, 4, 9, EOS]]
TARGETS = [[5, 6, EOS], [7, 8, 9, 10, EOS], [EOS], [4, EOS]]
CONTEXTS = [
    {"attention": "none", "context": "none"},
    {"attention": "additive", "context": "fed_back"},
    {"attention": "scaled_dot", "context": "fed_back"},
    {"attention": "additive", "context": "between_layers"},
    {"attention": "dot", "context": "between_layers"},
    {"attention": "additive", "context": "between_layers", "alignment": "hard"},
    {"attention": "scaled_dot", "context": "fed_back", "alignment": "hard"},
]
KINDS: list[dict[str, object]] = [
    {**context, "cell": cell, "bidirectional": both}
    for context, cell, both in itertools.product(CONTEXTS, ("gru", "lstm", "rnn"), (False, True))
]


def settings(**changes: object) -> RecurrentSettings:
    values: dict[str, object] = {
        "kind": "recurrent",
        "cell": "gru",
        "attention": "scaled_dot",
        "alignment": "soft",
        "context": "between_layers",
        "embedding": 6,
        "hidden": 8,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "bidirectional": True,
        "dropout": 0.2,
        "attention_dropout": 0.1,
        "tie_target": True,
        "tie_source": False,
        "tokenizer": "words",
    }
    return RecurrentSettings.model_validate(values | changes)


def model(**changes: object) -> Seq2Seq:
    torch.manual_seed(1)
    return Seq2Seq(settings(**changes), source_size=11, target_size=12).eval()


def inputs(targets: list[list[int]]) -> torch.Tensor:
    filled, _ = pad(targets)
    return torch.cat([torch.full((len(targets), 1), SOS), filled[:, :-1]], dim=1)


def name(kind: dict[str, object]) -> str:
    return "-".join(map(str, kind.values()))


@pytest.mark.parametrize("kind", KINDS, ids=name)
def test_steps_equal_the_whole_target_at_once(kind: dict[str, object]) -> None:
    m = model(**kind)
    src, lengths = pad(SOURCES)
    trg = inputs(TARGETS)
    whole = m.output(m.features(src, lengths, trg))
    memory = m.encode(src, lengths)
    state = m.start(memory)
    for i in range(trg.shape[1]):
        step = m.step(trg[:, i], state, memory)
        state = step.state
        torch.testing.assert_close(step.logits, whole[:, i], atol=1e-5, rtol=1e-5)
        assert step.weights.shape == (len(SOURCES), m.attention_rows, src.shape[1])


@pytest.mark.parametrize("kind", KINDS, ids=name)
def test_padding_has_no_influence(kind: dict[str, object]) -> None:
    """A sentence alone and in a batch of longer ones gives the same scores."""
    m = model(**kind)
    src, lengths = pad(SOURCES)
    together = m.features(src, lengths, inputs(TARGETS))
    for i, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        alone = m.features(*pad([source]), inputs([target]))[0]
        torch.testing.assert_close(together[i, : len(target)], alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS, ids=name)
def test_attention_sums_to_one_and_never_reads_padding(kind: dict[str, object]) -> None:
    m = model(**kind)
    src, lengths = pad(SOURCES)
    found = greedy(m, src, lengths, lengths + 3)
    for weights, tokens, cut, source in zip(
        found.weights, found.tokens, found.cut, SOURCES, strict=True
    ):
        assert weights.shape == (m.attention_rows, len(tokens) + (not cut), len(source))
        if m.attention_rows:
            torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:2]))


@pytest.mark.parametrize("kind", KINDS, ids=name)
def test_every_weight_learns(kind: dict[str, object]) -> None:
    m = model(**kind)
    src, lengths = pad(SOURCES)
    m.output(m.features(src, lengths, inputs(TARGETS))).square().sum().backward()
    for weight_name, weight in m.named_parameters():
        assert weight.grad is not None, weight_name
        assert weight.grad.abs().sum() > 0, weight_name


def test_encoder_returns_states_and_last_states() -> None:
    encoder = Encoder(settings(), 11).eval()
    src, lengths = pad(SOURCES)
    states, (last,) = encoder(src, lengths)
    assert states.shape == (4, 6, 8)
    assert last.shape == (2, 4, 8)
    # Forward half: the state at the last token; backward half: the one at the first.
    torch.testing.assert_close(last[-1, 1], torch.cat([states[1, 1, :4], states[1, 0, 4:]]))
    assert (states[1, 2:] == 0).all()


def test_own_tokens_replace_true_ones_where_not_forced() -> None:
    """With p = 0 the features are those of the model's own greedy output."""
    m = model()
    src, lengths = pad(SOURCES)
    free = m.features(src, lengths, inputs([[4] * 5] * 4), forced=[False] * 5)
    memory, token = m.encode(src, lengths), torch.full((4,), SOS)
    state = m.start(memory)
    for i in range(5):
        step = m.step(token, state, memory)
        torch.testing.assert_close(m.output(free[:, i]), step.logits, atol=1e-5, rtol=1e-5)
        logits = step.logits.clone()
        logits[:, [PAD, SOS]] = -torch.inf
        token, state = logits.argmax(-1), step.state


def test_bridge_only_where_encoder_and_decoder_differ() -> None:
    def maps(**changes: object) -> int:
        return len(build_decoder(settings(**changes), 12).bridge.maps)

    assert maps(bidirectional=False) == 0
    assert maps(bidirectional=True) == 1
    assert maps(bidirectional=False, encoder_layers=1) == 1
    assert maps(cell="lstm", encoder_layers=3) == 2


def test_tied_output_is_the_target_embedding() -> None:
    tied, free = model(), model(tie_target=False)
    assert tied.output.weight is tied.decoder.embedding.weight
    assert free.output.weight.shape == (12, 8)  # wide features are mapped to the width H first


@pytest.mark.parametrize("tie_target", [True, False])
def test_one_embedding_may_serve_both_sides(tmp_path: Path, tie_target: bool) -> None:
    changes: dict[str, object] = {"tie_target": tie_target, "tie_source": True}
    m = Seq2Seq(settings(**changes), source_size=12, target_size=12).eval()
    assert m.encoder.embedding.weight is m.decoder.embedding.weight
    own = Seq2Seq(settings(tie_target=tie_target), source_size=12, target_size=12)
    assert own.parameter_count - m.parameter_count == 12 * 6
    config = {
        "model": m.settings.model_dump(),
        "vocabulary": {"source": {"size": 12}, "target": {"size": 12}},
    }
    save_model(tmp_path, m.copy_weights(), config)
    loaded, _ = load_model(tmp_path, torch.device("cpu"), 12, 12)
    src, lengths = pad(SOURCES)
    torch.testing.assert_close(
        loaded.features(src, lengths, inputs(TARGETS)), m.features(src, lengths, inputs(TARGETS))
    )
    with pytest.raises(ModelError, match="tie_source needs one vocabulary .* 11 tokens and one of"):
        model(**changes)


@pytest.mark.parametrize("tie", [True, False])
def test_saved_model_is_the_same_model(tmp_path: Path, tie: bool) -> None:
    m = model(tie_target=tie)
    config = {
        "model": m.settings.model_dump(),
        "vocabulary": {"source": {"size": 11}, "target": {"size": 12}},
    }
    save_model(tmp_path, m.copy_weights(), config)
    loaded, read = load_model(tmp_path, torch.device("cpu"), 11, 12)
    assert read == config
    src, lengths = pad(SOURCES)
    torch.testing.assert_close(
        loaded.features(src, lengths, inputs(TARGETS)), m.features(src, lengths, inputs(TARGETS))
    )
    with pytest.raises(ModelError, match="target vocabulary of 12 tokens, got 13"):
        load_model(tmp_path, torch.device("cpu"), 11, 13)
    for key, value, message in (
        ("hidden", 10, "does not fit its config"),
        ("kind", "convolutional", "describes no model that this version knows: .*'recurrent'"),
    ):
        write_json(tmp_path / "config.json", config | {"model": config["model"] | {key: value}})
        with pytest.raises(ModelError, match=f"(?s){message}"):
            load_model(tmp_path, torch.device("cpu"), 11, 12)
    write_json(tmp_path / "config.json", config)
    (tmp_path / "weights.safetensors").write_bytes(b"broken")
    with pytest.raises(ModelError, match="does not fit its config"):
        load_model(tmp_path, torch.device("cpu"), 11, 12)
    assert "model" in read_json(tmp_path / "config.json")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attention": "none"}, "attention none does not go with context between_layers"),
        ({"context": "none"}, "attention scaled_dot does not go with context none"),
        (
            {"attention": "none", "context": "none", "alignment": "hard"},
            "alignment hard does not go with attention none",
        ),
        ({"decoder_layers": 1}, "needs decoder_layers of 2 or more"),
        ({"hidden": 7}, "needs an even hidden width, got 7"),
        ({"dropout": 1.0}, "models.m.dropout: got 1.0"),
        ({"cell": "GRU"}, "models.m.cell: got 'GRU'; .*'gru', 'lstm' or 'rnn'"),
        ({"alignment": "firm"}, "models.m.alignment: got 'firm'; .*'soft' or 'hard'"),
        ({"kind": "GRU"}, "models.m.kind: got 'GRU'; name one of: 'recurrent', 'transformer'"),
        ({"kind": 3}, "models.m.kind: got '3'; name one of: 'recurrent', 'transformer'"),
        ({"heads": 2}, "models.m.heads: unknown key; remove it or correct its name"),
    ],
)
def test_settings_that_make_no_model(changes: dict[str, object], message: str) -> None:
    values = settings().model_dump() | changes
    with pytest.raises(ParamsError, match=message):
        Params({"models": {"m": values}}, Path("params.yaml")).section("models.m", ModelSettings)


@pytest.mark.parametrize("bias", [-1e4, 1e4])
def test_greedy_at_both_ends(bias: float) -> None:
    """Never <eos>: cut at the limit, the last word kept. Always <eos>: empty."""
    m = model()
    with torch.no_grad():
        m.output.bias[EOS] = bias
    src, lengths = pad(SOURCES)
    found = greedy(m, src, lengths, torch.tensor([3, 1, 2, 5]))
    if bias < 0:
        assert [len(tokens) for tokens in found.tokens] == [3, 1, 2, 5]
        assert found.cut == [True] * 4
        assert not {PAD, SOS, EOS} & set(itertools.chain(*found.tokens))
    else:
        assert found.tokens == [[], [], [], []]
        assert found.cut == [False] * 4
