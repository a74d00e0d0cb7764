"""Beam search.

`TableModel` is a model whose every probability stands in a table, so that what a search must find
can be worked out by other means: by trying all sequences, or by a search written with lists.
"""

import itertools
import math
from dataclasses import dataclass
from typing import cast

import pytest
import torch
from torch import Tensor

from nmt.corpus.batches import pad
from nmt.corpus.symbols import EOS, PAD, SOS, UNK
from nmt.decoding.search import beam_search, largest, length_limits
from nmt.decoding.settings import DecodingSettings
from nmt.errors import ModelError
from nmt.model.seq2seq import Seq2Seq
from nmt.validation.greedy import Found, greedy
from tests.unit.search_models import (
    KINDS,
    TableModel,
    V,
    even_table,
    real_model,
    settings,
    sources,
    table,
)

WORDS = [UNK, 4, 5, 6]  # what may be produced beside <eos>


def search(model: TableModel, sources: list[list[int]], how: DecodingSettings) -> Found:
    return beam_search(model, *pad([s + [EOS] for s in sources]), how)


def log_probabilities(model: TableModel, source: int, prefix: list[int]) -> list[float]:
    last = prefix[-1] if prefix else SOS
    row = model.logits[source % len(model.logits), len(prefix), last]
    return cast(list[float], row.double().log_softmax(-1).tolist())


@dataclass(frozen=True)
class Candidate:
    tokens: list[int]
    score: float

    def rank(self, penalty: float) -> float:
        return self.score / math.pow(len(self.tokens), penalty)


def try_all(model: TableModel, source: int, limit: int, penalty: float) -> Candidate:
    """Return the best of all sequences that end in <eos> within the limit."""
    found = []
    for length in range(limit + 1):
        for words in itertools.product(WORDS, repeat=length):
            tokens = [*words, EOS]
            score = sum(
                log_probabilities(model, source, tokens[:i])[token]
                for i, token in enumerate(tokens)
            )
            found.append(Candidate(tokens, score))
    return max(found, key=lambda c: c.rank(penalty))


def search_with_lists(model: TableModel, source: int, limit: int, how: DecodingSettings) -> Found:
    """Search one sentence by the rule of `nmt.decoding.search`, without its early stop."""
    live, finished, slots = [Candidate([], 0.0)], [], how.beam
    for _ in range(limit + 1):
        before = live
        grown = [
            Candidate(
                [*c.tokens, token], c.score + log_probabilities(model, source, c.tokens)[token]
            )
            for c in live
            for token in sorted((*WORDS, EOS))
        ]
        chosen = sorted(grown, key=lambda c: -c.score)[:slots]
        live = [c for c in chosen if c.tokens[-1] != EOS]
        finished += [c for c in chosen if c.tokens[-1] == EOS]
        slots -= len(chosen) - len(live)
        if not live:
            break
    if finished:
        best = max(finished, key=lambda c: c.rank(how.length_penalty))
        return Found([best.tokens[:-1]], [], [best.score], [False])
    best = max(before, key=lambda c: c.score)
    return Found([best.tokens], [], [best.score], [True])


# --- the search against other means ----------------------------------------------------------


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0, 2.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_wide_beam_finds_the_best_of_all_sequences(seed: int, penalty: float) -> None:
    model, limit = table(seed), 3
    found = search(model, [[0], [1], [2]], settings(beam=200, penalty=penalty, extra=limit))
    for source in range(3):
        best = try_all(model, source, limit, penalty)
        assert found.tokens[source] == best.tokens[:-1]
        assert found.log_probabilities[source] == pytest.approx(best.score, abs=1e-5)
        assert not found.cut[source]


@pytest.mark.parametrize("beam", [1, 2, 3, 5])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_search_follows_its_rule(seed: int, penalty: float, beam: int) -> None:
    model, how = table(10 + seed, sentences=8), settings(beam=beam, penalty=penalty)
    found = search(model, [[i] for i in range(8)], how)
    for i in range(8):
        expected = search_with_lists(model, i, 6, how)
        assert [found.tokens[i]] == expected.tokens
        assert [found.cut[i]] == expected.cut
        assert found.log_probabilities[i] == pytest.approx(expected.log_probabilities[0], abs=1e-5)


def test_a_wider_beam_can_find_what_greedy_search_misses() -> None:
    logits = torch.full((1, 3, V, V), -9.0)
    logits[0, 0, SOS, 4], logits[0, 0, SOS, 5] = math.log(0.6), math.log(0.4)
    logits[0, 1, 4, :] = 0.0  # after 4 all are alike,
    logits[0, 1, 5, EOS] = 9.0  # after 5 the end is sure
    model = TableModel(logits)
    assert search(model, [[0]], settings(beam=1, extra=1)).tokens != [[5]]
    assert search(model, [[0]], settings(beam=2, extra=1)).tokens == [[5]]


@pytest.mark.parametrize(("penalty", "tokens"), [(0.0, []), (1.0, [4, 4])])
def test_length_penalty_decides_between_short_and_long(penalty: float, tokens: list[int]) -> None:
    # [] has log-probability -1.2, [4, 4] has -1.5: more, or less by token.
    logits = torch.full((1, 3, V, V), -30.0)
    logits[0, 0, SOS, EOS], logits[0, 0, SOS, 4] = -1.2, math.log(1 - math.exp(-1.2))
    rest = -1.5 - math.log(1 - math.exp(-1.2))
    logits[0, 1, 4, 4], logits[0, 1, 4, 5] = rest, math.log(1 - math.exp(rest))
    logits[0, 2, 4, EOS] = 30.0
    found = search(TableModel(logits), [[0]], settings(beam=3, penalty=penalty, extra=2))
    assert found.tokens == [tokens]


# --- limits, special symbols, ties -----------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "extra", "source", "limit"),
    [(1.5, 10, 0, 10), (1.5, 10, 1, 11), (1.5, 10, 12, 28), (0.0, 3, 9, 3), (2.0, 0, 4, 8)],
)
def test_length_limit_counts_neither_end_sign(
    ratio: float, extra: int, source: int, limit: int
) -> None:
    how = settings(ratio=ratio, extra=extra)
    assert length_limits(torch.tensor([source + 1]), how).tolist() == [limit]


@pytest.mark.parametrize("beam", [1, 4])
def test_without_an_end_the_limit_cuts_and_keeps_the_last_word(beam: int) -> None:
    found = search(even_table(eos=-1e4), [[4], [4, 4, 4], []], settings(beam, ratio=2.0, extra=1))
    assert [len(tokens) for tokens in found.tokens] == [3, 7, 1]
    assert found.cut == [True, True, True]
    assert [w.shape for w in found.weights] == [(1, 3, 2), (1, 7, 4), (1, 1, 1)]
    assert all(math.isfinite(p) for p in found.log_probabilities)


@pytest.mark.parametrize("beam", [1, 4])
def test_a_sentence_may_still_end_at_its_limit(beam: int) -> None:
    logits = torch.full((1, 4, V, V), -30.0)
    logits[:, :3, :, 4] = 0.0
    logits[:, 3, :, EOS] = 0.0
    model = TableModel(logits)
    ended = search(model, [[4]], settings(beam, extra=3))
    assert (ended.tokens, ended.cut) == ([[4, 4, 4]], [False])
    assert ended.weights[0].shape == (1, 4, 2)
    shorter = search(model, [[4]], settings(beam=1, extra=2))
    assert (shorter.tokens, shorter.cut) == ([[4, 4]], [True])


def test_a_limit_of_nothing_gives_the_empty_sentence() -> None:
    found = search(even_table(eos=-5.0), [[]], settings(beam=2, extra=0))
    assert (found.tokens, found.cut, found.log_probabilities) == ([[]], [True], [0.0])
    assert found.weights[0].shape == (1, 0, 1)


@pytest.mark.parametrize("beam", [1, 3, 50])
def test_padding_and_start_are_never_produced(beam: int) -> None:
    model = even_table(pad=20.0, sos=30.0)
    found = search(model, [[4], [5]], settings(beam, extra=4))
    assert not {PAD, SOS, EOS} & set(itertools.chain(*found.tokens))


def test_all_alike_the_lower_id_wins_each_time() -> None:
    for beam in (1, 2, 4):
        found = search(even_table(eos=-1.0), [[4], [4]], settings(beam, extra=3))
        assert found.tokens == [[UNK] * 3] * 2


@pytest.mark.parametrize("beam", [2, 3, 17, 40])
def test_ties_go_to_the_one_ahead_then_to_the_lower_id(beam: int) -> None:
    model, how = even_table(), settings(beam, extra=3)
    expected = search_with_lists(model, 0, 3, how)
    assert search(model, [[4], [4]], how).tokens == expected.tokens * 2


@pytest.mark.parametrize(
    ("values", "k", "columns"),
    [
        ([1.0, 3.0, 2.0], 2, [1, 2]),
        ([5.0, 5.0, 5.0, 5.0], 3, [0, 1, 2]),
        ([0.0, 7.0, -1.0, 7.0, 0.0], 4, [1, 3, 0, 4]),
        ([-math.inf, -2.0], 1, [1]),
    ],
)
def test_largest_takes_the_lower_column_of_equal_values(
    values: list[float], k: int, columns: list[int]
) -> None:
    found, where = largest(torch.tensor([values]), k)
    assert where.tolist() == [columns]
    assert found.tolist() == [[values[i] for i in columns]]


def test_scores_that_are_not_numbers_are_told() -> None:
    with pytest.raises(ModelError, match=r"scores of the next token are not finite numbers; its"):
        search(even_table(unk=math.nan), [[4]], settings())


# --- cost ------------------------------------------------------------------------------------


def test_search_stops_when_nothing_can_be_better() -> None:
    model = even_table(eos=1e4)
    found = search(model, [[4]] * 3, settings(beam=4, extra=30))
    assert found.tokens == [[], [], []]
    assert model.batches == [12]


def test_sentences_that_are_done_leave_the_batch() -> None:
    logits = torch.zeros(2, 9, V, V)
    logits[0, :, :, EOS] = 1e4  # the first ends at once, the second at its fourth step
    logits[1, :3, :, EOS] = -1e4
    logits[1, 3:, :, EOS] = 1e4
    model = TableModel(logits)
    found = search(model, [[0], [1], [0]], settings(beam=2))
    assert [len(tokens) for tokens in found.tokens] == [0, 3, 0]
    assert model.batches == [6, 2, 2, 2]


# --- real models -----------------------------------------------------------------------------


def find(model: Seq2Seq, batch: list[list[int]], how: DecodingSettings) -> Found:
    return beam_search(model, *pad([s + [EOS] for s in batch]), how)


@pytest.mark.parametrize("end", [None, 2.0, -1e4, 1e4])
@pytest.mark.parametrize("kind", KINDS)
def test_beam_of_one_is_greedy_search(kind: str, end: float | None) -> None:
    model, how = real_model(kind, end), settings(beam=1, ratio=1.5, extra=3)
    src, lengths = pad([s + [EOS] for s in sources()])
    expected = greedy(model, src, lengths, length_limits(lengths, how))
    found = beam_search(model, src, lengths, how)
    assert found.tokens == expected.tokens
    assert found.cut == expected.cut
    assert found.log_probabilities == pytest.approx(expected.log_probabilities, abs=1e-5)
    for got, wanted in zip(found.weights, expected.weights, strict=True):
        torch.testing.assert_close(got, wanted, atol=1e-6, rtol=0)


def test_beam_of_one_is_greedy_search_when_all_is_alike() -> None:
    model = even_table(eos=0.0)
    src, lengths = pad([[4, EOS], [5, 5, EOS]])
    expected = greedy(cast(Seq2Seq, model), src, lengths, torch.tensor([4, 4]))
    assert beam_search(model, src, lengths, settings(1, extra=4)).tokens == expected.tokens


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_the_batch_has_no_influence(kind: str, beam: int) -> None:
    model, how = real_model(kind), settings(beam, ratio=1.5, extra=3)
    together = find(model, sources(), how)
    assert len({len(tokens) for tokens in together.tokens}) > 2  # or it would show little
    for i, source in enumerate(sources()):
        alone = find(model, [source], how)
        assert alone.tokens[0] == together.tokens[i]
        assert alone.cut[0] == together.cut[i]
        assert alone.log_probabilities[0] == pytest.approx(together.log_probabilities[i], abs=1e-5)
        torch.testing.assert_close(alone.weights[0], together.weights[i], atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_score_and_attention_belong_to_the_tokens_found(kind: str) -> None:
    """The model, led along the tokens found, gives the same probability and attention."""
    model = real_model(kind)
    found = find(model, sources(), settings(beam=4, ratio=1.5, extra=3))
    for i, source in enumerate(sources()):
        tokens = found.tokens[i] + [EOS] * (not found.cut[i])
        score, weights = led(model, source, tokens)
        assert found.log_probabilities[i] == pytest.approx(score, abs=1e-4)
        torch.testing.assert_close(found.weights[i], weights, atol=1e-5, rtol=0)
        if model.attention_rows:
            assert found.weights[i].shape == (model.attention_rows, len(tokens), len(source) + 1)
            torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:2]))


@torch.inference_mode()
def led(model: Seq2Seq, source: list[int], tokens: list[int]) -> tuple[float, Tensor]:
    memory = model.encode(*pad([[*source, EOS]]))
    state, score, rows = model.start(memory), 0.0, []
    for last, token in itertools.pairwise([SOS, *tokens]):
        step = model.step(torch.tensor([last]), state, memory)
        state = step.state
        score += float(step.logits.log_softmax(-1)[0, token])
        rows.append(step.weights[0])
    return score, torch.stack(rows, 1)


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize(("end", "cut"), [(-1e4, True), (1e4, False)])
def test_end_sign_never_or_at_once(end: float, cut: bool, beam: int) -> None:
    """E05: one line a source, none lost; cut at the limit, or empty."""
    found = find(real_model(end=end), sources(), settings(beam, ratio=1.0, extra=2))
    assert [len(t) for t in found.tokens] == [len(s) + 2 if cut else 0 for s in sources()]
    assert found.cut == [cut] * len(sources())
    assert all(math.isfinite(p) for p in found.log_probabilities)
