"""The processes that share one training: their parts of a batch, and what they tell each other.

Figures are exchanged on the CPU, over gloo; gradients where they are, on a GPU over NCCL. One
process by itself is a group of one, and never touches torch.distributed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from nmt.training.corpus import Numbers


@dataclass(frozen=True)
class Group:
    """One of the processes that share a training.

    Args:
        rank: its number. Number 0 leads: it alone validates, logs and writes.
        size: how many they are.
    """

    rank: int = 0
    size: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process validates, logs and writes."""
        return self.rank == 0

    def seeds(self, *numbers: int) -> tuple[int, ...]:
        """Return what seeds this process's dropout: the leader draws what it would draw alone."""
        return numbers if self.leads else (*numbers, self.rank)

    def part(self, numbers: Numbers) -> Numbers:
        """Return this process's pairs of a batch whose pairs stand in order of length.

        Dealt out there and back (0 1 1 0 0 1 …), so that each process has about as many tokens.
        Empty if there are fewer pairs than processes.
        """
        turn, seat = np.divmod(np.arange(len(numbers)), self.size)
        part: Numbers = numbers[np.where(turn % 2, self.size - 1 - seat, seat) == self.rank]
        return part

    def parallel(self, module: nn.Module) -> nn.Module:
        """Wrap a module, so that a backward pass ends with the mean gradient of all processes.

        Weights that a pass does not use are looked for. It keeps them from being waited for, and
        keeps torch from laying out the sums anew after the first step, so that a training that
        goes on after a stop adds in the same order.
        """
        if self.size == 1:
            return module
        return DistributedDataParallel(
            module, find_unused_parameters=True, forward_sync_buffers=False
        )

    def mean(self, values: Tensor) -> Tensor:
        """Return the mean of all processes' values, on the CPU. They wait for each other."""
        if self.size == 1:
            return values.detach().cpu()
        total = values.detach().to("cpu", copy=True)
        distributed.all_reduce(total)
        return total / self.size

    def tell(self, values: Sequence[float]) -> list[float]:
        """Return the values that the leader gave; the others give as many, of any kind."""
        if self.size == 1:
            return list(values)
        told = torch.tensor(values, dtype=torch.float64)
        distributed.broadcast(told, src=0)
        return told.tolist()

    def wait(self) -> None:
        """Wait until all processes have come here."""
        self.mean(torch.zeros(1))


ALONE = Group()
