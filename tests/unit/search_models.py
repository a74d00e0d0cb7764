"""Models to search with: one made of a table of scores, and small real ones."""

from dataclasses import dataclass

import numpy as np
import torch
from pydantic import TypeAdapter
from torch import Tensor
from torch.nn.functional import one_hot

from nmt.corpus.symbols import EOS, PAD, SOS, UNK
from nmt.decoding.settings import DecodingSettings
from nmt.model.seq2seq import Seq2Seq
from nmt.model.settings import ModelSettings
from nmt.model.states import Memory, State, Step

V = 7  # <unk> <pad> <sos> <eos> and three words


def settings(
    beam: int = 5,
    penalty: float = 1.0,
    ratio: float = 0.0,
    extra: int = 6,
    *,
    replace_unknown: bool = False,
    batch_size: int = 4,
) -> DecodingSettings:
    return DecodingSettings(
        beam=beam,
        length_penalty=penalty,
        max_length_ratio=ratio,
        max_length_extra=extra,
        replace_unknown=replace_unknown,
        batch_size=batch_size,
    )


class TableModel:
    """Scores of the next token by sentence, step and last token: logits (N,T,V,V).

    A sentence's first id picks its row of the table. Attention of a step lies wholly on one
    source token, number (step + last token) modulo the length, so each row tells its origin.
    """

    def __init__(self, logits: Tensor) -> None:
        self.logits = logits
        self.batches: list[int] = []  # rows of each step

    def encode(self, src: Tensor, lengths: Tensor) -> Memory:
        mask = (torch.arange(src.shape[1]) < lengths.unsqueeze(1)).unsqueeze(1)
        which = (src[:, :1] % len(self.logits)).unsqueeze(0)  # (1,B,1)
        return Memory(src.unsqueeze(2).float(), mask, src.unsqueeze(2), (which,))

    def start(self, memory: Memory) -> State:
        (which,) = memory.last
        return State((which, torch.zeros_like(which)))

    def step(self, tokens: Tensor, state: State, memory: Memory) -> Step:
        which, i = state.parts
        self.batches.append(len(tokens))
        logits = self.logits[which.flatten(), i.flatten(), tokens].clone()
        size = memory.mask.sum(-1)  # (B,1)
        place = (i.flatten() + tokens).unsqueeze(1) % size
        weights = one_hot(place, memory.mask.shape[-1]).float()
        return Step(logits, State((which, i + 1)), weights)


def table(seed: int, sentences: int = 3, steps: int = 12, spread: float = 2.0) -> TableModel:
    generator = torch.Generator().manual_seed(seed)
    return TableModel(spread * torch.randn(sentences, steps, V, V, generator=generator))


def even_table(**logits: float) -> TableModel:
    """All tokens alike, but for the named ones."""
    values = torch.zeros(1, 40, V, V)
    for name, value in logits.items():
        values[..., {"unk": UNK, "pad": PAD, "sos": SOS, "eos": EOS}[name]] = value
    return TableModel(values)


@dataclass(frozen=True)
class Kind:
    """A small real model; `end` is added to the bias of <eos>, so that lengths differ."""

    values: dict[str, object]
    end: float


def recurrent(cell: str, attention: str, alignment: str, context: str) -> dict[str, object]:
    return {
        "kind": "recurrent",
        "cell": cell,
        "attention": attention,
        "alignment": alignment,
        "context": context,
        "embedding": 12,
        "hidden": 16,
        "bidirectional": True,
    }


KINDS = {
    "plain": Kind(recurrent("gru", "none", "soft", "none"), 0.8),
    "lstm": Kind(recurrent("lstm", "none", "soft", "none"), 0.2),
    "between": Kind(recurrent("gru", "additive", "soft", "between_layers"), 0.6),
    "scaled": Kind(recurrent("lstm", "scaled_dot", "soft", "between_layers"), 0.6),
    "fed_back": Kind(recurrent("rnn", "additive", "soft", "fed_back"), 0.6),
    "hard": Kind(recurrent("gru", "additive", "hard", "between_layers"), 0.6),
    "transformer": Kind({"kind": "transformer", "width": 16, "feed_forward": 24, "heads": 4}, 0.6),
}
SIZE = 40


def real_model(name: str = "between", end: float | None = None) -> Seq2Seq:
    """Make a random model of a kind, in evaluation mode, with weights far from uniform."""
    kind = KINDS[name]
    values = kind.values | {
        "encoder_layers": 2,
        "decoder_layers": 2,
        "dropout": 0.5,
        "attention_dropout": 0.2,
        "tie_target": False,
        "tie_source": False,
        "tokenizer": "words",
    }
    torch.manual_seed(7)
    model = Seq2Seq(TypeAdapter(ModelSettings).validate_python(values), SIZE, SIZE)
    with torch.no_grad():
        for key, weight in model.named_parameters():
            weight.mul_(4.0 if "output" in key else 1.0 if "embedding" in key else 1.5)
        model.output.bias[EOS] += kind.end if end is None else end
    return model.eval()


def sources(count: int = 9) -> list[list[int]]:
    """Sentences of unlike length, an empty one and an unknown one among them."""
    generator = np.random.default_rng(3)
    made = [generator.integers(4, SIZE, size=n % 7).tolist() for n in range(count)]
    return [*made, [UNK, UNK, UNK]]
