"""Small figures for the front pages: as many as fit on a screen, each with its own axes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from ccperf.present.figures import geometry
from ccperf.present.figures.palette import SUBJECTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Pixels; pages scale the whole.
_WIDTH, _HEIGHT = 220, 140
_LEFT, _RIGHT, _TOP, _BOTTOM = 36, 212, 19, 108
_MIDDLE = (_LEFT + _RIGHT) // 2
#: More subjects than these do not look different enough.
MOST = len(SUBJECTS)
#: Markers as `palette.SUBJECTS` names them.
_MARKS = {
    "o": "M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "s": "M{x} {y}m-3.6-3.6h7.2v7.2h-7.2z",
    "^": "M{x} {y}m0-5l4.6 8.4h-9.2z",
    "D": "M{x} {y}m0-5l5 5l-5 5l-5-5z",
    "v": "M{x} {y}m0 5l4.6-8.4h-9.2z",
    "P": "M{x} {y}m-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    "X": "M{x} {y}m0-2.1l2.1-2.1l2.1 2.1l-2.1 2.1l2.1 2.1l-2.1 2.1l-2.1-2.1l-2.1 2.1l-2.1-2.1"
    "l2.1-2.1l-2.1-2.1l2.1-2.1z",
    "<": "M{x} {y}m-5 0l8.4-4.6v9.2z",
    ">": "M{x} {y}m5 0l-8.4-4.6v9.2z",
    "p": "M{x} {y}m0-4.6l4.4 3.2l-1.7 5.1h-5.4l-1.7-5.1z",
}


@dataclass(frozen=True)
class Point:
    """A value on a line with its interval."""

    x: int
    y: float
    low: float
    high: float


def mark(subject: int, x: float, y: float) -> str:
    """Return the outline of a subject's mark, which tells it without its colour."""
    return _MARKS[SUBJECTS[subject].marker].format(x=f"{x:.4g}", y=f"{y:.4g}")


def plane(points: Mapping[int, tuple[float, float]], titles: tuple[str, str], alt: str) -> str:
    """Draw a mark for each subject at its x and y; `titles` are those of the two axes."""
    across = _Scale([x for x, _ in points.values()], _LEFT, _RIGHT)
    up = _Scale([y for _, y in points.values()], _BOTTOM, _TOP)
    marks = [
        f'<path class="mark c{subject}" d="{mark(subject, across.at(x), up.at(y))}"/>'
        for subject, (x, y) in points.items()
    ]
    return _svg([*_frame(across.ticks(3), up.ticks(3), titles), *marks], alt)


def lines(
    series: Mapping[int, Sequence[Point]], labels: Sequence[str], titles: tuple[str, str], alt: str
) -> str:
    """Draw a line for each subject over places with labels, on a scale of ratios around 1."""
    values = [one.y for points in series.values() for one in points]
    # Of few seeds some interval is so long that it would leave no room for anything else.
    longest = geometry.LONGEST
    least, most = min(1.0, *values) / longest, max(1.0, *values) * longest
    ends = [end for points in series.values() for one in points for end in (one.low, one.high)]
    shown = [min(most, max(least, end)) for end in ends]
    up = _Scale([1.0, *values, *shown], _BOTTOM, _TOP, is_log=True)
    step = (_RIGHT - _LEFT) / max(1, len(labels))

    def across(place: int) -> float:
        return _LEFT + step * (place + 0.5)

    every = 1 + max((len(label) for label in labels), default=1) * 6 * len(labels) // 190
    ticks = [(across(i), text) for i, text in enumerate(labels) if i % every == 0]
    parts = _frame(ticks, up.ticks(4), titles)
    parts.append(f'<path class="one" d="M{_LEFT} {up.at(1):.4g}H{_RIGHT}"/>')
    for order, (subject, points) in enumerate(series.items()):
        # Beside each other, so that no interval hides another.
        beside = (order - (len(series) - 1) / 2) * min(3.0, 0.5 * step / len(series))
        at = [(across(one.x) + beside, up.at(one.y)) for one in points]
        spread = "".join(
            f"M{x:.4g} {up.at(max(least, one.low)):.4g}V{up.at(min(most, one.high)):.4g}"
            for (x, _), one in zip(at, points, strict=True)
            if one.high > one.low
        )
        path = "M" + "L".join(f"{x:.4g} {y:.4g}" for x, y in at)
        marks = "".join(mark(subject, x, y) for x, y in at)
        parts.append(
            f'<g class="c{subject}"><path class="line" d="{path}"/>'
            f'<path class="spread" d="{spread}"/><path class="mark" d="{marks}"/></g>'
        )
    return _svg(parts, alt)


class _Scale:
    """From values to pixels, with some room around the data."""

    def __init__(
        self, values: Sequence[float], first: float, last: float, *, is_log: bool = False
    ) -> None:
        self._from = math.log if is_log else float
        self.is_log = is_log
        placed = [self._from(value) for value in values]
        low, high = min(placed), max(placed)
        least = 0.03 if is_log else 0.05 * abs(high) or 1e-9
        room = max(0.12 * (high - low), least)
        # Nothing here is negative by nature but what is printed with a sign.
        self.low = max(0.0, low - room) if not is_log and low >= 0 else low - room
        self.high = high + room
        self.first, self.last = first, last

    def at(self, value: float) -> float:
        """Return the pixel of a value."""
        share = (self._from(value) - self.low) / (self.high - self.low)
        return self.first + (self.last - self.first) * share

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Return pixels with their texts."""
        if not self.is_log:
            return [(self.at(v), text) for v, text in geometry.ticks(self.low, self.high, most)]
        low, high = math.exp(self.low), math.exp(self.high)
        if high / low < 5:
            return [(self.at(v), text) for v, text in geometry.ticks(low, high, most)]
        steps = (1, 2, 5) if high / low < 100 else (1,)
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        values = [step * 10.0**power for power in powers for step in steps]
        return [(self.at(v), f"{v:g}") for v in values if low <= v <= high]


def _frame(
    across: Sequence[tuple[float, str]], up: Sequence[tuple[float, str]], titles: tuple[str, str]
) -> list[str]:
    grid = "".join(f"M{_LEFT} {y:.4g}H{_RIGHT}" for y, _ in up)
    return [
        f'<path class="grid" d="{grid}"/>',
        f'<path class="frame" d="M{_LEFT} {_TOP}V{_BOTTOM}H{_RIGHT}"/>',
        *(f'<text x="{x:.4g}" y="{_BOTTOM + 12}">{escape(text)}</text>' for x, text in across),
        *(f'<text class="up" x="{_LEFT - 4}" y="{y + 3:.4g}">{text}</text>' for y, text in up),
        f'<text class="title" x="{_across(titles[0])}" y="{_HEIGHT - 6}"{_fitted(titles[0])}>'
        f"{escape(titles[0])}</text>",
        f'<text class="title at" x="2" y="10">{escape(titles[1])}</text>',
    ]


#: How wide a letter may be, and how much room the title of the x axis has.
_LETTER, _ROOM = 5.2, _WIDTH - 8


def _across(title: str) -> int:
    """Return the middle of the title of the x axis: of a long one that of the whole figure."""
    return _MIDDLE if _LETTER * len(title) <= 2 * (_WIDTH - _MIDDLE) - 8 else _WIDTH // 2


def _fitted(title: str) -> str:
    """Return what makes a title as narrow as it has to be."""
    if _LETTER * len(title) <= _ROOM:
        return ""
    return f' textLength="{_ROOM}" lengthAdjust="spacingAndGlyphs"'


def _svg(parts: Sequence[str], alt: str) -> str:
    label = escape(alt, {'"': "&quot;"})
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{label}">'
        f"{''.join(parts)}</svg>"
    )
