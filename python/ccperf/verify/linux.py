"""Where the engine's TCP and Linux's part: the segments that each source sends, one after another.

They are compared by sequence number and payload as they leave the source, not by time: a segment
that leaves a microsecond later is the same segment. What differs first, and what the senders'
states were, tells which rule of TCP it was.
"""

from __future__ import annotations

import csv
import json
import operator
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ccperf import _native
from ccperf.base.folders import Temporary
from ccperf.base.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ccperf.runs.backends import Backend
    from ccperf.runs.recording import Recording
    from ccperf.scenario import Scenario

#: Of the samples, what is said of a sender where the segments part.
_STATE = ("cwnd_bytes", "ssthresh_bytes", "in_flight_bytes", "srtt_ns", "rtos")


@dataclass(frozen=True)
class Segment:
    """One that leaves a source."""

    time_ns: int
    seq: int
    payload_bytes: int


@dataclass(frozen=True)
class Parting:
    """How far a flow's two senders agree."""

    flow: str
    #: Segments that both send in the same order.
    common: int
    #: When the last of them leaves on either side; how far apart in time they are at most.
    until_ns: tuple[int, int]
    apart_ns: int
    #: The first that differs, None where a side sends no more; both None: they never part.
    ours: Segment | None
    theirs: Segment | None
    #: The senders' last samples before that: columns of `flow_samples`.
    states: tuple[Mapping[str, int | None], Mapping[str, int | None]]

    @property
    def is_equal(self) -> bool:
        """Whether both send the same segments to the end."""
        return self.ours is None and self.theirs is None

    def json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {**asdict(self), "is_equal": self.is_equal}


@dataclass(frozen=True)
class Traced:
    """A run of which it is known what left its sources."""

    recording: Recording
    #: By flow over TCP, segments with payload.
    segments: Mapping[str, list[Segment]]


def parting(scenario: Scenario, ours: Backend, theirs: Backend) -> list[Parting]:
    """Run a scenario on both backends, and say where the segments of each flow over TCP part.

    Raises:
        UsageError: if a backend cannot run it.
        RunError: if a run fails.
    """
    return partings(traced(scenario, ours), traced(scenario, theirs))


def traced(scenario: Scenario, backend: Backend) -> Traced:
    """Run a scenario, and keep what its sources send. Raises as :func:`parting` does."""
    with Temporary() as folder:
        path = Path(folder) / "packets.csv"
        recording = backend.simulate(scenario, packets=path)
        return Traced(recording, _sent(path, scenario))


def partings(ours: Traced, theirs: Traced) -> list[Parting]:
    """Say where the segments of each flow over TCP part, of two runs of one scenario."""
    recordings = (ours.recording, theirs.recording)
    return [
        _parting(
            flow, number, [ours.segments.get(flow, []), theirs.segments.get(flow, [])], recordings
        )
        for number, flow in enumerate(ours.recording.tables["flows"].strings("name"))
        if flow in ours.segments or flow in theirs.segments
    ]


def _sent(path: Path, scenario: Scenario) -> dict[str, list[Segment]]:
    """By flow over TCP, the segments with payload that come to the first link of their path."""
    lowered = json.loads(scenario.lowered())
    sides = ("forward", "reverse")
    first = {
        flow["name"]: "{}_{}".format(
            lowered["links"][flow["path"][0][0]]["name"], sides[flow["path"][0][1]]
        )
        for flow in lowered["flows"]
        if flow["transport"] == "TCP"
    }
    found: dict[str, list[Segment]] = {}
    wanted = ("time_ns", "link", "event", "flow", "seq", "payload_bytes")
    with path.open(newline="") as file:
        of = operator.itemgetter(*map(next(csv.reader(file)).index, wanted))
        # Two rows of three are of other events.
        for row in csv.reader(line for line in file if ",enqueue," in line):
            time_ns, link, event, flow, seq, payload = of(row)
            if event == "enqueue" and link == first.get(flow) and payload != "0":
                sent = Segment(int(time_ns), int(seq), int(payload))
                found.setdefault(flow, []).append(sent)
    return found


def _parting(
    flow: str, number: int, sent: list[list[Segment]], recordings: Iterable[Recording]
) -> Parting:
    pairs = list(zip_longest(*sent))
    common = next(
        (
            at
            for at, (one, other) in enumerate(pairs)
            if not one
            or not other
            or (one.seq, one.payload_bytes) != (other.seq, other.payload_bytes)
        ),
        len(pairs),
    )
    same = pairs[:common]
    ours, theirs = pairs[common] if common < len(pairs) else (None, None)
    until = (same[-1][0].time_ns, same[-1][1].time_ns) if same else (0, 0)
    places = [
        each.time_ns if each else last for each, last in zip((ours, theirs), until, strict=True)
    ]
    states = [
        last_state(recording, number, time_ns)
        for recording, time_ns in zip(recordings, places, strict=True)
    ]
    return Parting(
        flow,
        common,
        until,
        max((abs(one.time_ns - other.time_ns) for one, other in same), default=0),
        ours,
        theirs,
        (states[0], states[1]),
    )


def last_state(recording: Recording, flow: int, time_ns: int) -> dict[str, int | None]:
    """A sender's last sample before a time."""
    samples = recording.tables["flow_samples"]
    rows = np.flatnonzero((samples.array("flow") == flow) & (samples.array("time_ns") < time_ns))
    if not len(rows):
        return dict.fromkeys(_STATE)
    values = {name: samples.array(name)[rows[-1]] for name in _STATE}
    return {name: None if np.isnan(value) else int(value) for name, value in values.items()}


def described(found: Parting) -> str:
    """A parting in one line for people."""
    last = " / ".join(_native.format_time(time_ns) for time_ns in found.until_ns)
    text = f"{found.flow}: {counted(found.common, 'segment')} alike, the last at {last}"
    if found.is_equal:
        return f"{text}; they never part"
    sides = [
        f"seq {each.seq}, {each.payload_bytes} B at {_native.format_time(each.time_ns)}"
        if each
        else "nothing"
        for each in (found.ours, found.theirs)
    ]
    windows = " / ".join(str(state["cwnd_bytes"]) for state in found.states)
    return f"{text}; then {sides[0]} / {sides[1]} (cwnd {windows} B)"
