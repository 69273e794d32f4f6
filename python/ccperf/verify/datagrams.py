"""The part of the matrix about what TCP shares its path with: datagrams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.algorithms import registry
from ccperf.verify.case import Case
from ccperf.verify.case import case as _case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_CBR = {"type": "CBR", "rate": "4Mbps", "write": "1000B"}
_POISSON = {"type": "Poisson", "rate": "4Mbps", "write": "1000B"}
_ON_OFF = {
    "type": "OnOff",
    "rate": "10Mbps",
    "write": "1200B",
    "on_time": "Exponential(mean=100ms)",
    "off_time": "Exponential(mean=150ms,bound=400ms)",
}
_GREEDY = {"type": "Greedy"}


def _udp(name: str, *applications: dict[str, Any], **settings: Any) -> Case:
    """All flows over UDP."""
    return _case(
        f"udp/{name}", applications=list(applications), **{"transports": "UDP", **settings}
    )


def _mixed(name: str, ccs: Sequence[str], *applications: dict[str, Any], **settings: Any) -> Case:
    """A greedy flow over TCP for each of `ccs`, and `applications` over UDP."""
    transports = ["TCP"] * len(ccs) + ["UDP"] * len(applications)
    flows = {
        "cc": [*ccs, *[None] * len(applications)],
        "transports": transports,
        "applications": [*[_GREEDY] * len(ccs), *applications],
    }
    return _case(f"udp/{name}", **{"rtts": ["15ms"] * len(transports), **flows, **settings})


def alone() -> Iterator[Case]:
    """UDP without TCP: below, at and above what the path carries."""
    yield _udp("cbr", _CBR)
    yield _udp("cbr-full", _CBR | {"rate": "16Mbps", "write": "1472B"})
    yield _udp("cbr-excess", _CBR | {"rate": "40Mbps"})
    yield _udp("cbr-finite", _CBR | {"bytes": "300500B"})
    yield _udp("cbr-odd", _CBR | {"rate": "3333333bps", "write": "777B"}, rtts="33.333334ms")
    yield _udp("cbr-tiny", _CBR | {"rate": "10kbps", "write": "1B"}, packets=3_000)
    yield _udp("poisson", _POISSON)
    yield _udp("poisson-excess", _POISSON | {"rate": "20Mbps"}, qlen="5p")
    yield _udp("poisson-finite", _POISSON | {"bytes": "300000B"})
    yield _udp("poisson-loss", _POISSON, loss=0.05)
    yield _udp("poisson-many", *[_POISSON | {"rate": "3Mbps"}] * 8, qlen="10p")
    yield _udp("on-off", _ON_OFF)
    yield _udp("on-off-constant", _ON_OFF | {"on_time": "200ms", "off_time": "300ms"})
    yield _udp("on-off-residual", _ON_OFF | {"on_time": "3.3333ms", "off_time": "1.7ms"})
    yield _udp("on-off-uniform", _ON_OFF | {"off_time": "Uniform(max=100ms)"}, seed=5)
    yield _udp("on-off-excess", _ON_OFF | {"rate": "100Mbps"}, packets=9_000)
    yield _udp("on-off-finite", _ON_OFF | {"bytes": "200000B"})
    stops = {"starts": ["0s", "250ms", "1.000000001s"], "stops": ["1s", "1.5s", "2s"]}
    yield _udp("stops", _CBR, _POISSON, _ON_OFF, **stops)
    yield _udp("drop", _CBR, drop=[0, 1, 5, 60])
    yield _udp("mixture", _CBR, _POISSON, _ON_OFF, rtts=["15ms", "20ms", "90ms"])
    shared = {"sources": ["a"] * 3, "destinations": ["b"] * 3}
    yield _udp("shared-hosts", _CBR, _POISSON, _ON_OFF, **shared)
    changes = [{"time": f"{300 * i}ms", "rate": f"{2 * i}Mbps", "delay": "2ms"} for i in (1, 2, 3)]
    yield _udp("changes", _CBR, _POISSON, changes=changes, rate="8Mbps", packets=3_000)
    ping = {"source": "src_0", "destination": "dst_0", "interval": "13ms"}
    yield _udp("ping", _CBR | {"rate": "18Mbps"}, pings=[ping])


def beside_tcp() -> Iterator[Case]:
    """UDP beside every congestion control, with one and with several flows of each."""
    for cc in registry.compared("cc"):
        yield _mixed(f"{cc}-beside", [cc], _ON_OFF)
    yield _mixed("several", ["TcpNewReno", "TcpCubic"], _CBR, _POISSON, _ON_OFF)
    yield _mixed("in-step", ["TcpNewReno"], _CBR | {"rate": "8Mbps", "write": "1472B"})
    yield _mixed("more-than-there-is", ["TcpCubic"], _CBR | {"rate": "20Mbps"})
    yield _mixed("loss", ["TcpCubic"], _POISSON, loss=0.01)
    udp_first = _mixed("udp-first", ["TcpNewReno"], _POISSON).scenario
    yield Case(udp_first.model_copy(update={"flows": udp_first.flows[::-1]}))


def both_ways() -> Iterator[Case]:
    """UDP against the direction of TCP, in the way of its acknowledgements."""
    back = {"qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": "20p"}}}
    for qdisc in ("FifoQueueDisc", "CoDelQueueDisc", "FqCoDelQueueDisc"):
        settings: dict[str, Any] = {"reverse": back, "qdisc": qdisc}
        case = _mixed(f"back-{qdisc}", ["TcpNewReno"], _ON_OFF | {"rate": "20Mbps"}, **settings)
        tcp, udp = case.scenario.flows
        turned = {"source": udp.destination, "destination": udp.source}
        flows = (tcp, udp.model_copy(update=turned))
        yield Case(case.scenario.model_copy(update={"flows": flows}))


def through_queues() -> Iterator[Case]:
    """UDP through every queue discipline, with types of service, ECN bits and several queues."""
    for qdisc in registry.compared("qdisc"):
        if qdisc == "MqQueueDisc":
            continue
        settings: dict[str, Any] = {"qdisc": qdisc, "tos": [0, 0, 16]}
        if "MaxSize" not in registry.parameters("qdisc", qdisc):
            settings["qlen"] = None
        yield _mixed(f"through-{qdisc}", ["TcpNewReno", "TcpCubic"], _ON_OFF, **settings)
    marking = {"qdisc_attributes": {"UseEcn": "true"}, "tcp": {"UseEcn": "On"}}
    for qdisc in ("CoDelQueueDisc", "PieQueueDisc", "RedQueueDisc", "FqCobaltQueueDisc"):
        applications = [_POISSON | {"rate": "7Mbps"}] * 3
        settings = {"qdisc": qdisc, "tos": [0, 0, 1, 2 + 8], "qlen": "60p", **marking}
        yield _mixed(f"ecn-{qdisc}", ["TcpCubic"], *applications, **settings)
    for select in ("flow", "priority"):
        several = {"forward": {"device_queues": 4, "device_select": select}}
        settings = {"tos": [0, 8, 16, 24], **several}
        yield _mixed(f"queues-{select}", ["TcpNewReno"], _CBR, _POISSON, _ON_OFF, **settings)
    straight = {"forward": {"qdisc": None, "device_queue": "15p"}}
    yield _mixed("no-discipline", ["TcpNewReno"], _ON_OFF, **straight)


def unheard() -> Iterator[Case]:
    """Datagrams that nobody reads, which hosts answer by ICMP, and several flows to one port."""
    cbr = _CBR | {"rate": "9Mbps"}
    monitored = {"recording": {"flow_monitor": True}}
    yield _udp("unheard", cbr, receiver_stops=["0s"], **monitored)
    yield _udp("unheard-late", cbr, _ON_OFF, receiver_stops=["1s", "0.700000001s"])
    full = {"qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": "3p"}}, "rate": "200kbps"}
    yield _udp("unheard-narrow", cbr, receiver_stops=["0s"], reverse=full)
    stops: dict[str, Any] = {"receiver_stops": ["1.5s"] * 3, "destinations": ["b"] * 3}
    yield _to_one_port(_udp("one-port", _CBR, _POISSON, _ON_OFF, **stops))
    stops["sources"] = ["a"] * 3
    yield _to_one_port(_udp("one-port-one-host", _CBR, _POISSON, _ON_OFF, **stops), 50, 51, 52)
    ends = {"sources": ["a"] * 4, "destinations": ["b"] * 4}
    stops = {"receiver_stops": [None, "2s", "0s", "0s"]}
    for qdisc in ("FifoQueueDisc", "FqCoDelQueueDisc"):
        settings: dict[str, Any] = {"qdisc": qdisc, "reverse": {"qdisc": {"type": qdisc}}}
        ccs = ["TcpNewReno", "TcpCubic"]
        beside = _mixed(f"unheard-{qdisc}", ccs, _POISSON, _ON_OFF, **settings, **ends, **stops)
        yield _to_one_port(beside, 50, 51, 50, 51)


def _to_one_port(case: Case, *source_ports: int) -> Case:
    """All flows lead to one port; those of UDP and of TCP do not meet there."""
    sources: Iterable[int | None] = source_ports or [None] * len(case.scenario.flows)
    flows = tuple(
        flow.model_copy(update={"source_port": source, "destination_port": 7})
        for flow, source in zip(case.scenario.flows, sources, strict=True)
    )
    return Case(case.scenario.model_copy(update={"flows": flows}))


GROUPS: Sequence[Callable[[], Iterable[Case]]] = (
    alone,
    beside_tcp,
    both_ways,
    through_queues,
    unheard,
)
