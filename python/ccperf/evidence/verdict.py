"""What a row of a comparison says: how large a difference is, and which word that deserves."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Literal, TypeAlias

from ccperf.base.wording import counted
from ccperf.evidence import student
from ccperf.evidence.paired import LEAST, MOST_SEEDS, factor
from ccperf.evidence.summary import CONFIDENCE, deviation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ccperf.evidence.paired import Difference
    from ccperf.runs.metrics import Better, Effect, Metric

#: `mixed`: some points say more and some say less, or too few say either to matter on the whole.
Direction: TypeAlias = Literal["more", "less", "equal", "mixed", "unknown"]
Word: TypeAlias = Literal["better", "worse", "higher", "lower", "equal", "mixed", "not known yet"]


@dataclass(frozen=True)
class Extreme:
    """The least or the largest difference, as `Size.mean`, and where it is."""

    value: float
    point: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Size:
    """How large a difference is over points: factors, or differences in the metric's unit.

    The mean is geometric for factors. A point where only one side is 0 has no factor: it is
    infinite or 0 among the extremes, counts in `zeros`, and is left out of the mean, which is None
    if no point is left.
    """

    effect: Effect
    mean: float | None
    least: Extreme
    largest: Extreme
    zeros: int
    #: The mean's confidence interval if the points were drawn at random from possible grids.
    over_grids: tuple[float, float] | None


@dataclass(frozen=True)
class Verdict:
    """The answer of a row: what it says as a whole, and of how many points it says what."""

    direction: Direction
    #: Whether more of the metric is better; None if neither is.
    better: Better
    #: The smallest relative difference that matters.
    threshold: float
    points: int
    #: Points where a difference is shown, however small, and those where no seed changes anything.
    shown: int
    exact: int
    #: Points by what the runs say of them.
    more: int
    less: int
    equal: int
    unknown: int
    #: The fewest seeds of a point where they change something, and how many more would probably
    #: tell; None if that is not known (one seed), or too many.
    seeds: int
    more_seeds: int | None
    #: Points at which only the other has a value: those of the base, and of the side.
    lacking: tuple[int, int] = (0, 0)
    #: What that is called.
    lack: str = "missing"

    @property
    def word(self) -> Word:
        """The direction as a word: better or worse, higher or lower where neither is better."""
        return _word(self.direction, self.better)

    @property
    def is_better(self) -> bool | None:
        """Whether it is better, or worse; None if it is neither."""
        return {"better": True, "worse": False}.get(self.word)

    def __str__(self) -> str:
        """Return `better`, or where not all points are `better (4 of 6 points, 2 equal)`."""
        counts: dict[Direction, int] = {
            "more": self.more,
            "less": self.less,
            "equal": self.equal,
            "unknown": self.unknown,
        }
        if self.better == "lower":  # what is better comes first
            counts = {"less": self.less, **counts}
        there = {self._text(direction): count for direction, count in counts.items() if count}
        base, side = self.lacking
        lacking = {f"{self.lack} in the base": base, f"{self.lack} here": side}
        there |= {words: count for words, count in lacking.items() if count}
        text = self._text(self.direction)
        more = [f"{count} {words}" for words, count in there.items() if words != text]
        if more and text in there:
            more.insert(0, f"{there[text]} of {counted(self.points, 'point')}")
        notes = [", ".join(more), self.outlook]
        return f"{text} ({'; '.join(filter(None, notes))})" if any(notes) else text

    def _text(self, direction: Direction) -> str:
        if direction == "equal":
            return f"equal within {percent(self.threshold)}"
        return _word(direction, self.better)

    @property
    def outlook(self) -> str:
        """What would tell where it is not known yet; empty if all is known."""
        if not self.unknown:
            return ""
        if self.seeds == 1:
            return "one seed"
        if self.more_seeds is None:
            return f"more than {MOST_SEEDS:,} more seeds would tell"
        return f"{counted(self.more_seeds, 'more seed')} would tell"


def verdict(
    differences: Sequence[Difference],
    better: Better,
    least: float = LEAST,
    lacking: tuple[int, int] = (0, 0),
    lack: str = "missing",
) -> Verdict:
    """Return what differences at points say together; their probabilities are corrected.

    `lacking` points are those at which only one side has a value, as `Row.lacking`. Whoever has
    none there has not done what others have (a transfer that does not end has no completion time),
    so that nothing can be better, or equal, over all points.
    """
    directions: Counter[str] = Counter(each.direction for each in differences)
    wanted = [each.more_seeds for each in differences if each.direction == "unknown"]
    known = [seeds for seeds in wanted if seeds is not None]
    direction = _direction(differences, directions, least)
    drawn = [each.seeds for each in differences if each.basis != "exact"]
    return Verdict(
        direction=_whole(direction, better, lacking),
        better=better,
        threshold=least,
        points=len(differences),
        shown=sum(each.is_shown for each in differences),
        exact=sum(each.basis == "exact" for each in differences),
        more=directions["more"],
        less=directions["less"],
        equal=directions["equal"],
        unknown=directions["unknown"],
        seeds=min(drawn or [each.seeds for each in differences]),
        more_seeds=max(known) if known and len(known) == len(wanted) else None,
        lacking=lacking,
        lack=lack,
    )


def _whole(direction: Direction, better: Better, lacking: tuple[int, int]) -> Direction:
    """Return the direction with points counted at which only one side has a value."""
    base, side = lacking
    if not (base or side) or direction == "unknown":
        return direction
    if better is None or direction == "equal" or (base and side):
        return "mixed"
    is_better = (direction == "more") == (better == "higher")
    return "mixed" if (side if is_better else base) else direction


def size(differences: Sequence[Difference], *, over_grids: bool = False) -> Size:
    """Return how large differences of one metric are over their points, each counting once."""
    effect = differences[0].effect
    back = factor if effect == "ratio" else float
    # Of points that are alike the first by name, whichever side is the base.
    ordered = sorted(differences, key=lambda each: each.point)
    least, largest = (choose(ordered, key=lambda each: each.size) for choose in (min, max))
    finite = [each.size for each in differences if math.isfinite(each.size)]
    interval = None
    if over_grids and len(finite) > 1:
        scale = student.quantile(CONFIDENCE, len(finite) - 1) / math.sqrt(len(finite))
        half = scale * deviation(finite)
        interval = back(fmean(finite) - half), back(fmean(finite) + half)
    return Size(
        effect,
        back(fmean(finite)) if finite else None,
        Extreme(back(least.size), least.point),
        Extreme(back(largest.size), largest.point),
        len(differences) - len(finite),
        interval,
    )


def percent(share: float) -> str:
    """Return 0.01 as `1 %`."""
    return f"{100 * share:.6g} %"


def difference_unit(metric: Metric) -> str:
    """Return the unit of a difference: of per cent percentage points, as −7 % would be relative."""
    return "pp" if metric.unit == "%" else metric.shown_unit


def effect_text(effect: Effect, value: float | None) -> str:
    """Return a factor as `x1.45`, a difference as `+3.2`; where one side is 0 as `from 0`."""
    if value is None:
        return ""
    if effect == "difference":
        sign = {True: "+", False: "−"}[value > 0] if value else ""
        return f"{sign}{_digits(abs(value))}"
    if value in (0, math.inf):
        return "from 0" if value else "to 0"
    # Near 1, what matters comes behind the zeros.
    return f"x{value:.3f}" if 0.9 < value < 1.1 else f"x{_digits(value)}"


def interval_text(effect: Effect, value: float, interval: tuple[float, float]) -> str:
    """Return a size with its interval: `x1.101 (1.099 to 1.102)`.

    All have as many digits behind the point as tell them apart, and a factor's from 0; factors
    that span six orders of magnitude have three digits each.
    """
    low, high = interval
    if effect == "ratio" and high > 1e6 * low:
        return f"x{_digits(value)} ({_digits(low)} to {_digits(high)})"
    several = [low, value, high, *([0.0] if effect == "ratio" else [])]
    largest = max(map(abs, several))
    places = 0 if largest in (0, math.inf) else max(0, 2 - math.floor(math.log10(largest)))
    if effect == "ratio" and 0.9 < value < 1.1:
        places = max(places, 3)
    different = len(set(several))
    while len({round(each, places) for each in several}) < different and places < _MOST_PLACES:
        places += 1
    signs = ("x", "") if effect == "ratio" else ("+", "+")
    mean = _fixed(value, places, signs[0])
    return f"{mean} ({' to '.join(_fixed(end, places, signs[1]) for end in interval)})"


#: Doubles that are alike to so many digits differ by rounding.
_MOST_PLACES = 12


def _fixed(value: float, places: int, sign: str) -> str:
    """Return a value with a sign if it is not 0; a negative one has its own."""
    if not round(value, places):
        sign = sign if sign == "x" else ""
    elif value < 0:
        sign = "−"
    return f"{sign}{abs(value):,.{places}f}"


def _digits(value: float) -> str:
    # 999.5 has a fourth digit when it is rounded.
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}".replace("-", "−")


def _direction(
    differences: Sequence[Difference], directions: Counter[str], least: float
) -> Direction:
    more, less = directions["more"], directions["less"]
    if more and less:
        return "mixed"
    if not more and not less:
        return "equal" if directions["equal"] == len(differences) else "unknown"
    sign = 1 if more else -1
    sizes = [each.size * sign for each in differences]
    finite = [size for size in sizes if math.isfinite(size)]
    if differences[0].effect == "ratio":
        margin = math.log1p(least)
    else:
        margin = fmean(each.margin for each in differences)
    # A point where one side is 0 has no place in the mean; it is enough if that says no other.
    if finite and fmean(finite) <= (-margin if math.inf in sizes else margin):
        return "mixed"
    return "more" if more else "less"


def _word(direction: Direction, better: Better) -> Word:
    if direction == "unknown":
        return "not known yet"
    if direction in ("equal", "mixed"):
        return direction
    if better is None:
        return "higher" if direction == "more" else "lower"
    return "better" if (direction == "more") == (better == "higher") else "worse"
