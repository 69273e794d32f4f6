"""Points of the catalogue, run and measured: what the checks of theory have in common."""

from __future__ import annotations

from ccperf import campaign
from ccperf.experiments.catalogue import REGISTRY
from ccperf.runs import backends
from ccperf.runs.result import Result

NATIVE = backends.get("native")
SEGMENT_BITS = 8 * 1448
FRAME_BITS = 8 * 1502


def run(name: str, cc: str = "TcpNewReno", **given: object) -> Result:
    """A point of an experiment, with ns-3's loss recovery."""
    scenario = REGISTRY[name].scenario(cc, recovery="TcpPrrRecovery", **given)
    return campaign.simulate(campaign.Point(scenario), NATIVE)


def goodput(result: Result, flow: str = "flow_1") -> float:
    """Of the application, in Mbps."""
    return result.flow_metrics[flow]["mean_throughput_l7"]
