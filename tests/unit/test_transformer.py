"""The transformer: worked values, torch's own layers, steps, masks, and what comes out of it."""

import math
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from nmt.corpus.batches import pad
from nmt.corpus.symbols import EOS, PAD, SOS
from nmt.errors import ParamsError
from nmt.model.multihead import MultiHeadAttention, causal_mask, sinusoids
from nmt.model.seq2seq import Seq2Seq
from nmt.model.settings import ModelSettings, TransformerSettings
from nmt.model.store import load_model, save_model
from nmt.model.transformer import DecoderLayer, EncoderLayer, embed
from nmt.params import Params
from nmt.seeding import seed_everything

SOURCES = [[5, 6, 7, EOS], [8, EOS], [EOS], [4, 4, 4, 4, 9, EOS]]
TARGETS = [[5, 6, EOS], [7, 8, 9, 10, EOS], [EOS], [4, EOS]]
CPU = torch.device("cpu")


def settings(**changes: object) -> TransformerSettings:
    values: dict[str, object] = {
        "kind": "transformer",
        "width": 12,
        "feed_forward": 20,
        "heads": 3,
        "encoder_layers": 2,
        "decoder_layers": 3,
        "dropout": 0.2,
        "attention_dropout": 0.1,
        "tie_target": True,
        "tie_source": False,
        "tokenizer": "words",
    }
    return TransformerSettings.model_validate(values | changes)


def model(**changes: object) -> Seq2Seq:
    torch.manual_seed(1)
    return Seq2Seq(settings(**changes), source_size=11, target_size=13).eval()


def inputs(targets: list[list[int]]) -> Tensor:
    filled, _ = pad(targets)
    return torch.cat([torch.full((len(targets), 1), SOS), filled[:, :-1]], dim=1)


def close(found: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


# --- parts ---------------------------------------------------------------------------------------


def test_positions_are_the_published_waves() -> None:
    expected = [
        [
            math.sin(p / 10000 ** (i / 6)) if i % 2 == 0 else math.cos(p / 10000 ** ((i - 1) / 6))
            for i in range(6)
        ]
        for p in range(50)
    ]
    close(sinusoids(0, 50, 6, CPU), torch.tensor(expected))
    close(sinusoids(7, 3, 6, CPU), torch.tensor(expected)[7:10])
    assert sinusoids(0, 2, 5, CPU).shape == (2, 5)


def test_embeddings_are_scaled_and_told_apart_by_position() -> None:
    embedding = nn.Embedding(7, 4)
    found = embed(embedding, torch.tensor([[3, 3]]), first=2)
    close(found[0], 2 * embedding.weight[3] + sinusoids(2, 2, 4, CPU))


def test_a_position_sees_itself_and_what_was_before() -> None:
    assert causal_mask(0, 3, CPU).int().tolist() == [[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]
    assert causal_mask(2, 2, CPU).int().tolist() == [[[1, 1, 1, 0], [1, 1, 1, 1]]]


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    """Give torch's attention our weights; it has biases, which are 0 at the start."""
    with torch.no_grad():
        theirs.in_proj_weight.copy_(
            torch.cat([ours.query.weight, ours.key.weight, ours.value.weight])
        )
        theirs.out_proj.weight.copy_(ours.join.weight)


def copy_rest(ours: nn.Module, theirs: nn.Module, names: dict[str, str]) -> None:
    for one, other in names.items():
        theirs.get_submodule(other).load_state_dict(ours.get_submodule(one).state_dict())


def test_an_encoder_layer_is_that_of_torch() -> None:
    torch.manual_seed(2)
    ours = EncoderLayer(settings()).eval()
    theirs = nn.TransformerEncoderLayer(12, 3, 20, norm_first=True, batch_first=True).eval()
    copy_attention(ours.self_attention, theirs.self_attn)
    names = {"self_norm": "norm1", "forward_norm": "norm2"}
    names |= {"feed_forward.0": "linear1", "feed_forward.3": "linear2"}
    copy_rest(ours, theirs, names)
    x, mask = torch.randn(2, 5, 12), torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]]).bool()
    close(ours(x, mask.unsqueeze(1))[mask], theirs(x, src_key_padding_mask=~mask)[mask])


def test_a_decoder_layer_is_that_of_torch() -> None:
    torch.manual_seed(3)
    ours = DecoderLayer(settings()).eval()
    theirs = nn.TransformerDecoderLayer(12, 3, 20, norm_first=True, batch_first=True).eval()
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.source_attention, theirs.multihead_attn)
    names = {"self_norm": "norm1", "source_norm": "norm2", "forward_norm": "norm3"}
    names |= {"feed_forward.0": "linear1", "feed_forward.3": "linear2"}
    copy_rest(ours, theirs, names)
    x, source = torch.randn(2, 4, 12), torch.randn(2, 5, 12)
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]]).bool()
    seen = causal_mask(0, 4, CPU)
    projected = torch.cat(ours.source_attention.project(source), dim=-1)
    nothing = torch.empty(2, 0, 12)
    found, (keys, values), weights = ours(x, (nothing, nothing), seen, projected, mask.unsqueeze(1))
    expected = theirs(x, source, tgt_mask=~seen[0], memory_key_padding_mask=~mask)
    close(found, expected)
    assert keys.shape == values.shape == (2, 4, 12)
    assert (weights[1, :, 2:] == 0).all()


def test_a_sentence_of_padding_alone_makes_no_nan() -> None:
    layer = EncoderLayer(settings()).eval()
    x = torch.randn(1, 3, 12, requires_grad=True)
    layer(x, torch.zeros(1, 1, 3, dtype=torch.bool)).square().sum().backward()
    assert x.grad is not None
    assert x.grad.isfinite().all()


# --- the whole -----------------------------------------------------------------------------------


def test_steps_equal_the_whole_target_at_once() -> None:
    m = model()
    src, lengths = pad(SOURCES)
    trg = inputs(TARGETS)
    whole = m.output(m.features(src, lengths, trg))
    memory = m.encode(src, lengths)
    state = m.start(memory)
    for i in range(trg.shape[1]):
        step = m.step(trg[:, i], state, memory)
        state = step.state
        close(step.logits, whole[:, i])
        assert step.weights.shape == (len(SOURCES), m.attention_rows, src.shape[1])


@pytest.mark.parametrize("cut", [1, 2, 4])
def test_a_target_may_be_read_in_parts(cut: int) -> None:
    m = model()
    memory, trg = m.encode(*pad(SOURCES)), inputs(TARGETS)
    whole = m.decoder(trg, m.start(memory), memory)
    first = m.decoder(trg[:, :cut], m.start(memory), memory)
    second = m.decoder(trg[:, cut:], first.state, memory)
    close(torch.cat([first.features, second.features], dim=1), whole.features)
    close(torch.cat([first.weights, second.weights], dim=2), whole.weights)
    for found, expected in zip(second.state.parts, whole.state.parts, strict=True):
        close(found, expected)


def test_a_later_token_changes_nothing_before_it() -> None:
    m = model()
    src, lengths = pad(SOURCES[:1])
    one, other = torch.tensor([[SOS, 5, 6, 7]]), torch.tensor([[SOS, 5, 9, 10]])
    a, b = m.features(src, lengths, one)[0], m.features(src, lengths, other)[0]
    assert torch.equal(a[:2], b[:2])
    assert (a[2:] != b[2:]).any(1).all()


def test_the_order_of_words_matters() -> None:
    m = model()
    a, b = (m.sentence_vectors(*pad([s])) for s in ([5, 6, EOS], [6, 5, EOS]))
    assert (a - b).abs().max() > 1e-3


def test_padding_has_no_influence() -> None:
    """A sentence alone and in a batch of longer ones gives the same, whatever stands there."""
    m = model()
    src, lengths = pad(SOURCES)
    junk = src.masked_fill(src == PAD, 9)
    trg = inputs(TARGETS)
    for filled in (src, junk):
        memory = m.encode(filled, lengths)
        together = m.decoder(trg, m.start(memory), memory)
        vectors = m.sentence_vectors(filled, lengths)
        for i, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
            s, t = len(source), len(target)
            memory_alone = m.encode(*pad([source]))
            alone = m.decoder(inputs([target]), m.start(memory_alone), memory_alone)
            close(together.features[i, :t], alone.features[0])
            close(together.weights[i, :, :t, :s], alone.weights[0])
            close(memory.states[i, :s], memory_alone.states[0])
            close(vectors[i], memory_alone.states[0, -1])
            assert (together.weights[i, :, :, s:] == 0).all()
            assert (memory.states[i, s:] == 0).all()


def test_rows_of_attention_are_the_layers_from_below_each_the_mean_of_its_heads() -> None:
    m = model()
    heads: list[Tensor] = []
    for layer in m.decoder.get_submodule("layers").children():
        layer.get_submodule("source_attention").register_forward_hook(
            lambda _, __, output: heads.append(output[1])
        )
    memory = m.encode(*pad(SOURCES))
    weights = m.decoder(inputs(TARGETS), m.start(memory), memory).weights
    assert weights.shape == (4, 3, 5, 6)
    close(weights.sum(-1), torch.ones(4, 3, 5))
    assert [h.shape for h in heads] == [(4, 3, 5, 6)] * 3
    for row, layer_heads in enumerate(heads):
        close(weights[:, row], layer_heads.mean(1))


def test_own_tokens_replace_true_ones_where_not_forced() -> None:
    m = model()
    src, lengths = pad(SOURCES)
    free = m.features(src, lengths, inputs([[4] * 4] * 4), forced=[False] * 4)
    own = m.output(free)
    own[:, :, [PAD, SOS]] = -torch.inf
    led = torch.cat([torch.full((4, 1), SOS), own.argmax(-1)[:, :-1]], dim=1)
    close(m.features(src, lengths, led), free)


def test_half_precision_gives_about_the_same() -> None:
    m = model()
    src, lengths = pad(SOURCES)
    exact = m.features(src, lengths, inputs(TARGETS))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        memory = m.encode(src, lengths)
        state, trg = m.start(memory), inputs(TARGETS)
        for i in range(trg.shape[1]):
            decoded = m.decoder(trg[:, i : i + 1], state, memory)
            state = decoded.state
            torch.testing.assert_close(
                decoded.features[:, 0].float(), exact[:, i], atol=0.1, rtol=0.05
            )
            assert decoded.weights.dtype == torch.float32


# --- learning ------------------------------------------------------------------------------------


@pytest.mark.parametrize("tie", [True, False])
def test_every_weight_learns(tie: bool) -> None:
    m = model(tie_target=tie)
    src, lengths = pad(SOURCES)
    m.output(m.features(src, lengths, inputs(TARGETS))).square().sum().backward()
    for weight_name, weight in m.named_parameters():
        assert weight.grad is not None, weight_name
        assert weight.grad.abs().max() > 1e-4, weight_name


def test_first_weights() -> None:
    m = model(width=64, feed_forward=128, heads=4)
    for name, weight in m.named_parameters():
        if "norm" in name:
            assert (weight == (1 if name.endswith("weight") else 0)).all(), name
        elif name.endswith("bias"):
            assert (weight == 0).all(), name
        elif "embedding" in name:
            assert (weight[PAD] == 0).all()
            assert weight.std().item() == pytest.approx(64**-0.5, rel=0.15), name
        else:  # Glorot and Bengio 2010: uniform within the root of 6 over both widths
            bound = math.sqrt(6 / sum(weight.shape))
            assert 0.9 * bound < weight.abs().max() <= bound, name


def test_tied_output_is_the_target_embedding_without_a_map() -> None:
    tied, free = model(), model(tie_target=False)
    assert tied.output.weight is tied.decoder.embedding.weight
    features = torch.randn(2, 12)
    close(tied.output.hidden(features), features)
    assert free.output.weight.shape == (13, 12)
    assert free.parameter_count - tied.parameter_count == 13 * 12


def trained() -> dict[str, Tensor]:
    """Return the weights after three steps with dropout."""
    seed_everything(5)
    m = Seq2Seq(settings(), 11, 13).train()
    optimizer = torch.optim.AdamW(m.parameters(), lr=0.01, fused=True)
    src, lengths = pad(SOURCES)
    for _ in range(3):
        optimizer.zero_grad()
        m.output(m.features(src, lengths, inputs(TARGETS))).square().mean().backward()
        optimizer.step()
    return m.copy_weights()


def test_two_trainings_are_equal_to_the_byte() -> None:
    first, second = trained(), trained()
    assert {n: w.numpy().tobytes() for n, w in first.items()} == {
        n: w.numpy().tobytes() for n, w in second.items()
    }


def test_dropout_acts_in_training_alone() -> None:
    m = model()
    src, lengths = pad(SOURCES)
    calm = [m.features(src, lengths, inputs(TARGETS)) for _ in range(2)]
    noisy = [m.train().features(src, lengths, inputs(TARGETS)) for _ in range(2)]
    assert torch.equal(*calm)
    assert not torch.equal(*noisy)


# --- settings and files --------------------------------------------------------------------------


@pytest.mark.parametrize("tie", [True, False])
def test_saved_model_is_the_same_model(tmp_path: Path, tie: bool) -> None:
    m = model(tie_target=tie)
    config = {
        "model": m.settings.model_dump(),
        "vocabulary": {"source": {"size": 11}, "target": {"size": 13}},
    }
    save_model(tmp_path, m.copy_weights(), config)
    loaded, read = load_model(tmp_path, CPU, 11, 13)
    assert read == config
    assert loaded.settings == m.settings
    src, lengths = pad(SOURCES)
    trg = inputs(TARGETS)
    assert torch.equal(loaded.features(src, lengths, trg), m.features(src, lengths, trg))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"heads": 5}, "models.m: got .* width must be a multiple of heads, got 12 and 5"),
        ({"heads": 0}, "models.m.heads: got 0; Input should be greater than or equal to 1"),
        ({"width": "12"}, "models.m.width: got '12'; Input should be a valid integer"),
        ({"hidden": 8}, "models.m.hidden: unknown key; remove it or correct its name"),
        ({"kind": "recurrent"}, "models.m.cell: missing; add it"),
    ],
)
def test_settings_that_make_no_model(changes: dict[str, object], message: str) -> None:
    values = settings().model_dump() | changes
    with pytest.raises(ParamsError, match=message):
        Params({"models": {"m": values}}, Path("params.yaml")).section("models.m", ModelSettings)


def test_an_entry_without_a_kind_is_told() -> None:
    values = settings().model_dump()
    del values["kind"]
    with pytest.raises(ParamsError, match=r"models\.m\.kind: missing; add it"):
        Params({"models": {"m": values}}, Path("params.yaml")).section("models.m", ModelSettings)
