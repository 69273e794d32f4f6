"""The part of the matrix that crosses what data centres have: networks, marking, failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.experiments.topologies import FabricLink, SwitchPort, fat_tree, leaf_spine, star
from ccperf.scenario.profiles import WHOLE
from ccperf.verify.case import Case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ccperf.experiments.topologies import Fabric

_LINK = FabricLink("1Gbps", "10us")
_TCP = {"SegmentSize": 1448, "MinRto": "5ms", "ConnTimeout": "5ms", "UseEcn": "On"}
#: The shape of web search, a hundredth as large.
_SIZES = {"type": "Cdf", "points": [[0, 0], [300, 0.3], [2e3, 0.6], [2e4, 0.8], [3e5, 1]]}

_SHAPES: Mapping[str, Callable[[SwitchPort], Fabric]] = {
    "star": lambda port: star(6, _LINK, port=port),
    "leaf-spine": lambda port: leaf_spine(
        2, 2, 3, host_link_of=_LINK, fabric_link_of=_LINK, port=port
    ),
    "fat-tree": lambda port: fat_tree(4, _LINK, port=port),
}


def _of(kind: str, **attributes: str) -> dict[str, Any]:
    return {"type": f"{kind}QueueDisc", "attributes": {"MaxSize": "60p", **attributes}}


_SHARP = {
    "InstantaneousMarkingThreshold": "200us",
    "PersistentMarkingTarget": "40us",
    "PersistentMarkingInterval": "200us",
}
_MARKING = {
    "ECNSharp": _of("ECNSharp", **_SHARP),
    "ECNSharp-paper": _of("ECNSharp", Law="paper", **_SHARP),
    "TCN": _of("Tcn", Threshold="150us"),
    "StepRED": _of("StepRed", MarkingThreshold="12p"),
    "CoDel": _of("MarkingCoDel", Interval="200us", Target="40us"),
    "PIE": _of("MarkingPie", QueueDelayReference="100us", Tupdate="300us", A="20", B="200"),
}
_DWRR = {
    "type": "DwrrQueueDisc",
    "attributes": {"Quanta": "3000 1500 1500"},
    "children": [_MARKING["ECNSharp"]],
}
_RTT_CLASSES = {"type": "Classes", "delays": ["1us", "20us", "50us", "80us", "160us"]}


def _case(
    name: str,
    fabric: Fabric,
    stacks: Sequence[Mapping[str, Any]] = ({},),
    arrivals: Mapping[str, Any] | None = None,
    workload: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Case:
    """A workload for each of the stacks, which share its load."""
    poisson = {"type": "Poisson", "load": 0.5 / len(stacks), **(arrivals or {})}
    each = {"sizes": _SIZES, "arrivals": poisson, **(workload or {})}
    usual: dict[str, Any] = {"stop_time": "15ms", "routing": "ecmp"}
    return Case(
        fabric.scenario(
            [],
            label=f"fabric/{name}",
            stacks=[
                {"name": f"s{i}", **({} if "profile" in stack else _DCTCP), **stack}
                for i, stack in enumerate(stacks)
            ],
            workloads=[{"name": f"w{i}", "stack": f"s{i}", **each} for i in range(len(stacks))],
            **{**usual, **settings},
        )
    )


_DCTCP = {"cc": "TcpDctcp", "tcp": _TCP}


def fabrics() -> Iterator[Case]:
    """Every marking discipline, schedulers, failures and unlike round trips on every network."""
    classes = [{"dscp": dscp} for dscp in range(3)]
    for shape, make in _SHAPES.items():
        for name, qdisc in _MARKING.items():
            yield _case(f"{shape}-{name}", make(SwitchPort(qdisc)))
        yield _case(f"{shape}-DWRR", make(SwitchPort(_DWRR)), classes)
        sharp = make(SwitchPort(_MARKING["ECNSharp"]))
        yield _case(f"{shape}-rtts", sharp, workload={"added_delay": _RTT_CLASSES})
        switch = sharp.switches[-1]
        failing = [
            {"link": sharp.links[0]["name"], "down": "2ms", "up": "4ms"},
            {"node": switch, "down": "6ms", "up": "9ms"},
        ]
        yield _case(f"{shape}-failures", sharp, failures=failing)
        yield _case(f"{shape}-300", sharp, arrivals={"count": 300}, stop_time="30ms")
    delays = {"added_delay": _RTT_CLASSES}
    every = make(SwitchPort(_DWRR))
    yield _case("everything", every, classes, workload=delays, failures=failing)
    for profile in WHOLE:
        port = SwitchPort(_MARKING["ECNSharp"])
        yield _case(f"profile-{profile}", _SHAPES["star"](port), [{"profile": profile}])


GROUPS: Sequence[Callable[[], Iterable[Case]]] = (fabrics,)
