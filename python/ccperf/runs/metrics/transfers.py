"""Classes of transfers: what metrics of completion times are computed over."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ccperf.runs.metrics.pairs import Named
from ccperf.runs.metrics.unlike_paths import unlike

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ccperf.runs.metrics.grid import Floats
    from ccperf.runs.recording import Recording, Table

#: Transfers below this many bytes are small, those above the second number are large.
SMALL_BYTES = 100_000
LARGE_BYTES = 10_000_000

SIZE_CLASSES = ("small", "medium", "large")

#: What every definition of a metric of a class says about classes.
CLASSES = (
    "A class is a set of the run's finite transfers, whose ends the recording has: `all` of them, "
    "the `small` ones (below 100 kB), the `large` ones (above 10 MB), those between (`medium`), "
    "and for each group that the scenario names the flows of that group. A class without transfers "
    "is absent, but for groups of flows that never end, which have the metrics of flows. The "
    "completion time of a transfer is that from its start until its application has "
    "closed and all its bytes are acknowledged; an unfinished transfer has none, nor has one that "
    "was stopped before it had sent all of them. Transfers of a "
    "class that start at the same instant, two or more, are the answers to a query; a query has "
    "ended when the last of them has."
)


class Order(NamedTuple):
    """In which order packets came, and how often flows switched ways; NaN if it is not known."""

    packets: float = math.nan
    reordered: float = math.nan
    extent_sum: float = math.nan
    max_extent: float = math.nan
    path_switches: float = math.nan


_NO_ORDER = Order()

#: A scenario that says nothing of paths.
_NOTHING: Mapping[str, Any] = {"flows": (), "links": ()}


@dataclass(frozen=True)
class Queries:
    """Queries, whose answers start together: those that have ended, and how many have not."""

    #: Completion times of those all of whose answers have ended, in ms.
    times: Floats = field(default_factory=lambda: np.empty(0))
    unfinished: int = 0


@dataclass(frozen=True)
class Transfers:
    """Some transfers: finished ones, and how many are not."""

    #: Completion times of the finished ones, in ms, in the order of their ends.
    completion_times: Floats
    #: Completion times over ideal ones, where there is an ideal one.
    slowdowns: Floats
    unfinished: int
    #: Those of them that have an ideal completion time.
    unfinished_with_ideal: int
    #: Propagation there and back of those whose path is known, in ms.
    base_rtts: Floats = field(default_factory=lambda: np.empty(0))
    #: Of the finished ones the times until the receiver had the last data, in ms; none without
    #: `recording.deliveries`.
    delivery_times: Floats = field(default_factory=lambda: np.empty(0))
    #: Retransmission timeouts of all of them, and those of transfers that sent nothing again.
    timeouts: int = 0
    idle_timeouts: int = 0
    #: Of the finished ones that answer a request the times from the start of that until the answer
    #: has come, in ms.
    rpc_times: Floats = field(default_factory=lambda: np.empty(0))
    #: How many answers are not finished.
    unfinished_calls: int = 0
    #: From the first start to the last end, in ms; NaN if some are unfinished.
    makespan: float = math.nan
    queries: Queries = field(default_factory=Queries)
    order: Order = _NO_ORDER

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.completion_times) + self.unfinished


def classes(
    recording: Recording, scenario: Mapping[str, Any] | None = None
) -> dict[str, Transfers]:
    """Return the classes of a recording by name; none if it has no completions.

    In the canonical form `scenario` says whose path is not known or changes: they have no slowdown.
    """
    table = recording.completions
    if table is None:
        return {}
    size, groups = table.array("size_bytes"), np.array(table.strings("group"), dtype=object)
    is_finite = size > 0
    of_class: dict[str, npt.NDArray[np.bool_]] = {
        "all": is_finite,
        "small": is_finite & (size < SMALL_BYTES),
        "medium": (size >= SMALL_BYTES) & (size <= LARGE_BYTES),
        "large": size > LARGE_BYTES,
    }
    for group in dict.fromkeys(sorted(set(table.strings("group")) - {""})):
        of_class[group] = is_finite & (groups == group)
    start = table.array("start_ns")
    finished = recording.has_ended
    end = np.where(finished, table.array("end_ns"), np.nan)
    times = (end - start) / 1e6
    unlike_delays = unlike(scenario or _NOTHING, "delay")
    of_unknown_delay = _are_among(unlike_delays, recording, table, scenario or _NOTHING)
    ideal = ideals(recording, table, scenario, unlike_delays) / 1e6
    base_rtts = recording.flows.array("base_rtt_ns")[table.array("flow")] / 1e6
    delivery = _deliveries(recording, table)
    calls, is_answer = _calls(recording, table)
    timeouts, sent_once = table.array("rtos"), table.array("retransmissions") == 0
    # What waits for others until the run ends has its end for a start.
    begun = start < recording.flows.array("stop_ns")[table.array("flow")]
    # Whole ns make 0 of the shortest ones; no time is a multiple of that.
    has_ideal = ideal > 0
    return {
        name: Transfers(
            completion_times=times[members & finished],
            slowdowns=times[compared] / ideal[compared],
            base_rtts=base_rtts[members & ~of_unknown_delay],
            delivery_times=delivery[members & finished],
            timeouts=int(timeouts[members].sum()),
            idle_timeouts=int(timeouts[members & sent_once].sum()),
            unfinished=int(np.count_nonzero(members & ~finished)),
            unfinished_with_ideal=int(np.count_nonzero(members & ~finished & has_ideal)),
            rpc_times=calls[members & finished & is_answer],
            unfinished_calls=int(np.count_nonzero(members & ~finished & is_answer)),
            makespan=_makespan(start[members], end[members]),
            queries=_queries(start[answering], np.where(finished, times, np.inf)[answering]),
            order=_order(recording, table.array("flow")[members]),
        )
        for name, members in of_class.items()
        for compared, answering in ((members & finished & has_ideal, members & begun),)
        if members.any()
    }


def ideals(
    recording: Recording,
    completions: Table,
    scenario: Mapping[str, Any] | None,
    unlike_delays: Named | None = None,
) -> Floats:
    """Return the ideal completion time of each transfer in ns.

    NaN: it has none, a balancer chooses among paths that differ (as to delays for
    `unlike_delays`, if that is known), or its path changes in the run.
    """
    parsed = scenario or _NOTHING
    of_delay = unlike(parsed, "delay") if unlike_delays is None else unlike_delays
    has_none = np.zeros(completions.rows, dtype=bool)
    for named in (unlike(parsed, "rate"), of_delay, _changing(parsed)):
        has_none |= _are_among(named, recording, completions, parsed)
    return np.where(has_none, np.nan, completions.array("ideal_ns"))


def _changing(parsed: Mapping[str, Any]) -> Named:
    """Return those whose path changes in the run, which few runs need to look for."""
    may_change = parsed.get("changes") or parsed.get("failures")
    if not may_change and not any(link.get("schedules") for link in parsed["links"]):
        return Named()
    from ccperf.runs.metrics.changing_paths import changing

    return changing(parsed)


def _are_among(
    named: Named, recording: Recording, completions: Table, parsed: Mapping[str, Any]
) -> npt.NDArray[np.bool_]:
    """Return which transfers are among those flows and workloads."""
    places, groups = completions.array("flow").tolist(), completions.strings("group")
    if not any(named):
        return np.zeros(len(places), dtype=bool)
    names, written = recording.flows.strings("name"), len(parsed["flows"])
    found = [
        names[place] in named.flows if place < written else group in named.workloads
        for place, group in zip(places, groups, strict=True)
    ]
    return np.array(found, dtype=bool)


def _makespan(start: npt.NDArray[np.int64], end: Floats) -> float:
    """Return the time from the first start to the last end in ms; NaN if there is one without."""
    return float((end.max() - start.min()) / 1e6)


def _deliveries(recording: Recording, completions: Table) -> Floats:
    """Return how long each transfer takes until its last data has come, in ms; NaN: not known."""
    table = recording.deliveries
    last = np.full(recording.flows.rows, np.nan)
    if table is not None:
        last[table.array("flow")] = table.array("last_rx_ns")
    times: Floats = (last[completions.array("flow")] - completions.array("start_ns")) / 1e6
    return times


def _calls(recording: Recording, completions: Table) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the time of each answer from the start of its request, in ms, and which are answers;
    NaN: has not arrived, or is none."""
    times = np.full(recording.flows.rows, np.nan)
    are_answers = np.zeros(recording.flows.rows, dtype=bool)
    if (answers := recording.answers) is not None:
        start = np.empty(recording.flows.rows)
        start[completions.array("flow")] = completions.array("start_ns")
        asked = start[answers.array("request")]
        times[answers.array("flow")] = (answers.array("arrived_ns") - asked) / 1e6
        are_answers[answers.array("flow")] = True
    flows = completions.array("flow")
    return times[flows], are_answers[flows]


def _queries(start: npt.NDArray[np.int64], times: Floats) -> Queries:
    """Return how long queries take; `times` of transfers that have not ended are infinite."""
    begins, query, answers = np.unique(start, return_inverse=True, return_counts=True)
    last = np.zeros(len(begins))
    np.maximum.at(last, query, times)
    last = last[answers > 1]
    ended = np.isfinite(last)
    return Queries(last[ended], int(np.count_nonzero(~ended)))


def _order(recording: Recording, flows: npt.NDArray[np.int64]) -> Order:
    table = recording.reordering
    if table is None:
        return Order()
    rows = np.isin(table.array("flow"), flows)

    def total(column: str) -> float:
        return float(table.array(column)[rows].sum())

    return Order(
        packets=total("packets"),
        reordered=total("reordered"),
        extent_sum=total("extent_sum"),
        max_extent=float(table.array("max_extent")[rows].max(initial=0)),
        path_switches=total("path_switches"),
    )
