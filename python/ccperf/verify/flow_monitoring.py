"""The part of the matrix about ns-3's flow monitor: its counts beside those of the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.experiments.topologies import star
from ccperf.experiments.topologies.fabric import FabricLink, SwitchPort
from ccperf.experiments.topologies.leaf_spine import leaf_spine
from ccperf.verify.case import Case
from ccperf.verify.case import case as _case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_TCP = {"SegmentSize": 1448, "MinRto": "5ms", "ConnTimeout": "5ms"}
_LINK = FabricLink("1Gbps", "10us")
_WORKLOAD = {
    "name": "w",
    "stack": "stack",
    "sizes": {"type": "Cdf", "points": [[0, 0], [300, 0.3], [2e3, 0.6], [2e4, 0.8], [3e5, 1]]},
    "arrivals": {"type": "Poisson", "load": 0.6},
    "added_delay": {"type": "Uniform", "min": "0s", "max": "100us"},
}


def _port(kind: str, **attributes: str) -> SwitchPort:
    return SwitchPort({"type": f"{kind}QueueDisc", "attributes": attributes})


def flow_monitor() -> Iterator[Case]:
    """What ns-3's FlowMonitor counts, under losses of every kind, failures and interruptions."""
    monitor: dict[str, Any] = {"flow_monitor": True}
    stacks = [{"name": "stack", "cc": "TcpDctcp", "tcp": _TCP}]
    fields = {"stacks": stacks, "workloads": [_WORKLOAD], "recording": monitor}
    ports = {
        "FIFO": _port("Fifo", MaxSize="10p"),
        "CoDel": _port("CoDel", Target="100us", Interval="1ms"),
        "DWRR": SwitchPort(
            {
                "type": "DwrrQueueDisc",
                "attributes": {"Quanta": "1500 1500"},
                "children": [{"type": "FifoQueueDisc", "attributes": {"MaxSize": "5p"}}],
            }
        ),
        "device": SwitchPort(None, "10p"),
    }
    for name, port in ports.items():
        fabric = star(5, _LINK, port=port)
        yield Case(fabric.scenario([], label=f"flow-monitor/{name}", stop_time="20ms", **fields))
    fabric = leaf_spine(2, 2, 3, host_link_of=_LINK, fabric_link_of=_LINK, port=ports["FIFO"])
    failures = [{"link": "h_0_1", "down": "5ms", "up": "9ms"}, {"node": "spine_1", "down": "12ms"}]
    fields |= {"routing": "ecmp", "failures": failures}
    yield Case(fabric.scenario([], label="flow-monitor/failures", stop_time="20ms", **fields))
    # What is lost on a link is missed after ten seconds; pauses are interruptions.
    slow: dict[str, Any] = {
        "rate": "1Mbps",
        "packets": 3_000,
        "recording": monitor,
        "rtts": ["100ms"] * 2,
    }
    yield _case("flow-monitor/losses", loss=0.02, **slow)
    pausing = {"type": "OnOff", "rate": "100kbps", "on_time": "300ms", "off_time": "700ms"}
    yield _case("flow-monitor/pauses", applications=[pausing, "Greedy"], **slow)
    yield _case("flow-monitor/deep", qlen="2000p", recording=monitor, rate="500kbps", packets=2_000)


GROUPS: Sequence[Callable[[], Iterable[Case]]] = (flow_monitor,)
