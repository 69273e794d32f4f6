"""Round-trip times that are shorter than the clock of TCP's timestamps tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ccperf.runs.diagnoses.rule import Flow, Rule, Run, microseconds
from ccperf.runs.metrics.path_delays import delay_steps, lengthened
from ccperf.runs.metrics.unlike_paths import unlike


def _find(run: Run) -> Iterator[tuple[str, str]]:
    flows = [each for each in _on_known_paths(run) if each.is_of_ns3]
    flows = [each for each in flows if each.setting("Timestamp") == "true"]
    for flow, added_ns in zip(flows, _least_added_ns(run, flows), strict=True):
        srtt, base = flow.samples("srtt_ns"), flow.total("base_rtt_ns") + added_ns
        if (srtt < base).any():
            yield (
                flow.name,
                f"has a smoothed round-trip time {microseconds(base - float(np.nanmin(srtt)))} "
                f"below the {microseconds(base)} of its path: ns-3 takes it from timestamps in "
                "whole ms, so that it says nothing here, nor does the queueing delay that it is "
                "for; `Timestamp = false` under `tcp` takes it in ns",
            )


def _on_known_paths(run: Run) -> Iterator[Flow]:
    """Flows that no balancer and no failure leads over a path that may be a shorter one."""
    unknown = [unlike(run.scenario, "delay")]
    if run.scenario.get("failures"):
        from ccperf.runs.metrics.changing_paths import rerouted

        unknown.append(rerouted(run.scenario))
    flows = frozenset().union(*(named.flows for named in unknown))
    workloads = frozenset().union(*(named.workloads for named in unknown))
    yield from (flow for flow in run.flows if flow.name not in flows)
    yield from (flow for flow in run.transfers if flow.workload not in workloads)


def _least_added_ns(run: Run, flows: Sequence[Flow]) -> list[float]:
    """What the paths of flows, there and back, ever have less than at time 0, or more at least; NaN
    where nobody knows."""
    scenario = run.scenario
    times = {0, *(time for link in scenario["links"] for time, _ in delay_steps(scenario, link))}
    ends = [(flow.described["source"], flow.described["destination"]) for flow in flows]
    added_ms = lengthened(scenario, ends, np.array(sorted(times)))
    if added_ms is None:
        return [0.0] * len(flows)
    least: list[float] = (1e6 * added_ms.min(axis=0)).tolist()
    return least


RULE = Rule(
    name="coarse-rtt",
    what="A smoothed round-trip time below that of the path, and a queueing delay below zero:",
    text=(
        "with timestamps, ns-3's TCP measures round trips in whole milliseconds, rounded down, and "
        "takes 1 us for none. In a data centre `mean_srtt_l4` and `mean_est_qdelay_l4` say nothing "
        "then; `Timestamp = false` measures in nanoseconds, in segments of 12 bytes less. Queues "
        "and completion times are right in any case."
    ),
    find=_find,
    metric="mean_srtt_l4",
)
