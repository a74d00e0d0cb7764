"""What is added to the loss and to the weights, against its definition."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, kl_div

from nmt.corpus.symbols import EOS, PAD, SOS, UNK
from nmt.training.average import Average
from nmt.training.corpus import Batch
from nmt.training.regularization import consistent_loss, drop_words, twice

V = 12


class Table(nn.Module):
    """Stands for a model: its features are embeddings of the inputs, with no other source."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.embedding = nn.Embedding(V, 6)
        self.output = nn.Linear(6, V)

    def features(self, src: Tensor, lengths: Tensor, inputs: Tensor, forced: object) -> Tensor:
        embedded: Tensor = self.embedding(inputs)
        return embedded


def batch() -> Batch:
    """Two pairs, of unlike length on both sides."""
    targets = torch.tensor([[4, 5, 6, EOS], [7, 8, EOS, PAD]])
    inputs = torch.tensor([[SOS, 4, 5, 6], [SOS, 7, 8, EOS]])
    src = torch.tensor([[9, EOS, PAD], [10, 11, EOS]])
    real = (targets != PAD).flatten().nonzero().squeeze(1)
    return Batch(src, torch.tensor([2, 3]), inputs, targets, real)


def test_words_become_unknown_and_nothing_else_does() -> None:
    words = torch.randint(0, 50, (100, 50))
    given = Batch(words, torch.full((100,), 50), words.clone(), words.clone(), torch.arange(9))
    found = drop_words(given, 0.3)
    assert found.targets is given.targets
    for before, after in ((given.src, found.src), (given.inputs, found.inputs)):
        changed = before != after
        assert (after[changed] == UNK).all()
        assert not (before[changed] <= EOS).any()
        share = changed.sum() / (before > EOS).sum()
        assert 0.25 < share < 0.35  # 4,600 words: seven standard deviations
    assert not (found.src == UNK).equal(found.inputs == UNK)


def test_no_words_are_dropped_and_nothing_is_drawn_when_it_is_off() -> None:
    state = torch.get_rng_state()
    given = batch()
    assert drop_words(given, 0.0) is given
    assert torch.get_rng_state().equal(state)


def test_a_batch_twice_holds_each_pair_twice() -> None:
    one, two = batch(), twice(batch())
    for name in ("src", "lengths", "inputs", "targets"):
        first, second = getattr(two, name).chunk(2)
        assert first.equal(getattr(one, name)) and second.equal(getattr(one, name))
    gold = two.targets.flatten()[two.real]
    assert (gold != PAD).all()
    assert gold.equal(one.targets.flatten()[one.real].repeat(2))


@pytest.mark.parametrize("weight", [0.5, 5.0])
def test_the_loss_of_two_passes_is_that_of_the_paper(weight: float) -> None:
    model, both = Table(), twice(batch())
    both.inputs[2:, 1] = UNK  # the second pass reads other words
    found = consistent_loss(model, both, 0.1, weight, None)  # type: ignore[arg-type]
    logits = model.output(model.embedding(both.inputs).flatten(0, 1)[both.real])
    gold = both.targets.flatten()[both.real]
    first, second = logits.log_softmax(-1).chunk(2)
    half = len(first)
    likelihood = sum(
        cross_entropy(part, gold[:half], label_smoothing=0.1) for part in logits.chunk(2)
    )
    there = kl_div(second, first, reduction="batchmean", log_target=True)
    back = kl_div(first, second, reduction="batchmean", log_target=True)
    torch.testing.assert_close(found, (likelihood + weight * (there + back) / 2) / 2)
    assert there > 0


def test_passes_that_agree_cost_what_one_pass_costs() -> None:
    model = Table()
    found = consistent_loss(model, twice(batch()), 0.1, 5.0, None)  # type: ignore[arg-type]
    one = batch()
    logits = model.output(model.embedding(one.inputs).flatten(0, 1)[one.real])
    expected = cross_entropy(logits, one.targets.flatten()[one.real], label_smoothing=0.1)
    torch.testing.assert_close(found, expected)


def test_an_average_forgets_its_first_weights_and_then_moves_slowly() -> None:
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 100.0)
    average = Average(model, decay=0.5)
    mean = 100.0
    for step, (weight, decay) in enumerate([(1.0, 2 / 11), (2.0, 3 / 12)] + [(3.0, 0.5)] * 20, 1):
        if step in range(3, 9):
            decay = (1 + step) / (10 + step)
        nn.init.constant_(model.weight, weight)
        average.update(step)
        mean = decay * mean + (1 - decay) * weight
        assert average.weights[0].item() == pytest.approx(mean, rel=1e-6)
    with average.applied():
        assert model.weight.item() == pytest.approx(mean)
    assert model.weight.item() == 3.0


def test_a_model_has_its_own_weights_again_after_an_error() -> None:
    model = nn.Linear(2, 2)
    own = model.weight.detach().clone()
    average = Average(model, decay=0.5)
    average.weights[0].zero_()
    with pytest.raises(RuntimeError), average.applied():
        raise RuntimeError
    assert model.weight.equal(own)
