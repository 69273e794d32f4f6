"""The part of the matrix about queues: every discipline, its bands, and devices with several
transmit queues.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.algorithms import registry
from ccperf.verify.case import Case
from ccperf.verify.case import case as _case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


def queue_disciplines() -> Iterator[Case]:
    """Every queue discipline: its parameters, its limit, its marks, several flows."""
    yield from _each_discipline()
    yield from _low_latency()
    yield from _ways_and_floods()
    yield from _with_pauses()


def _each_discipline() -> Iterator[Case]:
    for qdisc in registry.compared("qdisc"):
        if qdisc == "MqQueueDisc":
            continue  # see `device_queues`
        known = registry.parameters("qdisc", qdisc)
        qlen = "100p" if "MaxSize" in known else None
        for attributes in ({}, *_QDISC_VARIANTS.get(qdisc, ())):
            values = "-".join(f"{name}-{value}" for name, value in attributes.items())
            yield _case(
                f"qdisc/{qdisc}-{values or 'defaults'}",
                qdisc=qdisc,
                qlen=qlen,
                rtts=["15ms", "25ms"],
                qdisc_attributes=attributes,
            )
        if qlen:
            yield _case(f"qdisc/{qdisc}-tight", qdisc=qdisc, qlen="4p", flows=3)
        if "UseEcn" in known:
            yield _case(
                f"qdisc/{qdisc}-ecn",
                qdisc=qdisc,
                qlen="50p",
                flows=4,
                qdisc_attributes={"UseEcn": "true"},
                tcp={"UseEcn": "On"},
            )
    for qdisc in ("CoDelQueueDisc", "CobaltQueueDisc", "PieQueueDisc"):
        yield _case(f"qdisc/{qdisc}-bytes", qdisc=qdisc, qlen="30000B", flows=2)


def _low_latency() -> Iterator[Case]:
    """Beside a flow whose packets ask for low latency, by ECT(1), one whose do not."""
    low_latency = {"type": "TcpDctcp", "attributes": {"UseEct0": "false"}}
    for qdisc in registry.compared("qdisc"):
        if "CeThreshold" not in registry.parameters("qdisc", qdisc):
            continue
        for l4s in ("true", "false"):
            yield _case(
                f"qdisc/{qdisc}-{'l4s' if l4s == 'true' else 'threshold'}",
                qdisc=qdisc,
                qlen="50p",
                cc=[low_latency, "TcpNewReno"],
                qdisc_attributes={"UseEcn": "true", "UseL4s": l4s, "CeThreshold": "1ms"},
                tcp={"UseEcn": "On"},
            )


def _ways_and_floods() -> Iterator[Case]:
    """The associative hash of FqCoDel, PIE without and with too much to do, RED that adapts."""
    for qlen in ("1p", "20p"):
        yield _case(
            f"qdisc/FqCoDelQueueDisc-ways-{qlen}",
            qdisc="FqCoDelQueueDisc",
            qlen=qlen,
            qdisc_attributes={"EnableSetAssociativeHash": "true", "Flows": "8"},
            flows=12,
        )
    yield _case(
        "qdisc/PieQueueDisc-idle",
        qdisc="PieQueueDisc",
        qlen="100p",
        qdisc_attributes={"ActiveThreshold": "10ms"},
        applications={"type": "Greedy", "bytes": "3000000B"},
        stop="6s",
    )
    yield _case(
        "qdisc/PieQueueDisc-flood",
        qdisc="PieQueueDisc",
        qlen="100p",
        qdisc_attributes={
            "UseDerandomization": "true",
            "QueueDelayReference": "1ms",
            "A": "10",
            "B": "30",
        },
        flows=10,
    )
    yield _case(
        "qdisc/RedQueueDisc-bytes-adaptive",
        qdisc="RedQueueDisc",
        qlen="60000B",
        qdisc_attributes={"ARED": "true"},
    )


def _with_pauses() -> Iterator[Case]:
    """Queues that are empty for a while, and what is forgotten meanwhile."""
    pauses = {"type": "OnOff", "rate": "40Mbps", "on_time": "60ms", "off_time": "40ms"}
    for qdisc in registry.compared("qdisc"):
        if qdisc == "MqQueueDisc":
            continue
        known = registry.parameters("qdisc", qdisc)
        marks = {"UseEcn": "true"} if "UseEcn" in known else {}
        yield _case(
            f"qdisc/{qdisc}-pauses",
            qdisc=qdisc,
            qlen="60p" if "MaxSize" in known else None,
            qdisc_attributes=marks,
            tcp={"UseEcn": "On"} if marks else {},
            applications=pauses,
            flows=2,
        )
    # PIE by measured rates, on a grid of whole packets and milliseconds, without protection of
    # bursts, and calm for so long that bursts are protected again.
    whole: dict[str, Any] = {"rate": "12Mbps", "mss": 1446, "qdisc": "PieQueueDisc"}
    measured = {"UseDequeueRateEstimator": "true", "DequeueThreshold": "14980"}
    yield _case("qdisc/PieQueueDisc-whole-rates", **whole, qlen="60p", qdisc_attributes=measured)
    half = {"QueueDelayReference": "6ms"}
    yield _case(
        "qdisc/PieQueueDisc-whole-delays",
        **whole,
        qlen="60p",
        qdisc_attributes=half,
        applications=pauses,
        flows=2,
    )
    yield _case(
        "qdisc/PieQueueDisc-switched",
        qdisc="PieQueueDisc",
        qlen="60p",
        qdisc_attributes={"ActiveThreshold": "10ms", "MaxBurstAllowance": "0ms"},
        applications=pauses,
        flows=2,
    )
    yield _case(
        "qdisc/PieQueueDisc-calm",
        qdisc="PieQueueDisc",
        qlen="60p",
        applications=[{"type": "CBR", "rate": "2Mbps"}, {"type": "Greedy"}, {"type": "Greedy"}],
        rtts=["10ms"] * 3,
        starts=["0s", "1620ms", "1700ms"],
        stop="2500ms",
    )
    yield _case(
        "qdisc/CoDelQueueDisc-no-target",
        qdisc="CoDelQueueDisc",
        qlen="60p",
        qdisc_attributes={"Target": "0s", "Interval": "20ms"},
        applications=pauses,
        flows=2,
    )
    for rate in ("400kbps", "16Mbps"):
        yield _case(
            f"qdisc/RedQueueDisc-pauses-{rate}",
            qdisc="RedQueueDisc",
            qlen="60p",
            qdisc_attributes={"LinkBandwidth": rate, "QW": "0.02"},
            applications=pauses,
            flows=2,
        )
    yield _case(
        "qdisc/RedQueueDisc-bytes",
        qdisc="RedQueueDisc",
        qlen="60000B",
        qdisc_attributes={"MinTh": "10000", "MaxTh": "40000", "MeanPktSize": "1500"},
        flows=2,
    )
    yield _case(
        "qdisc/RedQueueDisc-bytes-uneven",
        qdisc="RedQueueDisc",
        qlen="60000B",
        qdisc_attributes={"MinTh": "10000", "MaxTh": "40000", "MeanPktSize": "1501"},
        flows=2,
    )


def children() -> Iterator[Case]:
    """Disciplines inside a discipline: those that show their head, and those that must be asked."""

    def case(name: str, qdisc: dict[str, Any], **settings: Any) -> Case:
        forward = {"rate": "16Mbps", "qdisc": qdisc, "device_queue": "1p"}
        return _case(f"children/{name}", forward=forward, **settings)

    def prio(*children: Any) -> dict[str, Any]:
        bands = {"Priomap": "1 1 2 2 1 1 0 0 1 1 1 1 1 1 1 1"}
        return {"type": "PrioQueueDisc", "attributes": bands, "children": children}

    def tbf(child: Any) -> dict[str, Any]:
        bucket = {"Rate": "12Mbps", "Burst": "5000"}
        return {"type": "TbfQueueDisc", "attributes": bucket, "children": [child]}

    classes: dict[str, Any] = {"rtts": ["15ms", "20ms", "25ms"], "tos": [16, 0, 8]}
    fifo = {"type": "FifoQueueDisc", "attributes": {"MaxSize": "20p"}}
    red = {"type": "RedQueueDisc", "attributes": {"QW": "0.05"}}
    yield case("prio", prio(fifo, "CoDelQueueDisc", red), **classes)
    yield case(
        "prio-flows", prio("FqCoDelQueueDisc", "FqPieQueueDisc", "FqCobaltQueueDisc"), **classes
    )
    yield case(
        "prio-small", prio(*[_tight(kind) for kind in ("FqCoDel", "Pie", "Cobalt")]), **classes
    )
    for kind in ("CoDel", "FqCoDel", "Pie", "Cobalt", "Red"):
        child = {"type": f"{kind}QueueDisc", "attributes": {"UseEcn": "true"}}
        yield case(f"tbf-{kind}", tbf(child), flows=3, tcp={"UseEcn": "On"})
        yield case(f"tbf-{kind}-tight", tbf(_tight(kind)), flows=3)
    # Both have timers: the bucket's for its next packet, the child's for its probability.
    early = {"QueueDelayReference": "1ms", "MaxBurstAllowance": "1ms"}
    for kind, more in (("Pie", {}), ("FqPie", {"Flows": "16"})):
        child = {"type": f"{kind}QueueDisc", "attributes": {**early, **more}}
        yield case(f"tbf-{kind}-early", tbf(child), flows=3)
        yield case(f"tbf-prio-{kind}-early", tbf(prio(*[child] * 3)), **classes)
    yield case("nested", tbf(prio(*["CoDelQueueDisc"] * 3)), **classes)
    bytes_ = {"type": "PieQueueDisc", "attributes": {**early, "MaxSize": "30000B"}}
    yield case("tbf-Pie-bytes", tbf(bytes_), flows=3)
    # Timers that run from the start.
    marking = {"type": "MarkingPieQueueDisc", "attributes": {}}
    for name, qdisc in (
        ("prio-MarkingPie", prio(*[marking] * 3)),
        ("tbf-MarkingPie", tbf(marking)),
        ("tbf-prio-MarkingPie", tbf(prio(*[marking] * 3))),
    ):
        yield case(name, qdisc, **classes, cc=["TcpDctcp"] * 3, tcp={"UseEcn": "On"})


def _tight(kind: str) -> dict[str, Any]:
    return {"type": f"{kind}QueueDisc", "attributes": {"MaxSize": "10p"}}


def priorities() -> Iterator[Case]:
    """Types of service: bands of the priority queues, and no effect elsewhere.

    16 asks for interactive traffic (priority 6), 24 for interactive bulk (4), 8 for bulk (2).
    ns-3's PrioQueueDisc has two bands, so its map has to name these two.
    """
    two_bands = {"Priomap": "1 1 1 1 1 1 0 0 1 1 1 1 1 1 1 1"}
    disciplines: dict[str, dict[str, str]] = {
        "PfifoFastQueueDisc": {},
        "PrioQueueDisc": two_bands,
        "CoDelQueueDisc": {},
        "FqCoDelQueueDisc": {},
        "RedQueueDisc": {},
    }
    for qdisc, attributes in disciplines.items():
        settings: dict[str, Any] = {
            "qdisc": qdisc,
            "qdisc_attributes": attributes,
            "qlen": None if qdisc == "PrioQueueDisc" else "30p",
            "rtts": ["15ms", "20ms", "25ms"],
        }
        yield _case(f"priority/{qdisc}", tos=[16, 0, 24], **settings)
        yield _case(f"priority/{qdisc}-ecn", tos=[16, 0, 0], tcp={"UseEcn": "On"}, **settings)
    fast: dict[str, Any] = {"qdisc": "PfifoFastQueueDisc", "rtts": ["15ms"] * 4}
    yield _case("priority/all", tos=[0, 8, 16, 24], **fast)
    yield _case("priority/all-tight", tos=[0, 8, 16, 24], **{**fast, "qlen": "5p"})
    yield _case(
        "priority/starved", tos=[16, 8], starts=["1s", "0s"], **{**fast, "rtts": ["15ms"] * 2}
    )
    yield _case("priority/late", tos=[0, 8, 252, 4], starts=["0s", "1s", "2s", "0s"], **fast)
    yield _case(
        "priority/transfers",
        tos=[16, 8],
        applications=[{"type": "Greedy", "bytes": "300000B"}, "Greedy"],
        **{**fast, "rtts": ["15ms"] * 2},
    )
    yield _case(
        "priority/losses",
        tos=[16, 8, 0],
        loss=0.02,
        tcp={"UseEcn": "On"},
        **{**fast, "rtts": ["15ms"] * 3},
    )
    # The acknowledgements compete on the way back.
    back = {"rate": "300kbps", "qdisc": {"type": "PfifoFastQueueDisc"}, "device_queue": "1p"}
    yield _case(
        "priority/acks", return_tos=[16, 0, 8], reverse=back, **{**fast, "rtts": ["15ms"] * 3}
    )
    for cc in ("TcpDctcp", "TcpBbr"):
        yield _case(
            f"priority/{cc}",
            cc=[cc, "TcpNewReno"],
            tos=[16, 0],
            qdisc="FqCoDelQueueDisc",
            qdisc_attributes={"UseEcn": "true", "CeThreshold": "1ms"},
            rtts=["15ms"] * 2,
            tcp={"UseEcn": "On"},
        )


def device_queues() -> Iterator[Case]:
    """Devices with several transmit queues, under a discipline for each, one for all, or none."""

    def case(name: str, qdisc: Any, count: int = 4, **settings: Any) -> Case:
        forward = {
            "qdisc": qdisc,
            "device_queues": count,
            "device_select": settings.pop("select", "flow"),
        }
        common = {"rtts": ["15ms", "20ms", "25ms", "30ms", "17ms"]}
        return _case(f"mq/{name}", forward=forward, **{**common, **settings})

    def mq(*children: Any) -> dict[str, Any]:
        return {"type": "MqQueueDisc", "children": children}

    fifo = {"type": "FifoQueueDisc", "attributes": {"MaxSize": "15p"}}
    marking = {"UseEcn": "true"}
    for child in registry.compared("qdisc"):
        if child not in ("MqQueueDisc", "BurstReleaseQueueDisc", "SharedBufferQueueDisc"):
            known = registry.parameters("qdisc", child)
            attributes = {"MaxSize": "25p"} if "MaxSize" in known else {}
            yield case(child, mq({"type": child, "attributes": attributes}), 3)
    yield case("fifo", mq(fifo))
    yield case("two", mq(fifo), 2)
    yield case("sixteen", mq(fifo), 16)
    yield case("unlike", mq(fifo, "CoDelQueueDisc", "PieQueueDisc", "FqCoDelQueueDisc"))
    yield case("deep", mq(fifo), device_queue="5p")
    yield case("bytes", mq(fifo), device_queue="4000B")
    yield case("delayed-ack", mq(fifo), delayed_ack_count=2)
    yield case("loss", mq("CobaltQueueDisc"), loss=0.01)
    for child in ("CoDelQueueDisc", "FqCoDelQueueDisc", "RedQueueDisc"):
        ecn = {"type": child, "attributes": {**marking, "MaxSize": "40p"}}
        yield case(f"ecn-{child}", mq(ecn), 2, tcp={"UseEcn": "On"})
    classes = [16, 24, 0, 8, 0]
    for count in (2, 3, 4):
        yield case(f"priority-{count}", mq(fifo), count, select="priority", tos=classes)
    yield case("priority-codel", mq("CoDelQueueDisc"), select="priority", tos=classes)
    yield case(
        "priority-deep", mq(fifo), select="priority", tos=classes, device_queue="8p", qlen="40p"
    )
    # One discipline over all queues: a stopped queue holds up what is behind its packet.
    yield case("one-fifo", fifo)
    yield case("one-fq", "FqCoDelQueueDisc", 3)
    yield case("one-tbf", {"type": "TbfQueueDisc", "attributes": {"Rate": "12Mbps"}}, 2)
    yield case("one-priority", fifo, select="priority", tos=classes)
    yield case("one-pie", "PieQueueDisc", 2)
    yield case("one-red", {"type": "RedQueueDisc", "attributes": {"MaxSize": "30p"}}, 2)
    yield case("none", None, device_queue="10p")
    yield case("none-tight", None, device_queue="1p")
    yield case("none-priority", None, device_queue="6p", select="priority", tos=classes)
    back = {"rate": "300kbps", "qdisc": mq(fifo), "device_queues": 2, "device_queue": "1p"}
    yield _case("mq/acks", rtts=["15ms", "20ms", "25ms"], reverse=back)
    yield case("change", mq(fifo), changes=[{"time": "1s", "rate": "4Mbps"}])


#: What each discipline is run with besides its defaults.
_QDISC_VARIANTS: dict[str, tuple[dict[str, str], ...]] = {
    "CoDelQueueDisc": (
        {"Target": "1ms"},
        {"Target": "20ms"},
        {"Interval": "20ms"},
        {"Target": "2ms", "Interval": "10ms"},
        {"MinBytes": "9000"},
    ),
    "FqCoDelQueueDisc": (
        {"Target": "1ms"},
        {"Target": "2ms", "Interval": "10ms"},
        {"Flows": "1"},
        {"Flows": "2"},
        {"DropBatchSize": "2"},
        {"EnableSetAssociativeHash": "true", "Flows": "16"},
        {"Perturbation": "7"},
    ),
    "PieQueueDisc": (
        {"QueueDelayReference": "5ms"},
        {"UseDequeueRateEstimator": "true"},
        {"UseDerandomization": "true"},
        {"UseCapDropAdjustment": "false"},
        {"MaxBurstAllowance": "10ms", "Tupdate": "30ms"},
        {"ActiveThreshold": "20ms"},
        {"ActiveThreshold": "20ms", "UseDequeueRateEstimator": "true"},
    ),
    "FqPieQueueDisc": (
        {"QueueDelayReference": "5ms"},
        {"Flows": "1"},
        {"UseDequeueRateEstimator": "true"},
        {"UseDerandomization": "true"},
    ),
    "CobaltQueueDisc": (
        {"Target": "1ms", "Interval": "10ms"},
        {"BlueThreshold": "10ms"},
        {"Pdrop": "0.02"},
    ),
    "FqCobaltQueueDisc": ({"Target": "1ms", "Interval": "10ms"}, {"Flows": "1"}),
    "RedQueueDisc": (
        {"MinTh": "10", "MaxTh": "40"},
        {"Gentle": "false"},
        {"ARED": "true"},
        {"FengAdaptive": "true"},
        {"NLRED": "true"},
        {"Wait": "false", "QW": "0.02"},
        {"UseHardDrop": "false", "UseEcn": "true"},
        # Weights that RED works out by itself.
        {"QW": "0"},
        {"QW": "-1"},
        {"QW": "-1", "LinkDelay": "200ms"},
        {"QW": "-2"},
        {"MinTh": "15", "MaxTh": "15"},
        {"Ns1Compat": "true", "QW": "0.2"},
        {"ARED": "true", "TargetDelay": "50ms"},
        {"ARED": "true", "AdaptMaxP": "true", "Bottom": "1"},
    ),
    "TbfQueueDisc": (
        {"Rate": "12Mbps", "Burst": "15000"},
        {"Rate": "30Mbps"},
        {"Rate": "8Mbps", "Burst": "30000", "PeakRate": "14Mbps", "Mtu": "3000"},
    ),
    "BurstReleaseQueueDisc": ({"Quota": "3"}, {"Interval": "20ms", "Quota": "20"}),
}


GROUPS: Sequence[Callable[[], Iterable[Case]]] = (
    queue_disciplines,
    priorities,
    children,
    device_queues,
)
