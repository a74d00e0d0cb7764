"""Dropout whose random numbers are cheap on a CPU."""

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

_LANES = 4  # 16-bit numbers in each 64-bit draw


class Dropout(nn.Module):
    """Zero a share of the values in training and scale the others up (Srivastava et al. 2014).

    torch draws a 64-bit number for each value on a CPU, one after the other in one thread; here
    each draw serves four values, so the share is exact to 1/65,536. On another device it is
    torch's own.

    Args:
        share: probability of a value to be zeroed, at least 0 and less than 1.
    """

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, values: Tensor) -> Tensor:
        """Return values of any shape, unchanged in evaluation."""
        if not self.training or self.share == 0.0:
            return values
        if values.device.type != "cpu":
            return dropout(values, self.share)
        return values * _kept(values, self.share)


def _kept(values: Tensor, share: float) -> Tensor:
    """Return what each value is multiplied with: 0, or 1/(1-share)."""
    count = values.numel()
    draws = torch.empty(-(-count // _LANES), dtype=torch.int64).random_(-(2**63), None)
    lanes = draws.view(torch.int16)[:count].view(values.shape)  # -32768 to 32767, all alike
    return (lanes >= round(share * 2**16) - 2**15).to(values.dtype).mul_(1.0 / (1.0 - share))
