"""The part of the matrix about what hardly ever matters: equalities, single bytes, states that few
segments meet.  `make mutants` has found that without these scenarios nobody would notice a mistake
there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.scenario import Scenario
from ccperf.verify.case import Case
from ccperf.verify.case import case as _case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_BACK: dict[str, Any] = {"qdisc": "FifoQueueDisc", "device_queue": "1p"}
_ECN = {"UseEcn": "On"}


def _set(algorithm: str, **attributes: str) -> dict[str, Any]:
    return {"type": algorithm, "attributes": attributes}


def controls() -> Iterator[Case]:
    """Congestion controls at their own thresholds."""
    pauses = {"type": "OnOff", "rate": "20Mbps", "on_time": "300ms", "off_time": "400ms"}
    idle = _set("TcpBbr", RttWindowLength="500ms")
    yield _case("boundary/bbr-probes-the-rtt-between-pauses", cc=idle, applications=pauses)
    # A target of seven segments, which the window reaches by whole ones.
    for rtt in ("20ms", "25ms"):
        yield _case(
            f"boundary/bbr-window-at-its-target-{rtt}",
            cc=_set("TcpBbr", HighGain="1"),
            rtts=rtt,
            initial_cwnd=4,
            rate="100Mbps",
            stop="300ms",
        )
    yield _case(
        "boundary/bbr-application-with-a-full-window",
        cc="TcpBbr",
        applications={"type": "CBR", "write": "1000B", "rate": "17Mbps"},
        packets=2_500,
    )
    # An ACK delivers what was in flight when the application ran dry, to the byte.
    yield _case(
        "boundary/bbr-application-with-nagle",
        cc="TcpBbr",
        applications={"type": "CBR", "write": "1200B", "rate": "3.2Mbps"},
        tcp={"TcpNoDelay": False},
        rate="4Mbps",
        rtts="10ms",
        qlen="1000p",
        initial_cwnd=4,
        stop="1s",
    )
    # A link that is faster by a quarter, to the bit: what start-up takes for growth.
    yield _case(
        "boundary/bbr-grows-by-a-quarter",
        cc="TcpBbr",
        rate="9612800bps",
        rtts="20ms",
        qlen="1000p",
        tcp={"DelAckCount": 2},
        changes=[{"time": "100ms", "rate": "12016000bps"}],
        stop="2s",
    )
    # After a timeout that was not needed ACKs deliver what gives no sample.
    yield _case(
        "boundary/bbr-delivers-without-a-sample",
        cc="TcpBbr",
        rate="8Mbps",
        qlen="100p",
        tcp={"MinRto": "200ms"},
        changes=[{"time": "500ms", "delay": "1s"}, {"time": "2500ms", "delay": "5ms"}],
        stop="5s",
    )
    # An ACK comes when the cube of its distance from K is a whole number, to the bit.
    yield _case(
        "boundary/cubic-curve-at-a-whole-segment",
        cc=_set("TcpCubic", C="1", HyStart="false", TcpFriendliness="false"),
        tcp={"InitialSlowStartThreshold": 20 * 1448, "DelAckCount": 2},
        rate="6008000bps",
        rtts="10ms",
        qlen="11p",
        stop="6s",
    )
    # The first minute is over just after slow start.
    yield _case(
        "boundary/ledbat-second-base-delay",
        cc=_set("TcpLedbat", BaseHistoryLen="1"),
        rate="2Mbps",
        rtts="50ms",
        qlen="50p",
        starts="60.2s",
        stop="63s",
    )
    yield _case(
        "boundary/yeah-queue-of-alpha",
        cc=_set("TcpYeah", Alpha="8", Phy="1"),
        rate="8Mbps",
        rtts="40ms",
        packets=3_000,
    )
    yield _case(
        "boundary/yeah-tiny-window",
        cc=_set("TcpYeah", Alpha="1"),
        rate="2Mbps",
        rtts="10ms",
        qlen="4p",
        packets=2_000,
        loss=0.01,
    )


def disciplines() -> Iterator[Case]:
    """Queue disciplines at their own thresholds."""

    def pie(name: str, attributes: dict[str, str], **settings: Any) -> Case:
        settings = {"qlen": "60p", **settings}
        kind = "PieQueueDisc"
        return _case(f"boundary/pie-{name}", qdisc=kind, qdisc_attributes=attributes, **settings)

    every = {"UseDequeueRateEstimator": "true", "DequeueThreshold": "100"}
    slow = {"Tupdate": "300ms", "MaxBurstAllowance": "0s"}
    yield pie("rate-of-one-packet", every | slow, rate="4Mbps", packets=1_500)
    quick = {"QueueDelayReference": "1ms", "MaxBurstAllowance": "0s"}
    yield pie("turned-on", {"ActiveThreshold": "2ms"} | quick, flows=2)
    short_medium_endless = [
        {"type": "Greedy", "bytes": "100B"},
        {"type": "Greedy", "bytes": "60000B"},
        "Greedy",
    ]
    # A burst on the second of three updates that are calm.
    yield pie(
        "burst-between-calm-updates",
        {"Tupdate": "1s", "MaxBurstAllowance": "500ms", "QueueDelayReference": "30ms"},
        rate="2Mbps",
        qlen="200p",
        rtts=["15ms"] * 3,
        starts=["100ms", "1.95s", "4.1s"],
        applications=short_medium_endless,
        stop="8s",
    )
    # A delay of half the reference, to the bit, at one update; the last flow shows the consequence.
    half = {"QueueDelayReference": "96529960ns", "Tupdate": "2s", "MaxBurstAllowance": "1s"}
    yield pie(
        "half-the-reference",
        half | {"B": "1000"},
        rate="2Mbps",
        qlen="200p",
        rtts=["15ms"] * 3,
        starts=["100ms", "1.93s", "6.2s"],
        applications=short_medium_endless,
        stop="11s",
    )
    yield _case(
        "boundary/fq-pie-drops-what-it-marked",
        qdisc="FqPieQueueDisc",
        qlen="500p",
        rate="4Mbps",
        flows=40,
        packets=4_000,
        qdisc_attributes={"Flows": "1", "UseEcn": "true"},
        tcp=_ECN,
    )
    # Packets larger than the whole queue, beside small ones.
    refusing = [_set("PieQueueDisc", MaxSize="600B"), _set("FifoQueueDisc", MaxSize="20p")]
    yield _case(
        "boundary/dwrr-class-that-refuses",
        transports=["UDP", "TCP"],
        cc=[None, "TcpNewReno"],
        rtts=["15ms", "30ms"],
        applications=[{"type": "CBR", "write": "1000B", "rate": "3Mbps"}, "Greedy"],
        forward={"qdisc": _set("DwrrQueueDisc", Quanta="1500 1500") | {"children": refusing}},
        dscps=[0, 1],
        packets=3_000,
        pings=[{"source": "src_0", "destination": "dst_0", "interval": "1.3ms"}],
    )
    bands = [_set("PfifoFastQueueDisc", MaxSize="10p")] * 2
    yield _case(
        "boundary/dwrr-of-pfifo-fast",
        cc=["TcpNewReno"] * 2,
        rtts=["15ms", "30ms"],
        forward={"qdisc": _set("DwrrQueueDisc", Quanta="3000 1500") | {"children": bands}},
        dscps=[0, 1],
        packets=3_000,
    )

    def red(name: str, qlen: str, **attributes: str) -> Case:
        kind = "RedQueueDisc"
        settings: dict[str, Any] = {"qdisc": kind, "qdisc_attributes": attributes, "qlen": qlen}
        return _case(f"boundary/red-{name}", flows=4, **settings)

    whole = {"QW": "1", "AdaptMaxP": "true", "Interval": "100ms"}
    yield red("whole-averages", "60p", MinTh="4", MaxTh="14", **whole)
    yield red("least-average", "60p", FengAdaptive="true", MinTh="0", MaxTh="10")
    yield red("whole-averages-feng", "60p", FengAdaptive="true", QW="1", MinTh="4", MaxTh="14")
    mean = {"MeanPktSize": "1501", "Wait": "false", "LInterm": "5"}
    yield red("almost-a-mean-packet", "90000B", MinTh="5000", MaxTh="30000", **mean)


def sockets() -> Iterator[Case]:
    """Single bytes, and segments that come to sockets that do not expect them."""
    yield _case(
        "boundary/one-byte-out-of-order",
        applications={"type": "CBR", "write": "1B", "rate": "16kbps"},
        loss=0.02,
        delayed_ack_count=2,
        tcp={"Sack": "false"},
        stop="600ms",
    )
    yield _case(
        "boundary/one-byte-of-room",
        buffer=14_481,
        applications={"type": "Greedy", "write": "1B", "bytes": "100000B"},
        packets=2_000,
    )
    # Writes 1.2 s apart, the next while the timer of the last would still run.
    yield _case(
        "boundary/write-after-a-pause",
        applications={"type": "CBR", "rate": "9.6kbps", "write": "1448B"},
        rtts="500ms",
        stop="15s",
    )
    # ACKs of nothing after a timeout that was not needed, then one segment that is marked.
    for recovery in ("TcpPrrRecovery", "PrrRfc6937"):
        yield _case(
            f"boundary/echo-after-an-ack-of-nothing-{recovery}",
            applications=[{"type": "CBR", "rate": "24kbps", "write": "1200B"}, "Greedy"],
            recovery=recovery,
            qdisc="CoDelQueueDisc",
            qlen="100p",
            qdisc_attributes={"UseEcn": "true", "CeThreshold": "1ms"},
            tcp={**_ECN, "MinRto": "50ms"},
            changes=[{"time": "500ms", "delay": "150ms"}, {"time": "900ms", "delay": "5ms"}],
            rate="8Mbps",
            stop="5s",
        )
    # Late packets beside marks: from Disorder to CWR, and duplicates that CWR has counted.
    marks = {"UseEcn": "true", "CeThreshold": "1ms", "MaxSize": "100p"}
    late = {"probability": 0.05, "delay": "4ms"}
    for cc, seed in (("TcpVegas", 3), ("TcpVeno", 1)):
        yield _case(
            f"boundary/late-and-marked-{cc}",
            cc=cc,
            qlen=None,
            forward={"qdisc": _set("CoDelQueueDisc", **marks), "reordering": late},
            reverse={**_BACK, "loss": 0.1},
            tcp=_ECN,
            seed=seed,
            packets=3_000,
        )
    # The receiver leaves while the last segments are on their way for the second time.
    yield _case(
        "boundary/reset-after-the-fin",
        applications={"type": "Greedy", "bytes": f"{60 * 1448}B"},
        drop=[30, 61, 62, 63],
        receiver_stops="1s",
        tcp={"MinRto": "3s"},
        rate="8Mbps",
        stop="10s",
    )
    yield _case(
        "boundary/syn-after-the-receiver-has-left",
        applications={"type": "Greedy", "bytes": "100B"},
        rtts="1s",
        changes=[{"time": "510ms", "delay": "1ms"}],
        tcp={"ConnTimeout": "30ms"},
        receiver_stops="570ms",
        stop="5s",
    )
    yield _case(
        "boundary/never-connected-without-timestamps",
        starts=["1s"],
        receiver_stops="500ms",
        tcp={"Timestamp": "false"},
        stop="4s",
    )


def links() -> Iterator[Case]:
    """The very nanosecond in which a fault begins, the very number that decides on a delay."""
    # The first number that the stream of this seed draws.
    late = {"probability": 0.21895510529695592, "delay": "40ms"}
    yield _case("boundary/late-below-the-number", forward={"reordering": late}, packets=300)
    scenario = _case("boundary/fault-from-an-arrival-on", packets=300).scenario
    # The SYN reaches the router on the right at 6,529,058 ns.
    fault = {"node": "right", "start": "6529058ns", "stop": "6529059ns"}
    yield Case(Scenario.model_validate({**scenario.model_dump(), "faults": [fault]}))


GROUPS: Sequence[Callable[[], Iterable[Case]]] = (controls, disciplines, sockets, links)
