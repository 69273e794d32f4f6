"""The part of the matrix about transfers that come and go, over stars and networks of switches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.experiments.topologies import star
from ccperf.experiments.topologies.fabric import Fabric, FabricLink, SwitchPort
from ccperf.experiments.topologies.leaf_spine import leaf_spine
from ccperf.verify.case import RECOVERIES, Case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_TCP = {"SegmentSize": 1448, "MinRto": "5ms", "ConnTimeout": "5ms"}
_MARKING = {"MinTh": "20", "MaxTh": "20", "QW": "1", "UseEcn": "true", "UseHardDrop": "false"}
_RED = SwitchPort({"type": "RedQueueDisc", "attributes": {**_MARKING, "MaxSize": "100p"}})
_SHALLOW = SwitchPort({"type": "FifoQueueDisc", "attributes": {"MaxSize": "20p"}})
#: The shape of web search, a hundredth as large.
_SIZES = {"type": "Cdf", "points": [[0, 0], [300, 0.3], [2e3, 0.6], [2e4, 0.8], [3e5, 1]]}
_POISSON = {"type": "Poisson", "load": 0.5}
_TWICE = {"type": "Times", "times": ["0s", "3ms"]}


def _case(
    name: str,
    fabric: Fabric,
    workloads: Sequence[Mapping[str, Any]],
    *,
    stop: str = "30ms",
    loss: float = 0.0,
    group: str = "workload",
    **stack: Any,
) -> Case:
    links = [{**link, "forward": {**link["forward"], "loss": loss}} for link in fabric.links]
    return Case(
        Fabric(fabric.hosts, fabric.switches, tuple(links)).scenario(
            [],
            label=f"{group}/{name}",
            stop_time=stop,
            stacks=[{"name": "stack", "cc": "TcpDctcp", "tcp": _TCP, **stack}],
            workloads=[
                {"name": f"w{i}", "stack": "stack", "sizes": _SIZES, **workload}
                for i, workload in enumerate(workloads)
            ],
        )
    )


def workloads() -> Iterator[Case]:
    """Every kind of arrival and pair, marking and losing switches, ends of TIME_WAIT."""
    link = FabricLink("1Gbps", "20us")
    marking, losing = star(8, link, port=_RED), star(6, link, port=_SHALLOW)
    yield _case("star-300", marking, [{"arrivals": {**_POISSON, "count": 300}}], stop="40ms")
    for pairs in ("Permutation", "Incast", "AllToAll"):
        yield _case(f"star-{pairs}", marking, [{"arrivals": _TWICE, "pairs": pairs}])
    for recovery in RECOVERIES:
        rounds: list[dict[str, Any]] = [
            {"arrivals": _POISSON},
            {"arrivals": _TWICE, "pairs": "Incast"},
        ]
        stack: dict[str, Any] = {"cc": "TcpNewReno", "recovery": recovery}
        yield _case(f"losing-{recovery}", losing, rounds, **stack)
    for lifetime in ("0.0001", "0.002"):
        tcp = {**_TCP, "MaxSegLifetime": lifetime, "DataRetries": 3, "ConnCount": 3}
        workload = {"arrivals": {**_POISSON, "load": 0.02}, "sizes": "Facebook"}
        listed = {"arrivals": _TWICE, "pairs": {"type": "Listed", "pairs": [["h_0", "h_1"]]}}
        yield _case(f"lossy-{lifetime}", losing, [workload, listed], tcp=tcp, loss=0.03)
    for qdisc, switch in (("RED", marking), ("losing", losing)):
        yield _case(f"dctcp-reno-{qdisc}", switch, [{"arrivals": _POISSON}], cc="TcpDctcpReno")
    fabric = leaf_spine(2, 2, 3, host_link_of=link, fabric_link_of=link, port=_RED)
    racks = [[h for h in fabric.hosts if h.startswith(f"h_{i}_")] for i in range(2)]
    apart = {"arrivals": {**_POISSON, "capacity": "1Gbps"}, "apart": racks}
    yield _case("leaf-spine", fabric, [apart])
    yield _case("leaf-spine-AllToAll", fabric, [{"arrivals": _TWICE, "pairs": "AllToAll"}])


def pias() -> Iterator[Case]:
    """Code points that rise with the bytes of a flow, under schedulers of classes."""
    link = FabricLink("1Gbps", "20us")
    tcn = {"type": "TcnQueueDisc", "attributes": {"Threshold": "100us", "MaxSize": "60p"}}
    schedulers: dict[str, tuple[str, dict[str, str]]] = {
        "SP": ("StrictPriority", {"Priorities": "3 2 1 0"}),
        "DWRR": ("Dwrr", {"Quanta": "6000 3000 1500 1500"}),
        "WFQ": ("Wfq", {"Weights": "4 2 1 1"}),
    }
    thresholds = ["2kB", "20kB", "100kB"]
    for name, (kind, attributes) in schedulers.items():
        qdisc = {"type": f"{kind}QueueDisc", "attributes": attributes, "children": [tcn]}
        fabric = star(6, link, port=SwitchPort(qdisc))
        arrivals = {"arrivals": {**_POISSON, "load": 0.7}}
        yield _case(f"{name}", fabric, [arrivals], group="pias", pias=thresholds)
        # ACKs come back in a class of their own; losses, so that segments are sent again.
        both: dict[str, Any] = {
            "dscp": 1,
            "return_dscp": 3,
            "pias": thresholds[:2],
            "cc": "TcpNewReno",
        }
        yield _case(f"{name}-classes", fabric, [arrivals], group="pias", loss=0.01, **both)
    bands = SwitchPort({"type": "PfifoFastQueueDisc", "attributes": {"MaxSize": "60p"}})
    many = [f"{4 + 4 * i}kB" for i in range(10)]
    yield _case(
        "bands", star(6, link, port=bands), [{"arrivals": _POISSON}], group="pias", pias=many
    )


GROUPS: Sequence[Callable[[], Iterable[Case]]] = (workloads, pias)
