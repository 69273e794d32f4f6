"""The part of the matrix about round trips that differ between the flows of one network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.experiments.topologies import star
from ccperf.experiments.topologies.fabric import Fabric, FabricLink, SwitchPort
from ccperf.experiments.topologies.leaf_spine import leaf_spine
from ccperf.verify.case import Case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_TCP = {"SegmentSize": 1448, "MinRto": "5ms", "ConnTimeout": "5ms"}
_SHARP = SwitchPort(
    {
        "type": "ECNSharpQueueDisc",
        "attributes": {
            "InstantaneousMarkingThreshold": "200us",
            "PersistentMarkingTarget": "85us",
            "PersistentMarkingInterval": "200us",
        },
    }
)
_SHALLOW = SwitchPort({"type": "FifoQueueDisc", "attributes": {"MaxSize": "20p"}})
_LINK = FabricLink("1Gbps", "10us")
_SIZES = {"type": "Cdf", "points": [[0, 0], [300, 0.3], [2e3, 0.6], [2e4, 0.8], [3e5, 1]]}

_DELAYS: Mapping[str, Any] = {
    "constant": "37us",
    "classes": {"type": "Classes", "delays": ["1us", "20us", "50us", "80us", "160us"]},
    "weights": {"type": "Classes", "delays": ["0s", "140us"], "weights": [3, 1]},
    "uniform": {"type": "Uniform", "min": "0s", "max": "160us"},
    "cdf": {"type": "Cdf", "points": [["0us", 0.1], ["60us", 0.5], ["160us", 1]]},
}


def _workload(name: str, fabric: Fabric, delay: Any, stop: str = "30ms", **settings: Any) -> Case:
    arrivals = {"type": "Poisson", "load": 0.5}
    workload = {"name": "w", "stack": "stack", "sizes": _SIZES, "arrivals": arrivals}
    return Case(
        fabric.scenario(
            [],
            label=f"rtt-variation/{name}",
            stop_time=stop,
            stacks=[{"name": "stack", "cc": "TcpDctcp", "tcp": _TCP}],
            workloads=[{**workload, "added_delay": delay}],
            **settings,
        )
    )


def rtt_variation() -> Iterator[Case]:
    """Propagation added to flows: given or drawn, over FIFO and ECN#, with failures."""
    for name, delay in _DELAYS.items():
        yield _workload(name, star(6, _LINK, port=_SHARP), delay)
    yield _workload("losses", star(6, _LINK, port=_SHALLOW), _DELAYS["uniform"])
    fabric = leaf_spine(2, 2, 3, host_link_of=_LINK, fabric_link_of=_LINK, port=_SHARP)
    failing = [{"link": "h_0_1", "down": "5ms", "up": "9ms"}, {"node": "spine_1", "down": "12ms"}]
    for name in ("classes", "uniform"):
        yield _workload(f"leaf-spine-{name}", fabric, _DELAYS[name], routing="ecmp")
        yield _workload(f"failures-{name}", fabric, _DELAYS[name], routing="ecmp", failures=failing)
    # A way's first link gets shorter, so that packets overtake those of their own flow.
    changes = [{"time": f"{3 + i}ms", "link": "h_0", "delay": f"{50 - 5 * i}us"} for i in range(9)]
    yield _workload("changes", star(4, _LINK, port=_SHARP), _DELAYS["classes"], changes=changes)
    yield Case(_flows("TCP", star(5, _LINK, port=_SHARP)))
    yield Case(_flows("UDP", star(5, _LINK, port=_SHALLOW)))


def _flows(transport: str, fabric: Fabric) -> Any:
    """Flows from everyone to the first host, half of them `transport`, on unlike ways."""
    delays: Sequence[Any] = list(_DELAYS.values())
    flows: list[dict[str, Any]] = [
        {"source": f"h_{1 + i % 4}", "destination": "h_0", "cc": "TcpNewReno", "tcp": _TCP}
        for i in range(8)
    ]
    for i, flow in enumerate(flows):
        flow["added_delay"] = delays[i % len(delays)]
        if transport == "UDP" and i % 2:
            del flow["cc"], flow["tcp"]
            flow["transport"] = "UDP"
            flow["application"] = {"type": "CBR", "rate": "150Mbps", "write": "900B"}
    return fabric.scenario(flows, label=f"rtt-variation/flows-{transport}", stop_time="20ms")


GROUPS: Sequence[Callable[[], Iterable[Case]]] = (rtt_variation,)
