"""The part of the matrix about packets that do not fit a link, which IP sends in fragments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.scenario import Scenario
from ccperf.verify.case import Case
from ccperf.verify.case import case as _case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

#: Those whose limit says of itself what it counts.
_QDISCS = (
    *("CoDelQueueDisc", "FqCoDelQueueDisc", "PieQueueDisc", "FqPieQueueDisc", "CobaltQueueDisc"),
    *("FqCobaltQueueDisc", "RedQueueDisc", "PfifoFastQueueDisc", "TbfQueueDisc"),
)
_CBR: dict[str, Any] = {"type": "CBR", "rate": "4Mbps", "write": "4000B"}
_POISSON: dict[str, Any] = {"type": "Poisson", "rate": "6Mbps", "write": "2500B"}
_ON_OFF: dict[str, Any] = {
    "type": "OnOff",
    "rate": "10Mbps",
    "write": "9000B",
    "on_time": "Exponential(mean=100ms)",
    "off_time": "Exponential(mean=150ms,bound=400ms)",
}


def with_mtus(case: Case, mtus: Mapping[str, str]) -> Case:
    """The case with other MTUs both ways on the links that are named."""
    fields = case.scenario.model_dump()
    for link in fields["links"]:
        if link["name"] in mtus:
            link["forward"]["mtu"] = link["reverse"]["mtu"] = mtus[link["name"]]
    return Case(Scenario.model_validate(fields), case.heavy)


def _tcp(name: str, **settings: Any) -> Case:
    return _case(f"fragments/{name}", **{"mss": 1458, "packets": 3_000, **settings})


def _udp(name: str, *applications: dict[str, Any], **settings: Any) -> Case:
    common = {"transports": "UDP", "packets": 3_000}
    return _case(f"fragments/{name}", applications=list(applications), **{**common, **settings})


def _after(seconds: int, *drop: int, **settings: Any) -> dict[str, Any]:
    """A transfer of 60 kB that loses fragments, whose hosts wait for them to the end."""
    application = {"type": "Greedy", "bytes": "60000B"}
    return {"applications": application, "drop": list(drop), "stop": f"{seconds}s", **settings}


def segments() -> Iterator[Case]:
    """Segments beyond the MTU, by little and by much, over queues and disciplines of all kinds."""
    for mss in (1449, 1456, 1458, 2000, 9000, 60_000):
        yield _tcp(f"mss-{mss}", mss=mss, qlen="40p")
    for cc in ("TcpCubic", "TcpBbr", "TcpVegas", "TcpDctcp", "TcpLedbat"):
        yield _tcp(f"{cc}", cc=cc, mss=2000)
    for qdisc in _QDISCS:
        yield _tcp(qdisc, qdisc=qdisc, qlen="25p", cc=["TcpNewReno"] * 3)
    yield _tcp("bytes", qlen="30000B", mss=4000)
    yield _tcp("no-timestamps", tcp={"Timestamp": "false"}, mss=1461)
    yield _tcp("no-sack", tcp={"Sack": "false"}, loss=0.01)
    yield _tcp("delayed", delayed_ack_count=2, mss=3000, rtts=["15ms", "40ms"])
    yield _tcp("paced", tcp={"EnablePacing": "true"}, mss=9000, qlen="60p")
    yield _tcp("byte-limits", forward={"queue_limits": {"hold_time": "100ms"}}, mss=3000)
    yield _tcp("no-discipline", forward={"qdisc": None, "device_queue": "20p"}, mss=4000)


def marks() -> Iterator[Case]:
    """ECN: the mark that counts is that of the fragment that completes the packet."""
    marking = {
        "RedQueueDisc": {"MinTh": 4, "MaxTh": 12, "UseEcn": "true"},
        "CoDelQueueDisc": {"UseEcn": "true", "CeThreshold": "1ms"},
        "FqCoDelQueueDisc": {"UseEcn": "true"},
    }
    for cc in ("TcpNewReno", "TcpDctcp"):
        for qdisc, attributes in marking.items():
            queue = {"qdisc": qdisc, "qdisc_attributes": attributes, "qlen": "60p"}
            yield _tcp(f"{cc}-{qdisc}", cc=cc, mss=2500, tcp={"UseEcn": "On"}, **queue)
    yield _tcp("service", tos=16, qdisc="PfifoFastQueueDisc")


def losses() -> Iterator[Case]:
    """Fragments that get lost: what is left waits 30 s, and the sender is told."""
    yield _tcp("loss", loss=0.02, mss=2000)
    yield _tcp("loss-large", loss=0.01, mss=9000, qlen="60p")
    yield _tcp("loss-told", **_after(40, 4, 9, 16, 17, 30, mss=2000))
    yield _tcp("loss-told-late", **_after(65, 5, 8, 40, mss=4000))
    yield _tcp("loss-random-told", loss=0.1, **_after(70, mss=3000))
    yield _tcp("overflow", qlen="5p", mss=3000, cc=["TcpNewReno", "TcpCubic"])
    late = {"probability": 0.1, "delay": "12ms"}
    yield _tcp("reordering", forward={"reordering": late}, mss=3000)
    changes = [{"time": f"{300 * i}ms", "rate": f"{3 * i}Mbps", "delay": "2ms"} for i in (1, 2, 3)]
    yield _tcp("changes", changes=changes, mss=2000)


def mtus() -> Iterator[Case]:
    """Links of several MTUs: fragments are cut again, and none is put together on the way."""
    smaller = {"btl": "576B"}
    yield with_mtus(_tcp("smaller-576", mss=1448), smaller)
    yield with_mtus(_tcp("smaller-again", mss=4000, qlen="60p"), {"btl": "1006B", "dst_0": "292B"})
    yield with_mtus(_tcp("larger", mss=8948), {"src_0": "9000B", "dst_0": "9000B"})
    yield with_mtus(_tcp("smallest", mss=200, packets=1_500), {"btl": "80B"})
    yield with_mtus(_tcp("uneven", mss=1448, loss=0.01), {"btl": "1499B", "dst_0": "1001B"})
    yield with_mtus(_udp("smaller-udp", _CBR, _ON_OFF, rtts=["15ms", "20ms"]), smaller)
    told = _after(45, 4, 11, mss=2900)
    yield with_mtus(_tcp("smaller-told", **told), {"btl": "1006B", "dst_0": "508B"})


def fragmented_datagrams() -> Iterator[Case]:
    """Datagrams beyond the MTU, alone and beside TCP, heard and not."""
    yield _udp("cbr", _CBR)
    yield _udp("cbr-full", _CBR | {"rate": "16Mbps", "write": "65507B"}, qlen="100p")
    yield _udp("cbr-excess", _CBR | {"rate": "40Mbps"})
    yield _udp("one-more", _CBR | {"write": "1473B"})
    yield _udp("poisson-loss", _POISSON, loss=0.05)
    yield _udp("on-off", _ON_OFF)
    yield _udp("mixture", _CBR, _POISSON, _ON_OFF, rtts=["15ms", "20ms", "90ms"])
    yield _udp("told", _CBR | {"rate": "100kbps"}, loss=0.1, stop="40s")
    yield _udp("unheard", _CBR, receiver_stops="0s", loss=0.01)
    shared = {"sources": ["a"] * 3, "destinations": ["b"] * 3}
    yield _udp("shared-hosts", _CBR, _POISSON, _ON_OFF, **shared)
    for qdisc in ("FqCoDelQueueDisc", "PieQueueDisc", "PfifoFastQueueDisc"):
        yield _case(
            f"fragments/beside-{qdisc}",
            cc=["TcpCubic", None],
            transports=["TCP", "UDP"],
            applications=[{"type": "Greedy"}, _ON_OFF],
            rtts=["15ms", "20ms"],
            qdisc=qdisc,
            mss=1458,
            packets=3_000,
        )


GROUPS: Sequence[Callable[[], Iterable[Case]]] = (
    segments,
    marks,
    losses,
    mtus,
    fragmented_datagrams,
)
