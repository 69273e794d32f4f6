"""A run's series in a few kilobytes, for figures that a browser draws (`site/static/data.js`).

Values are rounded to 4094 or 262142 steps between their least and their greatest, and written as
two or three digits of base 64. Where all samples take more room than there is, the grid is cut into
buckets of equal length: of each its least and its greatest value are kept, in their order; of
counts, the sum. So no peak is lost, and none is invented.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ccperf.figures.figure import MANY_FLOWS
from ccperf.figures.quantities import QUANTITIES, bottlenecks, columns, optima
from ccperf.metrics.statistics import mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ccperf.figures.figure import Floats
    from ccperf.metrics import FlowSeries

_DIGITS = np.frombuffer(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", np.uint8
)
#: Fewer buckets than this show no shape.
_LEAST_BUCKETS = 12
#: What distributions and operating points are made of; kept even where no flow has a value.
_ALWAYS = ("throughput", "srtt")
#: What is left out first where there is little room; figures then lack it.
_DISPENSABLE = ("in_flight", "retransmissions", "rtos", "ssthresh", "marks", "cwnd")
#: Characters around the digits of a series, around a flow, and around all.
_AROUND_SERIES = 8
_AROUND_FLOW = 34
_AROUND_ALL = 640


@dataclass(frozen=True)
class Room:
    """How much a run may take."""

    #: Characters in all.
    size: int
    #: Digits of a value, and of the least and greatest of a series.
    digits: int
    figures: int
    #: Points of a distribution function.
    quantiles: int

    @property
    def around_series(self) -> int:
        return _AROUND_SERIES + 2 * (self.figures + 3)


#: The run that a page shows first, and runs that are laid over it.
FULL = Room(17_000, 3, 8, 65)
SMALL = Room(3_000, 2, 4, 9)
#: The same where there are many runs, so that the whole page stays as small.
FULL_OF_MANY = Room(8_000, 3, 8, 33)
SMALL_OF_MANY = Room(1_400, 2, 4, 9)
MANY = 5


def rooms(runs: int) -> tuple[Room, Room]:
    """Return the room of the first of a page's runs, and that of each of the others."""
    return (FULL, SMALL) if runs < MANY else (FULL_OF_MANY, SMALL_OF_MANY)


def pack(flows: FlowSeries, room: Room, algorithms: Sequence[str]) -> dict[str, Any]:
    """Return the series of a run as plain values; `algorithms` has one for each flow.

    With more flows than can be told apart in that room, a few are kept, spread over all.
    """
    count = flows.time.size
    chosen, kept = _fitting(flows, room)
    width = _width(kept, len(chosen), count, room)
    return {
        "start": round(float(flows.time[0]), 9) if count else 0.0,
        "step": round(float(flows.time[1] - flows.time[0]), 9) if count > 1 else 0.0,
        "count": count,
        "width": width,
        "digits": room.digits,
        "all": len(flows.names),
        "flows": [[flows.names[index], algorithms[index]] for index in chosen],
        "links": [flows.links.names[column] for column in bottlenecks(flows)],
        "columns": [
            [name, [_digits(one, room) for one in _reduced(name, series, width).T]]
            for name, series in kept.items()
        ],
        "quantiles": [
            [name, [_digits(one, room) for one in _quantiles(kept[name], room.quantiles)]]
            for name in _ALWAYS
        ],
        "means": {name: _plain(mean(kept[name]), room) for name in _ALWAYS},
    }


def _fitting(flows: FlowSeries, room: Room) -> tuple[list[int], dict[str, Floats]]:
    """Return which flows are kept, and their series that have something to show and fit."""
    values = columns(flows)
    best = {f"optimum_{name}": one[:, None] for name, one in optima(flows).items()}
    of_flows = {name for name, quantity in QUANTITIES.items() if quantity.of == "flow"}
    count = len(flows.names)
    dispensable = list(_DISPENSABLE)
    most = count
    while True:
        chosen = sorted({round(place) for place in np.linspace(0, count - 1, most).tolist()})
        kept = {
            name: series[:, chosen] if name in of_flows else series
            for name, series in (values | best).items()
        }
        kept = {
            name: series
            for name, series in kept.items()
            if name in _ALWAYS or not _is_empty(name, series)
        }
        least = 2 * _LEAST_BUCKETS * room.digits * _points(kept)
        if least + _around(kept, len(chosen), room) <= room.size or most == 1:
            return chosen, kept
        if dispensable:
            values.pop(dispensable.pop(0), None)
        else:
            most = min(MANY_FLOWS, most // 2) if most > MANY_FLOWS else most - 1
            dispensable.clear()


def _points(kept: dict[str, Floats]) -> float:
    """Return how many series there are digits of; an event has one a bucket, others two."""
    return sum(
        float(series.shape[1]) / (2 if _is_event(name) else 1)
        for name, series in kept.items()
        if not _is_constant(series)
    )


def _around(kept: dict[str, Floats], flows: int, room: Room) -> float:
    """Return how many characters there are besides the digits of series."""
    series = sum(int(one.shape[1]) for one in kept.values())
    quantiles = 2 * (room.around_series + room.digits * room.quantiles)
    return _AROUND_ALL + room.around_series * series + (_AROUND_FLOW + quantiles) * flows


def _width(kept: dict[str, Floats], flows: int, count: int, room: Room) -> int:
    """Return how many samples a bucket has: 1, or as many as it takes to fit."""
    digits = (room.size - _around(kept, flows, room)) / room.digits
    every = sum(one.shape[1] for one in kept.values() if not _is_constant(one))
    if every * count <= digits or count == 0:
        return 1
    buckets = max(_LEAST_BUCKETS, int(digits / (2 * max(1, _points(kept)))))
    return max(2, -(-count // buckets))


def _is_event(name: str) -> bool:
    return name in QUANTITIES and QUANTITIES[name].shape == "ticks"


def _is_empty(name: str, series: Floats) -> bool:
    """Whether there is nothing to draw: nothing happened, or there are no values."""
    return bool((series <= 0).all()) if _is_event(name) else bool(np.isnan(series).all())


def _is_constant(series: Floats) -> bool:
    return bool((series == series[:1]).all())


def _reduced(name: str, series: Floats, width: int) -> Floats:
    """Return what is kept of columns of samples, shape (kept, columns)."""
    if width == 1:
        return series
    count, wide = series.shape
    buckets = -(-count // width)
    padded = np.full((buckets * width, wide), 0.0 if _is_event(name) else np.nan)
    padded[:count] = series
    cut = padded.reshape(buckets, width, wide)
    if _is_event(name):
        total: Floats = cut.sum(axis=1)
        return total
    low = np.where(np.isnan(cut), np.inf, cut)
    high = np.where(np.isnan(cut), -np.inf, cut)
    first, last = low.argmin(axis=1), high.argmax(axis=1)
    least, greatest = low.min(axis=1), high.max(axis=1)
    falling = first > last
    pairs = np.empty((buckets, 2, wide))
    pairs[:, 0] = np.where(falling, greatest, least)
    pairs[:, 1] = np.where(falling, least, greatest)
    pairs[~np.isfinite(pairs)] = np.nan
    return pairs.reshape(2 * buckets, wide)


def _quantiles(series: Floats, count: int) -> list[Floats]:
    """Return `count` quantiles at equal distances of each column; empty without values."""
    found = []
    for column in np.sort(series, axis=0).T:  # NaN comes last
        known = column[: column.size - int(np.isnan(column).sum())]
        at = np.rint(np.linspace(0, known.size - 1, count if known.size else 0))
        found.append(known[at.astype(np.int64)])
    return found


def _digits(values: Floats, room: Room) -> list[Any]:
    """Return [least, greatest, text]; without text all values are the least one."""
    digits = room.digits
    known = values[np.isfinite(values)]
    if not known.size:
        return [None, None, ""]
    low, high = float(known.min()), float(known.max())
    # What is written is what the browser reckons with.
    low, high = _rounded(low, room), _rounded(high, room)
    if low == high and known.size == values.size:
        return [low, high, ""]
    steps = 64**digits - 2
    scaled = (values - low) * (steps / (high - low) if high > low else 0.0)
    codes = np.where(np.isfinite(values), np.rint(scaled).clip(0, steps), steps + 1)
    codes = np.nan_to_num(codes, nan=steps + 1).astype(np.int64)
    text = np.empty((values.size, digits), np.uint8)
    for place in range(digits):
        text[:, place] = _DIGITS[(codes >> (6 * place)) & 63]
    return [low, high, text.tobytes().decode("ascii")]


def _rounded(value: float, room: Room) -> float:
    return float(f"{value:.{room.figures}g}")


def _plain(values: Floats, room: Room) -> list[float | None]:
    return [_rounded(value, room) if np.isfinite(value) else None for value in values.tolist()]
