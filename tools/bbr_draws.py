"""Where BBR begins to probe is drawn, one phase of seven, on either side by its own generator.

To compare the engine's BBR with the kernel's, a flow is given one random stream after another,
until what it draws is what the kernel drew. The rest of a run has to follow by itself: a flow that
enters ProbeBW twice in a run agrees with one stream of 49, and with no stream if anything else
differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

from ccperf import Scenario
from ccperf.runs import backends
from ccperf.verify.linux import Traced, traced

#: So many are tried for each thing that differs.
MOST = 160


class Apart(NamedTuple):
    """The first segment that is another one, or leaves at another nanosecond."""

    time_ns: int
    flow: str


def alike(
    ours: Scenario, theirs: Traced, known: Mapping[str, int]
) -> tuple[Traced, dict[str, int]]:
    """Our run with the streams, by flow, with which it agrees longest with the kernel's; `known`:
    what was found before.
    """
    streams = dict(known)
    run = traced(with_streams(ours, streams), backends.get("native"))
    while found := first_apart(run, theirs):
        better = _better(ours, theirs, streams, found)
        if better is None:
            break
        run, streams = better
    return run, streams


def with_streams(made: Scenario, streams: Mapping[str, int]) -> Scenario:
    """The scenario, with these random streams of its flows' algorithms."""
    data = made.canonical()
    for flow in data["flows"]:
        if flow["name"] in streams:
            flow["cc"]["attributes"]["Stream"] = str(streams[flow["name"]])
    return Scenario.model_validate(data)


def first_apart(run: Traced, theirs: Traced) -> Apart | None:
    """What differs first, of all flows; none if nothing does."""
    found = []
    for flow in run.segments.keys() | theirs.segments.keys():
        sides = [side.segments.get(flow, []) for side in (run, theirs)]
        for pair in zip_longest(*sides):
            if pair[0] != pair[1]:
                found.append(Apart(min(each.time_ns for each in pair if each), flow))
                break
    return min(found, default=None)


def _better(
    ours: Scenario, theirs: Traced, streams: Mapping[str, int], found: Apart
) -> tuple[Traced, dict[str, int]] | None:
    for trial in _trials(streams, found.flow):
        run = traced(with_streams(ours, trial), backends.get("native"))
        later = first_apart(run, theirs)
        if later is None or later.time_ns > found.time_ns:
            return run, trial
    return None


def _trials(streams: Mapping[str, int], flow: str) -> Iterator[dict[str, int]]:
    return ({**streams, flow: stream} for stream in range(1, MOST) if stream != streams.get(flow))
