"""Attention: worked values, masks, and half precision."""

import pytest
import torch
from torch import Tensor

from nmt.model.attention import (
    AdditiveAttention,
    Attention,
    DotAttention,
    hard_weights,
    masked_softmax,
    sequence_mask,
)

# All keys are alike, so each context is the mean of the values that are not masked.
VALUES = torch.arange(40.0).view(2, 5, 4).transpose(1, 2)  # (B,K,d_v)
WORKED = [
    (None, [[1.5, 5.5, 9.5, 13.5, 17.5], [21.5, 25.5, 29.5, 33.5, 37.5]]),
    ([1, 1], [[0, 4, 8, 12, 16], [20, 24, 28, 32, 36]]),
    ([2, 4], [[0.5, 4.5, 8.5, 12.5, 16.5], [21.5, 25.5, 29.5, 33.5, 37.5]]),
]
KINDS = [(AdditiveAttention(3, 2, 8), 3), (DotAttention(), 2), (DotAttention(scaled=False), 2)]
TYPES = [torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.parametrize(("attention", "query_size"), KINDS)
@pytest.mark.parametrize(("lengths", "expected"), WORKED)
def test_worked_values(
    attention: Attention, query_size: int, lengths: list[int] | None, expected: list[list[float]]
) -> None:
    context, weights = attention(
        torch.ones(2, 1, query_size),
        torch.ones(2, 4, 2),
        VALUES,
        None if lengths is None else torch.tensor(lengths),
    )
    torch.testing.assert_close(context[:, 0], torch.tensor(expected, dtype=torch.float32))
    assert weights.shape == (2, 1, 4)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("kind", ["additive", "scaled_dot"])
def test_padding_gets_exactly_nothing_and_no_nan_appears(kind: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    attention = AdditiveAttention(4, 4, 6) if kind == "additive" else DotAttention()
    attention = attention.to(dtype)
    queries = torch.randn(2, 2, 4, dtype=dtype, requires_grad=True)
    keys = torch.randn(2, 3, 4, dtype=dtype, requires_grad=True)
    context, weights = attention(queries, keys, keys, torch.tensor([2, 0]))
    context.float().square().sum().backward()
    assert (weights[0, :, 2] == 0).all()
    torch.testing.assert_close(
        weights[0].float().sum(-1), torch.ones(2), atol=1e-2 if dtype != torch.float32 else 1e-6,
        rtol=0,
    )  # fmt: skip
    assert (weights[1] == 0).all()
    assert (context[1] == 0).all()
    for gradient in (queries.grad, keys.grad):
        assert gradient is not None
        assert gradient.isfinite().all()


def test_huge_scores_stay_finite_in_half_precision() -> None:
    scores = torch.tensor([[[6e4, -6e4, 6e4]]], dtype=torch.float16)
    weights = masked_softmax(scores, torch.tensor([[[True, True, False]]]))
    assert weights.tolist() == [[[1.0, 0.0, 0.0]]]


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([1, 3], [[True, False, False], [True, True, True]]),
        ([[0, 2]], [[[False, False, False], [True, True, False]]]),
    ],
)
def test_sequence_mask(lengths: list[int], expected: list[bool]) -> None:
    assert sequence_mask(torch.tensor(lengths), 3).tolist() == expected


def test_lengths_may_differ_by_query() -> None:
    """Each query of a sentence may see its own number of keys."""
    keys = torch.ones(1, 4, 2)
    _, weights = DotAttention()(torch.ones(1, 2, 2), keys, keys, torch.tensor([[1, 4]]))
    assert weights[0].tolist() == [[1.0, 0, 0, 0], [0.25] * 4]


@pytest.mark.parametrize("attention", [AdditiveAttention(4, 4, 6), DotAttention()])
def test_projected_keys_give_the_same(attention: Attention) -> None:
    queries, keys = torch.randn(2, 5, 4), torch.randn(2, 3, 4)
    mask = sequence_mask(torch.tensor([3, 2]), 3).unsqueeze(1)
    whole = attention(queries, keys, keys, torch.tensor([3, 2]))
    projected = attention.project_keys(keys)
    steps = [attention.attend(q, projected, keys, mask) for q in torch.split(queries, 1, dim=1)]
    for i in range(2):
        torch.testing.assert_close(whole[i], torch.cat([step[i] for step in steps], dim=1))


def test_additive_is_the_published_formula() -> None:
    torch.manual_seed(3)
    attention = AdditiveAttention(3, 2, 4)
    q, k = torch.randn(3), torch.randn(2)
    w_q, w_k, v = attention.query.weight, attention.key.weight, attention.energy.weight[0]
    expected: Tensor = v @ torch.tanh(w_k @ k + w_q @ q)
    scores = attention.scores(q.view(1, 1, 3), attention.project_keys(k.view(1, 1, 2)))
    torch.testing.assert_close(scores[0, 0, 0], expected)
    assert [p.dim() for p in attention.parameters()] == [2, 2, 2]  # no biases


def test_dropout_acts_on_weights_in_training_alone() -> None:
    keys = torch.ones(1, 50, 2)
    attention = DotAttention(dropout=0.5)
    context, weights = attention.train()(keys[:, :1], keys, keys)
    assert weights.sum().item() == pytest.approx(1.0)
    assert context.unique().numel() <= 2
    context, _ = attention.eval()(keys[:, :1], keys, keys)
    torch.testing.assert_close(context, torch.ones(1, 1, 2))


def test_a_mask_of_numbers_is_refused() -> None:
    with pytest.raises(TypeError, match=r"expected bool .*got torch.int64"):
        masked_softmax(torch.zeros(1, 1, 2), torch.tensor([[[1, 0]]]))


def test_widths_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="queries are 3 wide and keys 2"):
        DotAttention()(torch.ones(1, 1, 3), torch.ones(1, 4, 2), torch.ones(1, 4, 2))


# --- hard attention ------------------------------------------------------------------------------


def attentions() -> list[Attention]:
    torch.manual_seed(0)
    return [AdditiveAttention(4, 4, 6, hard=True), DotAttention(hard=True)]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("which", [0, 1], ids=["additive", "dot"])
def test_hard_weights_are_one_real_position(which: int, dtype: torch.dtype, training: bool) -> None:
    attention = attentions()[which].to(dtype).train(training)
    queries = torch.randn(3, 50, 4, dtype=dtype, requires_grad=True)
    keys = torch.randn(3, 4, 4, dtype=dtype, requires_grad=True)
    context, weights = attention(queries, keys, keys, torch.tensor([4, 2, 0]))
    context.float().square().sum().backward()
    assert ((weights == 0) | (weights == 1)).all()
    assert weights.sum(-1).tolist() == [[1.0] * 50, [1.0] * 50, [0.0] * 50]
    assert (weights[1, :, 2:] == 0).all()
    assert (context[2] == 0).all()
    torch.testing.assert_close(context[0], keys[0][weights[0].argmax(-1)])
    for gradient in (queries.grad, keys.grad):
        assert gradient is not None
        assert gradient.isfinite().all()


def test_in_evaluation_the_highest_weight_wins_and_the_first_of_equals() -> None:
    scores = torch.tensor([[[1.0, 3.0, 2.0], [2.0, 0.0, 2.0], [0.0, 5.0, 9.0]]])
    mask = torch.tensor([[[True, True, True], [True, True, True], [True, True, False]]])
    for _ in range(3):
        assert hard_weights(scores, mask, draw=False).argmax(-1).tolist() == [[1, 0, 1]]


def test_draws_follow_the_weights() -> None:
    """Each count lies within five standard deviations of a binomial variable's mean."""
    torch.manual_seed(1)
    shares = torch.tensor([0.6, 0.25, 0.1, 0.05])
    n = 20_000
    scores = torch.cat([shares.log(), torch.tensor([9.0])]).expand(1, n, 5)
    mask = torch.tensor([[[True, True, True, True, False]]])
    counts = hard_weights(scores, mask, draw=True).sum((0, 1))
    assert counts[4] == 0
    assert ((counts[:4] - n * shares).abs() < 5 * (n * shares * (1 - shares)).sqrt()).all()


def test_draws_depend_on_the_seed_alone() -> None:
    draws = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        draws.append(hard_weights(torch.zeros(1, 100, 5), None, draw=True))
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])


@pytest.mark.parametrize("training", [True, False])
def test_hard_attention_learns_through_the_soft_weights(training: bool) -> None:
    torch.manual_seed(2)
    attention = AdditiveAttention(4, 4, 6, hard=True).train(training)
    queries, keys = torch.randn(2, 5, 4), torch.randn(2, 3, 4)
    attention(queries, keys, keys)[0].square().sum().backward()
    for name, weight in attention.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.abs().max() > 1e-4, name


def test_the_gradient_of_hard_weights_is_that_of_the_softmax() -> None:
    torch.manual_seed(3)
    scores, values = torch.randn(1, 4, 5, requires_grad=True), torch.randn(1, 4, 5)
    (soft,) = torch.autograd.grad((masked_softmax(scores, None) * values).sum(), scores)
    (hard,) = torch.autograd.grad((hard_weights(scores, None, draw=False) * values).sum(), scores)
    torch.testing.assert_close(hard, soft)
