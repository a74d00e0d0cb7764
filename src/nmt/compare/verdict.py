"""What may be said of two systems, and no more than that."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from nmt.compare.significance import Evidence
from nmt.report.comparisons import LEVEL
from nmt.report.quality import SEEDS_FOR_BEST


class Outcome(Enum):
    """What a comparison comes to."""

    SAME = "the same translations"
    NOT_SHOWN = "no difference shown"
    THIS_TRAINING = "this training differs"
    A_BETTER = "A is better"
    B_BETTER = "B is better"
    UNKNOWN = "can't tell"


@dataclass(frozen=True)
class Verdict:
    """An outcome and its one line."""

    outcome: Outcome
    line: str


def judge(tested: Evidence, p: float) -> Verdict:
    """Judge one model on one test set.

    "Better" is said of a difference that both tests find on the sentences (p below LEVEL), with
    at least SEEDS_FOR_BEST seeds a side, of which the worst of one beats the best of the other.

    Args:
        tested: the scores and tests.
        p: corrected for the number of comparisons.
    """
    if tested.same:
        return Verdict(Outcome.SAME, "the same translations, word for word: no difference")
    figures = f"{signed(tested.delta)} BLEU, {show_p(p)}"
    seeds, apart = len(tested.a), _apart(tested.a, tested.b)
    better = "B" if tested.delta > 0 else "A"
    if p >= LEVEL:
        where = ", within the spread of seeds" if seeds > 1 and not apart else ""
        return Verdict(Outcome.NOT_SHOWN, f"{figures}{where}: no difference shown")
    if seeds == 1:
        line = f"{figures}: this result of {better} is higher; one a side can't tell luck"
        return Verdict(Outcome.THIS_TRAINING, f"{line} from setting")
    if not apart:
        line = f"{figures} on the sentences, but within the spread of seeds: no difference shown"
        return Verdict(Outcome.NOT_SHOWN, line)
    if seeds < SEEDS_FOR_BEST:
        line = f"{figures}: these trainings of {better} score higher; {seeds} seeds are too few"
        return Verdict(Outcome.THIS_TRAINING, f"{line} to say it of the setting")
    outcome = Outcome.B_BETTER if better == "B" else Outcome.A_BETTER
    return Verdict(outcome, f"{figures}, beyond the spread of {seeds} seeds: {better} is better")


def corrected(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm 1979), in the same order."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    found, least = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, p_values[i] * (len(p_values) - rank)))
        found[i] = least
    return found


def summary(verdicts: Sequence[tuple[str, Verdict]], missing: int) -> str:
    """Return one line for all comparisons.

    Args:
        verdicts: place (model and test set) and verdict of each that was tested.
        missing: how many could not be.
    """
    untold = f"; {missing} can't be told" if missing else ""
    if not verdicts and not missing:
        return "can't tell: there is no model and test set that both sides have"
    if not verdicts:
        return f"can't tell: nothing could be compared on the sentences{untold}"
    if len(verdicts) == 1:
        place, verdict = verdicts[0]
        return f"{place}: {verdict.line}{untold}"
    outcomes = [verdict.outcome for _, verdict in verdicts]
    if set(outcomes) == {Outcome.SAME}:
        return f"the same translations, word for word, in all {len(outcomes)} comparisons{untold}"
    counts = [
        f"{words} in {outcomes.count(outcome)}{_places(verdicts, outcome)}"
        for outcome, words in _WORDS.items()
        if outcome in outcomes
    ]
    return f"of {len(outcomes)} comparisons: {', '.join(counts)}{untold}"


_WORDS = {
    Outcome.B_BETTER: "B is better",
    Outcome.A_BETTER: "A is better",
    Outcome.THIS_TRAINING: "these results differ, but seeds are too few",
    Outcome.NOT_SHOWN: "no difference shown",
    Outcome.SAME: "the same translations",
}


def _places(verdicts: Sequence[tuple[str, Verdict]], outcome: Outcome) -> str:
    """Name the places where something was found; those without a difference are not named."""
    if outcome in (Outcome.NOT_SHOWN, Outcome.SAME):
        return ""
    return f" ({'; '.join(place for place, verdict in verdicts if verdict.outcome == outcome)})"


def signed(value: float, digits: int = 2) -> str:
    """Write a difference with its sign."""
    return f"{value:+.{digits}f}"


def show_p(p: float) -> str:
    """Write a p-value with three digits."""
    return f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"


def _apart(a: Sequence[float], b: Sequence[float]) -> bool:
    return min(a) > max(b) or min(b) > max(a)
