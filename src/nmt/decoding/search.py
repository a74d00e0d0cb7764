"""Beam search over a batch of sentences, on the model's device.

The rule, exact and free of chance: a beam has K slots. At each step the best K continuations of
the live hypotheses fill them; one that ends in <eos> is finished and its slot stays empty from
then on. So K hypotheses are followed to their end, and K = 1 is greedy search. Finished ones are
ranked by log-probability / length ** length_penalty, with <eos> counted in the length; the best
is the result. A sentence is done as soon as no live hypothesis can beat its best finished one,
however it went on: a stop that never changes the result. Ties go to the hypothesis that was
ahead, then to the lower id, then to the shorter.
"""

from typing import Generic

import torch
from torch import Tensor

from nmt.corpus.symbols import EOS, PAD, SOS
from nmt.decoding.history import History
from nmt.decoding.interface import M, SearchModel
from nmt.decoding.settings import DecodingSettings
from nmt.errors import ModelError
from nmt.model.states import Step
from nmt.validation.greedy import Found


@torch.inference_mode()
def beam_search(
    model: SearchModel[M], src: Tensor, lengths: Tensor, settings: DecodingSettings
) -> Found:
    """Translate a batch.

    A sentence that met its length limit with no hypothesis finished gets its best live one, cut.

    Args:
        model: in evaluation mode.
        src: ids (B,S) on the model's device, each sentence ending in <eos>.
        lengths: real tokens of each source sentence (B,), on the CPU.
        settings: width of the beam, length penalty and length limit.

    Raises:
        ModelError: the model's scores are not numbers.
    """
    limits = length_limits(lengths, settings)
    search = _Search(model, src, lengths, limits, settings)
    for i in range(int(limits.max()) + 1):
        if not search.advance(i):
            break
    return search.collect(lengths)


def length_limits(lengths: Tensor, settings: DecodingSettings) -> Tensor:
    """Return how many tokens each output may have (B,), <eos> not counted.

    Args:
        lengths: real tokens of each source sentence (B,), <eos> counted.
        settings: the limit is ratio times the source without <eos>, rounded down, plus extra.
    """
    longest = ((lengths - 1).double() * settings.max_length_ratio).floor().long()
    return longest + settings.max_length_extra


def largest(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the k largest values of each row (N,k), falling, and their columns (N,k).

    Of equal values the one in the lower column comes first, which `torch.topk` does not promise.
    The values are overwritten.
    """
    found, columns = [], []
    for _ in range(k):
        value, column = values.max(dim=1, keepdim=True)
        values.scatter_(1, column, -torch.inf)
        found.append(value)
        columns.append(column)
    return torch.cat(found, dim=1), torch.cat(columns, dim=1)


class _Best:
    """The best finished hypothesis of each sentence (B,), or where a cut one ends."""

    def __init__(self, sentences: int, device: torch.device) -> None:
        self.ranks = torch.full((sentences,), -torch.inf, device=device)  # none finished
        self.log_probabilities = torch.zeros(sentences, device=device)
        self.steps = torch.full((sentences,), -1, device=device)
        self.slots = torch.zeros(sentences, dtype=torch.long, device=device)

    def offer(self, rows: Tensor, scores: Tensor, penalty: Tensor, i: int) -> None:
        """Take hypotheses finished at step i: log-probabilities (n,K), -inf where none is."""
        score, slot = scores.max(dim=1)
        rank = score / penalty
        better = rank > self.ranks[rows]
        self._take(rows, better, score, slot, i)
        self.ranks[rows] = torch.where(better, rank, self.ranks[rows])

    def cut(self, rows: Tensor, over: Tensor, scores: Tensor, i: int) -> None:
        """Where a sentence is over (n,) and none is finished, take the best live one of step i."""
        score, slot = scores.max(dim=1)
        self._take(rows, over & (self.ranks[rows] == -torch.inf), score, slot, i)

    def _take(self, rows: Tensor, which: Tensor, score: Tensor, slot: Tensor, i: int) -> None:
        old = self.log_probabilities, self.steps, self.slots
        for values, new in zip(old, (score, torch.full_like(slot, i), slot), strict=True):
            values[rows] = torch.where(which, new, values[rows])


class _Search(Generic[M]):
    """The live part of a search: n sentences that are not done, K slots each."""

    def __init__(
        self,
        model: SearchModel[M],
        src: Tensor,
        lengths: Tensor,
        limits: Tensor,
        settings: DecodingSettings,
    ) -> None:
        count, width, device = len(src), settings.beam, src.device
        self.model, self.width = model, width
        self.rows = torch.arange(count, device=device)
        memory = model.encode(src, lengths)
        slots = self.rows.repeat_interleave(width)
        self.state = model.start(memory).select(slots)
        self.memory = memory.select(slots)
        self.tokens = torch.full((count, width), SOS, device=device)
        self.scores = torch.full((count, width), -torch.inf, device=device)
        self.scores[:, 0] = 0.0  # at first there is one hypothesis, the empty one
        self.room = torch.full((count, 1), width, device=device)  # slots not yet finished
        self.limits = limits.to(device)
        length = torch.arange(1, int(limits.max()) + 2, dtype=torch.float64)
        self.penalties = (length**settings.length_penalty).float().to(device)
        self.history = History(count)
        self.best = _Best(count, device)

    def advance(self, i: int) -> bool:
        """Take step i; return whether any sentence goes on."""
        step = self.model.step(self.tokens.flatten(), self.state, self.memory)
        scores, parents, tokens = self._extend(step.logits)
        weights = step.weights.reshape(*tokens.shape, *step.weights.shape[1:])  # (n,K,A,S)
        self.history.add(self.rows, tokens, parents, weights)
        ended = tokens == EOS
        finished = scores.masked_fill(~ended, -torch.inf)
        self.best.offer(self.rows, finished, self.penalties[i], i)
        limits = self.limits[self.rows]
        over = limits <= i
        self.best.cut(self.rows, over, self.scores, i - 1)
        live = scores.masked_fill(ended, -torch.inf)
        bound = live.amax(1) / self.penalties[limits]  # a hypothesis can only lose probability
        done = over | (bound <= self.best.ranks[self.rows])
        self.scores, self.tokens = live, tokens
        self.room = self.room - finished.isfinite().sum(1, keepdim=True)
        return self._keep(~done, parents, step)

    def _extend(self, logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Choose K continuations from logits (n·K,V): scores, parents and tokens, each (n,K)."""
        scores = logits.log_softmax(-1)
        scores[:, PAD] = -torch.inf
        scores[:, SOS] = -torch.inf
        # First within each hypothesis, where nothing is added yet that could round two values
        # to one: so a beam of 1 chooses just as greedy search does.
        values, ids = largest(scores, min(self.width, scores.shape[1]))
        k = values.shape[1]
        shape = (len(self.rows), self.width * k)
        totals = (self.scores.unsqueeze(2) + values.view(-1, self.width, k)).view(shape)
        totals, order = totals.sort(dim=1, descending=True, stable=True)
        totals, order = totals[:, : self.width], order[:, : self.width]
        full = torch.arange(self.width, device=order.device) >= self.room
        tokens = ids.view(shape).gather(1, order)
        return totals.masked_fill(full, -torch.inf), order // k, tokens

    def _keep(self, mask: Tensor, parents: Tensor, step: Step) -> bool:
        """Let the sentences outside the mask (n,) leave, and reorder the states of the others."""
        kept = mask.nonzero().squeeze(1)  # its size is all that the host learns of a step
        if not len(kept):
            return False
        first = kept.unsqueeze(1) * self.width  # (n,1)
        self.state = step.state.select((first + parents[kept]).flatten())
        if len(kept) < len(self.rows):
            slots = torch.arange(self.width, device=kept.device)
            self.memory = self.memory.select((first + slots).flatten())
            self.rows, self.tokens = self.rows[kept], self.tokens[kept]
            self.scores, self.room = self.scores[kept], self.room[kept]
        return True

    def collect(self, lengths: Tensor) -> Found:
        """Read the best hypothesis of each sentence off the history, without padding."""
        best = self.best
        tokens, weights = self.history.trace(best.steps, best.slots)
        log_probabilities = best.log_probabilities.cpu()
        if not bool(log_probabilities.isfinite().all()):
            raise ModelError(
                "the model's scores of the next token are not finite numbers; "
                "its weights are damaged or its training diverged: train it again"
            )
        ids, attention = tokens.cpu(), weights.float().cpu()
        counts, cut = (best.steps + 1).tolist(), (best.ranks == -torch.inf).tolist()
        return Found(
            [row[: n - (not c)].tolist() for row, n, c in zip(ids, counts, cut, strict=True)],
            [
                w[:, :n, :s].clone()
                for w, n, s in zip(attention, counts, lengths.tolist(), strict=True)
            ],
            log_probabilities.tolist(),
            cut,
        )
