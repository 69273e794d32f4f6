"""What a link has over a run, in words: one rate or delay, or the least and the largest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.runs.metrics.capacity import rate_steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

#: In bit/s, and in nanoseconds.
_RATES = (("Tbps", 10**12), ("Gbps", 10**9), ("Mbps", 10**6), ("kbps", 10**3), ("bps", 1))
_TIMES = (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1))


def rate(scenario: Mapping[str, Any], link: Mapping[str, Any], side: str) -> str:
    """Return a direction's rate as it is written, or `50.2kbps to 12Mbps` where that changes."""
    written = link[side]["rate"] or link["rate"]
    steps = rate_steps(scenario, link, side)
    return _in_words(scenario, written, _native.parse_rate(written), steps, _RATES)


def delay(scenario: Mapping[str, Any], link: Mapping[str, Any]) -> str:
    """Return a link's delay as it is written, or `5ms to 25ms` where that changes."""
    written = link["delay"]
    steps = _delay_steps(scenario, link)
    return _in_words(scenario, written, _native.parse_time(written), steps, _TIMES)


def rounded(time: str) -> str:
    """Return a time in its largest unit with three digits."""
    return _rounded(_native.parse_time(time), _TIMES)


def _delay_steps(scenario: Mapping[str, Any], link: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    for change in scenario["changes"]:
        if change["link"] == link["name"] and change["delay"] is not None:
            yield _native.parse_time(change["time"]), _native.parse_time(change["delay"])
    for schedule in link.get("schedules", ()):
        if schedule["delays_ns"] is not None:
            yield from zip(schedule["times_ns"], schedule["delays_ns"], strict=True)


def _in_words(
    scenario: Mapping[str, Any],
    written: str,
    first: int,
    steps: Iterable[tuple[int, int]],
    units: Sequence[tuple[str, int]],
) -> str:
    end = _native.parse_time(scenario["stop_time"])
    later = [(time, value) for time, value in steps if time < end]
    # What holds from the start on takes the place of what is written.
    values = {value for _, value in later} | ({first} - {first for time, _ in later if time == 0})
    if values == {first}:
        return written
    ends = dict.fromkeys(_rounded(value, units) for value in (min(values), max(values)))
    return " to ".join(ends)


def _rounded(value: int, units: Sequence[tuple[str, int]]) -> str:
    unit, size = next((unit, size) for unit, size in units if value >= size or size == 1)
    return f"{value / size:.3g}{unit}"
