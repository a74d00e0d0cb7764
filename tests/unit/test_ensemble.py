"""Several models searched as one.

An ensemble of tables must find what the table of their mean probabilities finds; an ensemble of
real models must give what the members' own steps add up to.
"""

import pytest
import torch
from torch import Tensor

from nmt.corpus.batches import pad
from nmt.corpus.symbols import EOS, SOS
from nmt.decoding.ensemble import Ensemble
from nmt.decoding.search import beam_search
from nmt.decoding.settings import DecodingSettings
from nmt.model.seq2seq import Seq2Seq
from nmt.model.states import Memory
from nmt.validation.greedy import Found
from tests.unit.search_models import (
    KINDS,
    TableModel,
    real_model,
    settings,
    sources,
    table,
)

HOW = settings(beam=3, ratio=1.5, extra=3)


def batch() -> tuple[Tensor, Tensor]:
    """Sentences of unlike length, an empty one among them."""
    return pad([source + [EOS] for source in sources()])


def members(kind: str, count: int = 2) -> list[Seq2Seq]:
    """Make models of one kind with unlike weights."""
    made = []
    for seed in range(count):
        model = real_model(kind)
        torch.manual_seed(seed)
        with torch.no_grad():
            for weight in model.parameters():
                weight.mul_(torch.empty_like(weight).uniform_(0.5, 1.5))
        made.append(model)
    return made


def same(found: Found, expected: Found) -> None:
    assert found.tokens == expected.tokens and found.cut == expected.cut
    assert found.log_probabilities == pytest.approx(expected.log_probabilities, abs=1e-4)
    for weights, wanted in zip(found.weights, expected.weights, strict=True):
        torch.testing.assert_close(weights, wanted, atol=1e-5, rtol=0)


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_one_model_any_number_of_times_is_that_model(kind: str, count: int, beam: int) -> None:
    model, how = real_model(kind), HOW.model_copy(update={"beam": beam})
    found = beam_search(Ensemble([model] * count), *batch(), how)
    same(found, beam_search(model, *batch(), how))


@pytest.mark.parametrize("beam", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_tables_are_searched_as_the_table_of_their_mean(seed: int, beam: int) -> None:
    tables = [table(10 * seed + i, sentences=8) for i in range(3)]
    mean = torch.stack([one.logits.softmax(-1) for one in tables]).mean(0)
    how, src = settings(beam=beam), pad([[i, EOS] for i in range(8)])
    found = beam_search(Ensemble(tables), *src, how)
    expected = beam_search(TableModel(mean.log()), *src, how)
    assert found.tokens == expected.tokens
    assert found.log_probabilities == pytest.approx(expected.log_probabilities, abs=1e-4)
    alone = [beam_search(one, *src, how).tokens for one in tables]
    assert any(found.tokens != tokens for tokens in alone), "no member decides by itself"


@pytest.mark.parametrize("kind", ["plain", "lstm", "scaled", "hard", "transformer"])
def test_a_step_is_the_mean_of_the_members_steps(kind: str) -> None:
    models = members(kind)
    src, lengths = batch()
    ensemble: Ensemble[Memory] = Ensemble(models)
    memory = ensemble.encode(src, lengths)
    state = ensemble.start(memory)
    memories = [model.encode(src, lengths) for model in models]
    states = [model.start(own) for model, own in zip(models, memories, strict=True)]
    for token in (SOS, 7, 9):
        tokens = torch.full((len(src),), token)
        step = ensemble.step(tokens, state, memory)
        steps = [
            model.step(tokens, before, own)
            for model, before, own in zip(models, states, memories, strict=True)
        ]
        one, other = (s.logits.double().softmax(-1) for s in steps)
        assert not torch.allclose(one, other, atol=1e-3)
        expected = (one + other) / 2
        torch.testing.assert_close(step.logits.double().exp(), expected, atol=1e-6, rtol=1e-5)
        assert step.logits.dtype == torch.float32
        torch.testing.assert_close(step.weights, (steps[0].weights + steps[1].weights) / 2)
        torch.testing.assert_close(
            step.weights.sum(-1), torch.ones(step.weights.shape[:-1]), atol=1e-5, rtol=0
        )
        state, states = step.state, [s.state for s in steps]


def test_what_no_member_thinks_likely_stays_finite() -> None:
    """Probabilities of less than float32 can hold are added up as logarithms."""
    logits = torch.zeros(1, 4, 7, 7)
    logits[..., 4] = -300.0
    step = _first_step([TableModel(logits), TableModel(logits)])
    assert step[0, 4].item() == pytest.approx(-300 - torch.tensor(6.0).log().item(), abs=1e-3)


@pytest.mark.parametrize("how", [settings(1, ratio=1.5, extra=3), HOW], ids=["greedy", "beam"])
@pytest.mark.parametrize("kind", ["between", "fed_back", "transformer"])
def test_the_log_probability_is_that_of_the_mean(kind: str, how: DecodingSettings) -> None:
    """States follow their hypotheses in all members: each prefix read anew gives the same."""
    models = members(kind, 3)
    src, lengths = batch()
    found = beam_search(Ensemble(models), src, lengths, how)
    for row, (tokens, cut) in enumerate(zip(found.tokens, found.cut, strict=True)):
        ids = [*tokens, *([] if cut else [EOS])]
        own, inputs = slice(row, row + 1), torch.tensor([[SOS, *ids[:-1]]])
        logits = [
            m.output(m.features(src[own, : lengths[row]], lengths[own], inputs)) for m in models
        ]
        mean = torch.stack([one[0].double().softmax(-1) for one in logits]).mean(0)
        expected = mean.log()[range(len(ids)), ids].sum().item()
        assert found.log_probabilities[row] == pytest.approx(expected, abs=1e-4)


def test_a_batch_gives_what_each_sentence_gives() -> None:
    models = members("between")
    together = beam_search(Ensemble(models), *batch(), HOW)
    for row, source in enumerate(sources()):
        alone = beam_search(Ensemble(models), *pad([source + [EOS]]), HOW)
        assert alone.tokens == [together.tokens[row]]
        torch.testing.assert_close(alone.weights[0], together.weights[row], atol=1e-5, rtol=0)


def _first_step(tables: list[TableModel]) -> Tensor:
    ensemble = Ensemble(tables)
    src, lengths = pad([[0, EOS]])
    memory = ensemble.encode(src, lengths)
    return ensemble.step(torch.tensor([SOS]), ensemble.start(memory), memory).logits
