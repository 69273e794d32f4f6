"""The part of the matrix about load balancing: schemes that the driver has a second time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.experiments.topologies import FabricLink, SlowLinks, SwitchPort, fat_tree, leaf_spine
from ccperf.verify.switches import FIFO, RED, case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ccperf.experiments.topologies import Fabric
    from ccperf.verify.case import Case

_HOST = FabricLink("1Gbps", "2us")
_LINK = FabricLink("1Gbps", "5us")
#: A fifth of the leaf-spine links at a fifth of their rate.
_SLOW = SlowLinks(0.2, "200Mbps", seed=3)

#: Each scheme, with the attributes that some of its scenarios have.
_SCHEMES: dict[str, dict[str, str]] = {
    "drb": {},
    "letflow": {"FlowletTimeout": "30us"},
    "conga": {"FlowletTimeout": "30us", "AgingTime": "1ms", "QuantizationBits": "4"},
    "drill": {"Samples": "1", "Memory": "3"},
    "adaptive": {},
}
#: With these, segments come out of order; with SACK ns-3 then ends: see `departures.ENDS`.
_PER_PACKET = ("drb", "drill", "adaptive")


def _leaf_spine(port: SwitchPort, slow: SlowLinks | None = None, parallel: int = 1) -> Fabric:
    spines = 4 // parallel
    return leaf_spine(
        4,
        spines,
        8,
        parallel=parallel,
        slow=slow,
        host_link_of=_HOST,
        fabric_link_of=_LINK,
        port=port,
    )


def balancing() -> Iterator[Case]:
    """Every judged scheme: symmetric and not, over parallel links, with failures and faults."""
    for scheme, attributes in _SCHEMES.items():
        yield from _of(scheme, attributes)


def _of(scheme: str, attributes: dict[str, str]) -> Iterator[Case]:
    up = {"link": "leaf_0_spine_1", "down": "1500us", "up": "6ms"}
    spine = {"node": "spine_2", "down": "2ms", "up": "7ms"}
    tcp = {"Sack": "false"} if scheme in _PER_PACKET else {}
    other = {"type": scheme, "attributes": attributes}

    def balanced(name: str, fabric: Fabric, cc: str = "TcpDctcp", **settings: Any) -> Case:
        settings = {"routing": scheme, **settings}
        return case(f"balancing/{scheme}-{name}", fabric, cc, tcp=tcp, **settings)

    symmetric: dict[str, Any] = {"flows": 200, "stop_time": "30ms"}
    yield balanced("TcpDctcp", _leaf_spine(RED), **symmetric)
    yield balanced("TcpNewReno", _leaf_spine(FIFO), "TcpNewReno", **symmetric)
    yield balanced("slow", _leaf_spine(RED, _SLOW), routing=other)
    yield balanced("parallel", _leaf_spine(RED, parallel=2), routing=other)
    yield balanced("failures", _leaf_spine(RED), failures=[up, spine])
    faults = [{"node": "spine_0", "loss": 0.02}]
    yield balanced("faults", _leaf_spine(RED), faults=faults, flows=100)
    tree = fat_tree(4, _LINK, port=RED)
    yield balanced("fat-tree", tree, routing=other, datagrams=10)


def feedback() -> Iterator[Case]:
    """CONGA's values in turn, while uplinks that nothing has come by yet are heard of."""
    link = FabricLink("100Mbps", "1us")
    conga = {"type": "conga", "attributes": {"FlowletTimeout": "30us"}}
    for leaves, spines, seed in ((2, 3, 8), (2, 4, 2), (3, 4, 7)):
        slow = SlowLinks(0.3, "50Mbps", seed=seed)
        fabric = leaf_spine(
            leaves, spines, 3, slow=slow, host_link_of=link, fabric_link_of=link, port=FIFO
        )
        name = f"balancing/conga-feedback-{leaves}x{spines}"
        yield case(name, fabric, flows=6, flow_seed=seed, routing=conga)


GROUPS: tuple[Callable[[], Iterator[Case]], ...] = (balancing, feedback)
