"""The state of a training between two epochs, kept so that a stop loses one epoch at most.

It lies outside DVC's outputs, which DVC removes before it runs a stage, in a folder named by a
fingerprint of all that decides the result. So a changed param, file or line of code starts
afresh, and an unchanged one goes on where it stopped, with the same bytes in the end.
"""

import hashlib
import json
import logging
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from nmt.files import replacing, sha256

log = logging.getLogger(__name__)


@dataclass
class Progress:
    """How far a training has come, in plain values.

    Args:
        epoch: epochs done.
        history: one row of figures for each.
        losses: for each of them, the loss of each batch.
        best_epoch: the best so far; 0 before the first.
    """

    epoch: int = 0
    history: list[dict[str, float]] = field(default_factory=list)
    losses: list[tuple[float, ...]] = field(default_factory=list)
    best_epoch: int = 0


def fingerprint(files: Iterable[Path], values: dict[str, Any]) -> str:
    """Return a digest of files' bytes and of plain values, as 64 hexadecimal digits."""
    digest = hashlib.sha256(json.dumps(values, sort_keys=True).encode())
    for path in sorted(files):
        digest.update(f"{path.name} {sha256(path)}\n".encode())
    return digest.hexdigest()


class Checkpoint:
    """One training's state in one folder.

    Args:
        folder: where it lies, named by the fingerprint; the encoded corpus lies beside it, in
            the folder `corpus`, and in `drawn` as an epoch has it, where each draws its own.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "state.pt"
        self.corpus = folder / "corpus"
        self.drawn = folder / "drawn"

    def save(
        self,
        progress: Progress,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        best: dict[str, torch.Tensor],
        average: Sequence[torch.Tensor] = (),
    ) -> None:
        """Write the state whole, in place of the one before.

        Args:
            progress: how far it came.
            model: its weights now.
            optimizer: its moments.
            best: the best epoch's weights.
            average: the moving average of the weights, in the model's order, if one is kept.
        """
        with replacing(self._path) as temporary:
            torch.save(
                {
                    "progress": asdict(progress),
                    "model": model.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "best": best,
                    "average": list(average),
                },
                temporary,
            )

    def load(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        average: Sequence[torch.Tensor] = (),
    ) -> tuple[Progress, dict[str, torch.Tensor]] | None:
        """Fill model, optimizer and average from the state, if there is one; return the rest."""
        if not self._path.exists():
            return None
        device = next(model.parameters()).device
        state = torch.load(self._path, map_location=device, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        if average:
            for mean, kept in zip(average, state["average"], strict=True):
                mean.copy_(kept)
        progress = Progress(**state["progress"])
        log.info("going on after epoch %d, from %s", progress.epoch, self._path.parent.name[:12])
        return progress, state["best"]

    def remove(self) -> None:
        """Remove the state: the training is done."""
        shutil.rmtree(self._path.parent, ignore_errors=True)
