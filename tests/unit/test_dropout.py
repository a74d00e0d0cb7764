"""Dropout: the share, the scale, the gradient, and the same draws from the same seed."""

import math

import pytest
import torch

from nmt.model.dropout import Dropout


@pytest.mark.parametrize("share", [0.1, 0.35, 0.9])
def test_the_share_zeroed_is_that_asked_for(share: float) -> None:
    torch.manual_seed(1)
    count = 1_000_003  # no multiple of the values that share a draw
    zeroed = int((Dropout(share)(torch.ones(count)) == 0).sum())
    # Six standard deviations: about one false alarm in a billion.
    assert abs(zeroed - share * count) < 6 * math.sqrt(count * share * (1 - share))


def test_values_that_stay_are_scaled_so_that_the_mean_stays() -> None:
    torch.manual_seed(1)
    out = Dropout(0.25)(torch.full((50, 7), 3.0))
    assert set(out.unique().tolist()) == {0.0, 4.0}


def test_neighbours_are_zeroed_independently() -> None:
    torch.manual_seed(1)
    zeroed = (Dropout(0.5)(torch.ones(400_000)) == 0).view(-1, 8)
    together = (zeroed[:, :1] == zeroed[:, 1:]).double().mean(0)  # of 50,000: spread 0.0022
    assert torch.allclose(together, torch.full((7,), 0.5, dtype=torch.float64), atol=0.0135)


def test_the_gradient_passes_where_the_value_does() -> None:
    torch.manual_seed(1)
    values = torch.randn(64, 3, requires_grad=True)
    out = Dropout(0.5)(values)
    out.sum().backward()
    assert values.grad is not None
    assert torch.equal(values.grad, torch.where(out == 0, 0.0, 2.0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_the_type_stays(dtype: torch.dtype) -> None:
    assert Dropout(0.5)(torch.ones(5, dtype=dtype)).dtype == dtype


def test_the_same_seed_draws_the_same() -> None:
    outs = []
    for _ in range(2):
        torch.manual_seed(7)
        outs.append(Dropout(0.3)(torch.ones(1001)))
    assert torch.equal(*outs)


def test_nothing_happens_in_evaluation_or_with_a_share_of_zero() -> None:
    values = torch.randn(10)
    assert Dropout(0.5).eval()(values) is values
    assert Dropout(0.0)(values) is values


def test_an_empty_tensor_is_no_trouble() -> None:
    assert Dropout(0.5)(torch.empty(0, 4)).shape == (0, 4)
