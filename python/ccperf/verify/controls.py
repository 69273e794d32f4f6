"""The part of the matrix about congestion controls: each in the conditions in which they differ,
and with every attribute at other values than its default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.verify.case import Case
from ccperf.verify.case import case as _case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_PACKETS = 2_500
_FEW_PACKETS = 1_500


def conditions() -> Iterator[Case]:
    """Every congestion control where the algorithms differ: short, long and changing paths, losses
    of all kinds, marks, senders that do not fill their window, itself and others as neighbours.
    """
    for cc in registry.compared("cc"):
        if cc == "TcpNewReno":
            continue  # it is nearly everywhere else
        for name, settings in _conditions(cc):
            yield _case(f"control/{cc}-{name}", **{"cc": cc, "packets": _FEW_PACKETS, **settings})


def _conditions(cc: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is set by the name of the condition."""
    # Paths.
    yield "rtt-2ms", {"rtts": "2ms", "rate": "40Mbps", "access_delay": "250us", "qlen": "12p"}
    yield "rtt-200ms", {"rtts": "200ms", "qlen": "120p", "packets": 3_000}
    yield "rate-up", {"changes": [{"time": "400ms", "rate": "48Mbps"}], "packets": 4_000}
    yield "rate-down", {"changes": [{"time": "400ms", "rate": "4Mbps"}], "qlen": "40p"}
    yield "delay-up", {"changes": [{"time": "400ms", "delay": "40ms"}], "qlen": "40p"}
    yield (
        "outage",
        {
            "changes": [{"time": "300ms", "loss": 1.0}, {"time": "550ms", "loss": 0.0}],
            "tcp": {"MinRto": "200ms"},
        },
    )
    jumps = [{"time": f"{80 * i}ms", "delay": "1ms" if i % 2 else "20ms"} for i in range(4, 12)]
    yield "jumps", {"rtts": "50ms", "changes": jumps, "qlen": "60p"}
    # Losses.
    yield "loss", {"loss": 0.01, "qlen": "100p"}
    yield "loss-both-ways", {"loss": 0.02, "reverse": {"loss": 0.05}, "rtts": "40ms", "seed": 3}
    yield "loss-nosack", {"loss": 0.02, "tcp": {"Sack": "false", "MinRto": "200ms"}}
    classic = {"recovery": "TcpClassicRecovery", "tcp": {"Timestamp": "false"}}
    yield "loss-classic", {"loss": 0.01, **classic}
    yield "burst", {"drop": range(200, 230), "qlen": "200p", "rtts": "30ms"}
    # Marks.
    marks = {"tcp": {"UseEcn": "On"}, "qlen": "60p", "qdisc_attributes": {"UseEcn": "true"}}
    yield "red", {**marks, "qdisc": "RedQueueDisc", "rtts": ["15ms", "25ms"]}
    yield "pie", {**marks, "qdisc": "PieQueueDisc", "rtts": "20ms"}
    yield "fq-codel", {**marks, "qdisc": "FqCoDelQueueDisc", "cc": [cc] * 3, "rtts": "15ms"}
    # Acknowledgements and segments.
    yield "delayed-ack", {"delayed_ack_count": 2, "qlen": "30p"}
    yield "segment-536", {"mss": 536}
    slots = {
        "qdisc": {
            "type": "BurstReleaseQueueDisc",
            "attributes": {"Interval": "8ms", "Quota": "40", "MaxSize": "10000p"},
        },
        "device_queue": "1000p",
    }
    yield "ack-compression", {"reverse": slots, "qlen": "40p"}
    # Windows.
    yield "initial-window-1", {"initial_cwnd": 1, "rtts": "40ms"}
    yield "initial-window-60", {"initial_cwnd": 60, "qlen": "30p", "tcp": {"EnablePacing": "true"}}
    yield "avoidance", {"tcp": {"InitialSlowStartThreshold": 20_000}, "qlen": "60p"}
    bursts = {"type": "OnOff", "rate": "20Mbps", "on_time": "80ms", "off_time": "120ms"}
    yield "bursts", {"applications": bursts}
    yield (
        "transfers",
        {
            "applications": [{"type": "Greedy", "bytes": f"{size}B"} for size in (40_000, 900_000)],
            "cc": [cc] * 2,
            "rtts": ["15ms"] * 2,
        },
    )
    # Neighbours.
    yield "itself", {"cc": [cc] * 2, "rtts": ["12ms", "33ms"], "starts": ["0s", "400ms"]}
    yield "cubic", {"cc": [cc, "TcpCubic"], "rtts": ["20ms", "20ms"], "qlen": "50p"}


def attributes() -> Iterator[Case]:
    """Every attribute of every congestion control at other values than its default: two flows on a
    path whose rate falls and rises and that loses packets now and then.
    """
    for cc, spec in registry.compared("cc").items():
        yield from of_attributes(cc, [param for param in spec["params"] if not param["since"]])


def of_attributes(cc: str, params: Iterable[Mapping[str, Any]], **more: Any) -> Iterator[Case]:
    """These attributes of a congestion control at other values than their defaults."""
    for param in params:
        for value in _other_values(param):
            chosen = {"type": cc, "attributes": {param["ns3"]: value}}
            yield _case(
                f"tuned/{cc}-{param['ns3']}-{value}",
                cc=[chosen, chosen],
                rtts=["15ms", "50ms"],
                qlen="60p",
                loss=0.001,
                changes=[{"time": "600ms", "rate": "6Mbps"}, {"time": "1s", "rate": "16Mbps"}],
                packets=_PACKETS,
                **more,
            )


def sockets() -> Iterator[Case]:
    """Every attribute of a socket at other values than its default, with losses and pauses."""
    bursts = {"type": "OnOff", "rate": "14Mbps", "on_time": "150ms", "off_time": "70ms"}
    for param in registry.tables()["socket"]["params"]:
        if param["is_own"] or param["since"]:
            continue
        for value in _other_values(param):
            if param["ns3"] == "SegmentSize" and int(value) > 1448:
                continue  # fits into no packet
            pacing = {"EnablePacing": "true"} if "Pac" in param["ns3"] else {}
            yield _case(
                f"tuned/TcpSocket-{param['ns3']}-{value}",
                applications=[{"type": "Greedy"}, bursts],
                rtts=["10ms", "35ms"],
                loss=0.005,
                delayed_ack_count=2,
                packets=_PACKETS,
                tcp={"MinRto": "20ms", **pacing, param["ns3"]: value},
            )


def corners() -> Iterator[Case]:
    """Congestion controls in what only certain values, or minutes, show."""

    def corner(cc: str, name: str, attributes: dict[str, Any], **settings: Any) -> Case:
        chosen = {"type": cc, "attributes": attributes}
        return _case(f"corner/{cc}-{name}", **{"cc": chosen, "packets": _PACKETS, **settings})

    # The least round trip is due before the pipe is full, and after pauses.
    often = {"RttWindowLength": "250ms", "ProbeRttDuration": "50ms"}
    yield corner(
        "TcpBbr", "early-probe", often, rate="80Mbps", rtts="120ms", qlen="400p", stop="2s"
    )
    pauses = {"type": "OnOff", "rate": "12Mbps", "on_time": "700ms", "off_time": "150ms"}
    yield corner("TcpBbr", "pauses", often, applications=pauses, stop="4s")
    yield corner("TcpYeah", "no-alpha", {"Alpha": 0}, rtts="20ms", qlen="60p")
    small = {"buffer": 5 * 1448, "rate": "2Mbps", "rtts": "10ms", "initial_cwnd": 2}
    yield corner("TcpYeah", "small-window", {"Alpha": 1}, **small)
    # A minute of base delays.
    minutes = {"rate": "300kbps", "qlen": "30p", "stop": "135s", "loss": 0.002}
    for length in (1, 2):
        yield corner("TcpLedbat", f"minutes-{length}", {"BaseHistoryLen": length}, **minutes)
    # Several timeouts without an acknowledgement between them, more than once.
    outages = [
        {"time": time, "loss": loss}
        for times in (("700ms", "1300ms"), ("2s", "2700ms"), ("3500ms", "4300ms"))
        for time, loss in zip(times, (1.0, 0.0), strict=True)
    ]
    for cc in ("TcpHtcp", "TcpCubic"):
        tcp = {"MinRto": "100ms"}
        yield corner(cc, "outages", {}, changes=outages, qlen="40p", tcp=tcp, stop="6s")


def _other_values(param: Mapping[str, Any]) -> Iterator[str]:
    """What a parameter of the registry may be besides its default: less and more, or the others."""
    kind, default = param["kind"], param["default"]
    if kind == "bool":
        yield "false" if default == "true" else "true"
    elif kind == "enum":
        yield from (word for word in param["words"] if word != default)
    elif kind in ("time", "period", "threshold"):
        for part in (1, 10):
            yield f"{_native.parse_time(default) * part // 4}ns"
    elif kind in ("uint", "real") and param["ns3"] != "Stream":
        usual = float(default)
        low, high = param["min"], param["max"]
        for value in (usual / 2, usual * 3):
            bounded = max(value, low if low is not None else value)
            bounded = min(bounded, high if high is not None else bounded)
            written = round(bounded) if kind == "uint" else round(bounded, 6)
            if written != usual:
                yield str(written)


GROUPS: Sequence[Callable[[], Iterable[Case]]] = (
    conditions,
    attributes,
    sockets,
    corners,
)
