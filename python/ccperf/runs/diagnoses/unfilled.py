"""A flow that could take more, and nothing stops it but itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ccperf.runs.diagnoses.rule import UNBOUNDED_BYTES, Flow, Rule, Run

if TYPE_CHECKING:
    from ccperf.runs.metrics.shortest_paths import ShortestPaths

#: Of the bottleneck's rate in the second half of the run.
_FULL = 0.9
_UNITS = (("Tbps", 1e12), ("Gbps", 1e9), ("Mbps", 1e6))
#: Base round-trip times that the second half has to last, so that a flow had the time to grow; and
#: it has to be there for all of that half.
_LEAST_ROUNDS = 100


def _find(run: Run) -> Iterator[tuple[str, str]]:
    together: dict[str, list[Flow]] = defaultdict(list)
    for flow in _on_their_way(run):
        together[flow.bottleneck].append(flow)

    @cache
    def paths() -> ShortestPaths:
        from ccperf.runs.metrics.shortest_paths import ShortestPaths

        return ShortestPaths(run.scenario["links"])

    @cache
    def is_busy(direction: str) -> bool:
        carried, offered, _ = _second_half(run, direction)
        return _is_congested(run, direction) or bool(offered and carried >= _FULL * offered)

    def is_busy_elsewhere(flow: Flow) -> bool:
        """Whether another link of its way, there or back, is busy: that of a receiver of many."""
        way = paths().links_between(flow.described["source"], flow.described["destination"])
        return any(is_busy(f"{link}_{side}") for link, _ in way for side in ("forward", "reverse"))

    for direction, flows in together.items():
        carried, offered, half = _second_half(run, direction)
        if not offered or is_busy(direction):
            continue
        for flow in flows:
            has_time = half.stop - half.start >= _LEAST_ROUNDS * flow.total("base_rtt_ns")
            is_there = flow.total("start_ns") <= half.start and half.stop <= flow.total("stop_ns")
            could = flow.is_endless and has_time and is_there and not flow.total("rtos")
            if could and not is_busy_elsewhere(flow):
                start = " and has never left slow start" if _is_in_slow_start(flow) else ""
                yield (
                    flow.name,
                    f"does not fill its bottleneck{start}: `{direction}` carries "
                    f"{share_text(carried, offered)} in the second half, and "
                    "drops and marks nothing",
                )


def _on_their_way(run: Run) -> Iterator[Flow]:
    """Flows that have no other way than over their bottleneck: no failure leaves another one, and
    no balancer has another one for the only link of a host."""
    scenario = run.scenario
    others = frozenset[str]()
    if scenario.get("failures"):
        from ccperf.runs.metrics.changing_paths import rerouted

        others = rerouted(scenario).flows
    is_static = scenario.get("routing", {"type": "static"})["type"] == "static"
    ends = {
        f"{link['name']}_{side}": link["ends"]
        for link in scenario["links"]
        for side in ("forward", "reverse")
    }
    for flow in run.flows:
        hosts = {flow.described["source"], flow.described["destination"]}
        if flow.name not in others and (is_static or hosts & set(ends[flow.bottleneck])):
            yield flow


def share_text(carried: float, offered: float) -> str:
    """``2.28 of 8 Gbps``."""
    unit, size = next((each for each in _UNITS if offered >= each[1]), _UNITS[-1])
    return f"{carried / size:.3g} of {offered / size:.3g} {unit}"


def _second_half(run: Run, direction: str) -> tuple[float, float, range]:
    """What a direction carries and could carry, in bit/s, and from when until when, in ns."""
    sent, rate = run.sampled(direction, "tx_bytes"), run.sampled(direction, "rate_bps")
    times = run.sampled(direction, "time_ns")
    middle = len(times) // 2
    half = range(int(times[middle]), int(times[-1])) if middle else range(0)
    if not half:
        return 0.0, 0.0, half
    carried = 8e9 * float(sent[-1] - sent[middle]) / len(half)
    return carried, float(np.mean(rate[middle:])), half


def _is_congested(run: Run, direction: str) -> bool:
    """Whether anything was dropped or marked there at all."""
    links = run.recording.links
    place = links.strings("name").index(direction)
    events = ("qdisc_dropped", "qdisc_marked", "device_dropped", "loss_dropped", "failure_dropped")
    return any(links.array(column)[place] for column in events)


def _is_in_slow_start(flow: Flow) -> bool:
    threshold, window = flow.samples("ssthresh_bytes"), flow.samples("cwnd_bytes")
    is_unset = len(threshold) > 0 and (threshold >= UNBOUNDED_BYTES).all()
    return bool(is_unset and (window < UNBOUNDED_BYTES).all())


RULE = Rule(
    name="unfilled",
    what="A bottleneck that stays below 90 % without a drop or a mark:",
    text=(
        "something else than congestion control holds the flow back: its buffers, a run that is "
        "too short, or an estimate of the delay that takes the receiver's wait for a queue. ns-3 "
        "hands its algorithms the smoothed round-trip time, in whole milliseconds with "
        "timestamps; by that TcpVegas alone may stand at half of the rate."
    ),
    find=_find,
)
