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

from ccperf.present.figures.figure import MANY_FLOWS
from ccperf.present.figures.quantities import QUANTITIES, bottlenecks, columns, optima
from ccperf.runs.metrics.statistics import mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ccperf.present.figures.figure import Floats
    from ccperf.runs.metrics import FlowSeries

_DIGITS = np.frombuffer(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", np.uint8
)
#: Fewer buckets than this show no shape.
_LEAST_BUCKETS = 12
#: What distributions and operating points are made of; kept even where no flow has a value.
_ALWAYS = ("throughput", "srtt")
#: Fewer flows than these show no longer how flows share: rather, quantities are left out.
_FEW_FLOWS = 2
#: What is left out first where a few flows have no room; pages say so in its place.
_DISPENSABLE = ("ssthresh", "retransmissions", "rtos", "marks", "in_flight", "cwnd")
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


def rooms(is_small: bool) -> tuple[Room, Room]:
    """Return the room of the first of a page's runs, and that of each of the others."""
    return (FULL_OF_MANY, SMALL_OF_MANY) if is_small else (FULL, SMALL)


def pack(flows: FlowSeries, room: Room, algorithms: Sequence[str]) -> dict[str, Any]:
    """Return the series of a run as plain values; `algorithms` has one for each flow.

    With more flows than can be told apart in that room, a few are kept, spread over all, and of the
    bottlenecks those that they have. Quantities are left out only where a few flows are too many.
    """
    count = flows.time.size
    chosen, kept, left_out = _fitting(flows, room)
    width = _width(kept, len(chosen), count, room)
    # As metrics have it: of the whole run, also of a flow that ended in it.
    whole = {
        "throughput": flows.throughput_l4[:, chosen],
        "srtt": flows.srtt[:, chosen],
    }
    shown = bottlenecks(flows)
    return {
        "start": round(float(flows.time[0]), 9) if count else 0.0,
        "step": round(float(flows.time[1] - flows.time[0]), 9) if count > 1 else 0.0,
        "count": count,
        "width": width,
        "digits": room.digits,
        "all": len(flows.names),
        "left_out": left_out,
        "flows": [[flows.names[index], algorithms[index]] for index in chosen],
        "links": [flows.links.names[shown[place]] for place in _links_of(flows, chosen)],
        "columns": [
            [name, _digits(_reduced(name, series, width), room)] for name, series in kept.items()
        ],
        "quantiles": [[name, _quantiles(whole[name], room)] for name in _ALWAYS],
        "means": {name: _plain(mean(whole[name]), room) for name in _ALWAYS},
    }


def _fitting(flows: FlowSeries, room: Room) -> tuple[list[int], dict[str, Floats], list[str]]:
    """Return which flows are kept, their series that have something to show and fit, and the names
    of those that do not fit."""
    values = columns(flows)
    best = {f"optimum_{name}": one[:, None] for name, one in optima(flows).items()}
    of_flows = {name for name, quantity in QUANTITIES.items() if quantity.of == "flow"}
    count = len(flows.names)
    dispensable = [
        name for name in _DISPENSABLE if name in values and not _is_empty(name, values[name])
    ]
    left_out: list[str] = []
    most = count
    while True:
        chosen = sorted({round(place) for place in np.linspace(0, count - 1, most).tolist()})
        links = _links_of(flows, chosen)
        kept = {
            name: series[:, chosen if name in of_flows else links]
            for name, series in values.items()
        } | best
        kept = {
            name: series
            for name, series in kept.items()
            if name in _ALWAYS or not _is_empty(name, series)
        }
        least = 2 * _LEAST_BUCKETS * room.digits * _points(kept)
        if least + _around(kept, len(chosen), room) <= room.size or most == 1:
            return chosen, kept, left_out
        if most <= _FEW_FLOWS and dispensable:
            left_out.append(dispensable.pop(0))
            del values[left_out[-1]]
            best.pop(f"optimum_{left_out[-1]}", None)
        else:
            most = MANY_FLOWS if most > MANY_FLOWS else most - 1


def _links_of(flows: FlowSeries, chosen: list[int]) -> list[int]:
    """Return which of the bottlenecks are those of the chosen flows, by their place among them."""
    wanted = set(flows.bottleneck[chosen].tolist())
    ports = flows.links.positions[bottlenecks(flows)].tolist()
    return [place for place, port in enumerate(ports) if port in wanted]


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


def _quantiles(series: Floats, room: Room) -> list[list[Any]]:
    """Return quantiles at equal distances of each column, as digits; none without values."""
    ordered = np.sort(series, axis=0)  # NaN comes last
    known = np.count_nonzero(~np.isnan(ordered), axis=0)
    shares = np.linspace(0, 1, room.quantiles)[:, np.newaxis]
    at = np.rint(shares * np.maximum(known - 1, 0)).astype(np.int64)
    found = _digits(np.take_along_axis(ordered, at, axis=0), room)
    return [one if count else [None, None, ""] for one, count in zip(found, known, strict=True)]


def _digits(columns: Floats, room: Room) -> list[list[Any]]:
    """Return [least, greatest, text] of each column; without text all values are the least one.

    All columns of a quantity are written at once: there are dozens in a run, thousands of runs.
    """
    digits, steps = room.digits, 64**room.digits - 2
    exists = np.isfinite(columns)
    low = np.where(exists, columns, np.inf).min(axis=0, initial=np.inf)
    high = np.where(exists, columns, -np.inf).max(axis=0, initial=-np.inf)
    # What is written is what the browser reckons with.
    ends = [
        (_rounded(least, room), _rounded(most, room)) if least <= most else (0.0, 0.0)
        for least, most in zip(low.tolist(), high.tolist(), strict=True)
    ]
    start = np.array([least for least, _ in ends])
    scale = np.array([steps / (most - least) if most > least else 0.0 for least, most in ends])
    codes = np.full(columns.shape, steps + 1, dtype=np.int64)
    scaled = (np.where(exists, columns, start) - start) * scale
    codes[exists] = np.rint(scaled).clip(0, steps)[exists]
    places = 6 * np.arange(digits)
    text = _DIGITS[(codes.T[:, :, np.newaxis] >> places) & 63].tobytes().decode("ascii")
    size = len(columns) * digits
    known: list[int] = np.count_nonzero(exists, axis=0).tolist()
    found: list[list[Any]] = []
    for index, (least, most) in enumerate(ends):
        if not known[index]:
            found.append([None, None, ""])
        elif least == most and known[index] == len(columns):
            found.append([least, most, ""])
        else:
            found.append([least, most, text[index * size : (index + 1) * size]])
    return found


def _rounded(value: float, room: Room) -> float:
    return float(f"{value:.{room.figures}g}")


def _plain(values: Floats, room: Room) -> list[float | None]:
    return [_rounded(value, room) if np.isfinite(value) else None for value in values.tolist()]
