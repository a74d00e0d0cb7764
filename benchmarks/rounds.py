"""Contenders timed in turn."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")


def interleave(
    contenders: Mapping[str, Callable[[], T]], rounds: int, title: str, *, warm_up: int = 1
) -> dict[str, list[T]]:
    """Let all contenders run in turn: A B C, A B C, …

    So what slows the machine for a while slows all of them.

    Args:
        contenders: by name; each does its work and tells what it took.
        rounds: how often each is measured.
        title: what the progress bar says.
        warm_up: rounds before, which are not measured.

    Returns:
        what each told, in the order of the rounds.
    """
    told: dict[str, list[T]] = {name: [] for name in contenders}
    total = (warm_up + rounds) * len(contenders)
    with tqdm(total=total, desc=title, leave=False, disable=None) as bar:
        for number in range(-warm_up, rounds):
            for name, run in contenders.items():
                result = run()
                if number >= 0:
                    told[name].append(result)
                bar.update()
    return told
