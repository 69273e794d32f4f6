"""The part of the matrix about the data centre: marking disciplines, and schedulers of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.experiments.topologies import star
from ccperf.experiments.topologies.fabric import FabricLink, SwitchPort
from ccperf.experiments.topologies.leaf_spine import leaf_spine
from ccperf.verify.case import Case
from ccperf.verify.case import case as _case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


def _port(name: str, qdisc: Any, **settings: Any) -> Case:
    """A switch port of 1 Gbps with `qdisc`, and three DCTCP flows of unlike round-trip times."""
    common = {
        "rate": "1Gbps",
        "cc": "TcpDctcp",
        "rtts": ["100us", "200us", "400us"],
        "access_delay": "20us",
        "access_rate": "10Gbps",
        "forward": {"rate": "1Gbps", "qdisc": qdisc, "device_queue": "1p"},
        "packets": 8_000,
    }
    return _case(name, **{**common, **settings})


def _of(kind: str, children: Sequence[Any] = (), **attributes: str) -> dict[str, Any]:
    return {"type": f"{kind}QueueDisc", "attributes": attributes, "children": children}


_SHARP = {
    "InstantaneousMarkingThreshold": "200us",
    "PersistentMarkingTarget": "85us",
    "PersistentMarkingInterval": "200us",
}


def marking() -> Iterator[Case]:
    """ECN#, TCN and RED, CoDel and PIE in the data centre's forms, under DCTCP and NewReno."""
    disciplines = {
        "ECNSharp": _of("ECNSharp", **_SHARP),
        "ECNSharp-paper": _of("ECNSharp", Law="paper", **_SHARP),
        "ECNSharp-defaults": _of("ECNSharp"),
        "TCN": _of("Tcn", Threshold="200us"),
        "StepRED": _of("StepRed", MarkingThreshold="20p"),
        "StepRED-bytes": _of("StepRed", MarkingThreshold="30000B", MaxSize="120000B"),
        "CoDel": _of("MarkingCoDel", Interval="200us", Target="85us"),
        "CoDel-defaults": _of("MarkingCoDel", MinBytes="0"),
        "PIE": _of("MarkingPie", QueueDelayReference="200us", Tupdate="500us", A="20", B="200"),
        "PIE-defaults": _of("MarkingPie"),
    }
    for name, qdisc in disciplines.items():
        yield _port(f"marking/{name}", qdisc)
        if name.endswith("defaults"):
            continue
        yield _port(
            f"marking/{name}-ecn",
            qdisc,
            cc=["TcpNewReno", "TcpCubic", "TcpDctcp"],
            tcp={"UseEcn": "On"},
        )
        tight = {**qdisc, "attributes": {**qdisc["attributes"], "MaxSize": "30p"}}
        yield _port(f"marking/{name}-tight", tight, cc=["TcpDctcp", "TcpNewReno", "TcpDctcp"])
    incast: dict[str, Any] = {
        "rtts": ["150us"] * 16,
        "applications": {"type": "Greedy", "bytes": "60000B"},
        "starts": [f"{1 + (i % 3)}ms" for i in range(16)],
        "packets": 3_000,
    }
    for name in ("ECNSharp", "TCN", "StepRED", "CoDel"):
        yield _port(f"marking/{name}-incast", disciplines[name], **incast)


def scheduling() -> Iterator[Case]:
    """DWRR, WFQ and strict priority between classes by DSCP, any discipline inside them."""
    tcn, sharp = _of("Tcn", Threshold="200us"), _of("ECNSharp", **_SHARP)
    codel = _of("MarkingCoDel", Interval="200us", Target="85us")
    schedulers: dict[str, tuple[str, dict[str, str]]] = {
        "DWRR": ("Dwrr", {"Quanta": "3000 1500 1500"}),
        "WFQ": ("Wfq", {"Weights": "2 1 1"}),
        "SP": ("StrictPriority", {"Priorities": "2 1 0"}),
    }
    classes: dict[str, Any] = {"dscps": [0, 1, 2], "starts": ["0s", "20ms", "40ms"]}
    unlike = [_of("Red", QW="0.1", UseEcn="true"), _of("CoDel", UseEcn="true"), _of("Fifo")]
    asked = [_of("Pie", UseEcn="true"), _of("FqCoDel"), _of("Cobalt", UseEcn="true")]
    for name, (kind, attributes) in schedulers.items():
        contents: dict[str, Sequence[Any]] = {
            "FIFO": [_of("Fifo", MaxSize="60p")],
            "TCN": [tcn],
            "ECNSharp": [sharp],
            "CoDel": [codel],
        }
        contents |= {"unlike": unlike, "asked": asked}
        for inside, children in contents.items():
            yield _port(f"scheduling/{name}-{inside}", _of(kind, children, **attributes), **classes)
        # The acknowledgements compete on the way back; code points without a class of their own.
        back = {"rate": "20Mbps", "qdisc": _of(kind, [_of("Fifo", MaxSize="30p")], **attributes)}
        yield _port(
            f"scheduling/{name}-acks",
            _of(kind, [sharp], **attributes),
            reverse=back,
            dscps=[0, 46, 2],
            return_dscps=[2, 0, 1],
        )
        yield _port(
            f"scheduling/{name}-transfers",
            _of(kind, [sharp], **attributes),
            rtts=["150us"] * 6,
            dscps=[0, 0, 1, 1, 2, 2],
            applications=["Greedy", *[{"type": "Greedy", "bytes": "28000B"}] * 5],
            starts=["0s", "5ms", "5ms", "6ms", "7ms", "7ms"],
        )
        yield _port(
            f"scheduling/{name}-shaped",
            _of("Tbf", [_of(kind, [codel], **attributes)], Rate="800Mbps", Burst="9000"),
            **classes,
        )
    levels = {"Priorities": "0 7 0"}
    yield _port(
        "scheduling/DWRR-levels", _of("Dwrr", [tcn], Quanta="500 100 60", **levels), **classes
    )
    yield _port("scheduling/WFQ-levels", _of("Wfq", [tcn], Weights="1 3 5", **levels), **classes)
    # The sockets' type of service: the same classes, but data without ECT.
    yield _port("scheduling/DWRR-tos", _of("Dwrr", [tcn], Quanta="1500 3000"), tos=[0, 4, 8])
    yield _port(
        "scheduling/nested",
        _of("StrictPriority", [_of("Dwrr", [tcn], Quanta="1500 3000"), "FqCoDelQueueDisc"]),
        **classes,
    )
    # By the bits of the former type of service a code point asks for a priority, too.
    yield _port(
        "scheduling/PfifoFast",
        _of("PfifoFast", MaxSize="60p"),
        dscps=[0, 2, 4],
        return_dscps=[4, 6, 2],
    )


def shared_buffers() -> Iterator[Case]:
    """Buffers that the ports of a switch share, of many sizes, in front of every kind of queue."""
    link = FabricLink("1Gbps", "10us")
    inside: dict[str, Any] = {
        "FIFO": None,
        "ECNSharp": _of("ECNSharp", MaxSize="250p", **_SHARP),
        "CoDel": _of("CoDel", Interval="1ms", Target="100us"),
        "PIE": _of("Pie", QueueDelayReference="200us", Tupdate="500us"),
        "FqCoDel": _of("FqCoDel", Interval="1ms", Target="100us"),
        "DWRR": _of("Dwrr", [_of("Fifo", MaxSize="60p")], Quanta="1500 1500"),
    }
    buffers = {"half": "0.5", "one": "1", "eight": "8"}
    tcp = {"SegmentSize": 1448, "MinRto": "5ms", "ConnTimeout": "5ms"}
    sizes = {"type": "Cdf", "points": [[0, 0], [2e3, 0.5], [2e4, 0.8], [3e5, 1]]}
    for name, child in inside.items():
        for word, alpha in buffers.items():
            children = [child] if child else []
            qdisc = _of("SharedBuffer", children, Alpha=alpha, PoolBytes="60000")
            arrivals = {"type": "Poisson", "load": 0.6}
            workload = {"name": "w", "stack": "s", "sizes": sizes, "arrivals": arrivals}
            queries = {"pairs": "Incast", "arrivals": {"type": "Times", "times": ["3ms", "9ms"]}}
            yield Case(
                star(6, link, port=SwitchPort(qdisc)).scenario(
                    [],
                    label=f"shared-buffer/{name}-{word}",
                    stop_time="20ms",
                    stacks=[{"name": "s", "cc": "TcpDctcp", "tcp": tcp}],
                    workloads=[workload, {**workload, "name": "q", **queries}],
                )
            )
    fabric = leaf_spine(
        2, 2, 3, port=SwitchPort(_of("SharedBuffer", [inside["ECNSharp"]], PoolBytes="40000"))
    )
    failing = [{"node": "spine_1", "down": "1ms", "up": "3ms"}]
    arrivals = {"type": "Poisson", "load": 0.4}
    yield Case(
        fabric.scenario(
            [],
            label="shared-buffer/failures",
            stop_time="5ms",
            routing="ecmp",
            failures=failing,
            stacks=[{"name": "s", "cc": "TcpDctcp", "tcp": tcp}],
            workloads=[{"name": "w", "stack": "s", "sizes": sizes, "arrivals": arrivals}],
        )
    )


GROUPS: Sequence[Callable[[], Iterable[Case]]] = (marking, scheduling, shared_buffers)
