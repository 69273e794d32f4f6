"""The scenarios on which the engine is regularly compared with real ns-3.

Each function yields one group: what it varies, over which values.  To cover something new, add a
line to a group or write another one; `GROUPS` lists them.  Names are `group/what`, and stable.

A packet-hop is one packet through one queue and link; a data packet and its ACK make six on the
dumbbell.  Scenarios are cut so that each stays below `MAX_HOPS`, except those marked heavy.
"""

from __future__ import annotations

import json
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

from ccperf import _native, data
from ccperf.algorithms import registry
from ccperf.experiments import catalogue, traces
from ccperf.experiments.catalogue.parameter import written
from ccperf.scenario import ScenarioWarning
from ccperf.verify import (
    balancing,
    boundaries,
    connections,
    controls,
    datacentre,
    datagrams,
    fabrics,
    flow_monitoring,
    fragments,
    impairments,
    parking_lots,
    queues,
    rtt_variation,
    switches,
    traffic,
    workloads,
)
from ccperf.verify.case import RECOVERIES as _RECOVERIES
from ccperf.verify.case import Case
from ccperf.verify.case import bdp as _bdp
from ccperf.verify.case import case as _case
from ccperf.verify.case import duration_ns as _ns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ccperf.scenario import Scenario

__all__ = ["Case", "cases", "representative"]

MAX_HOPS = 150_000


def cases(pattern: str = "*") -> list[Case]:
    """Return the cases whose names match `pattern` (`fnmatch`), in order of groups."""
    from fnmatch import fnmatchcase

    return [case for _, group in by_function() for case in group if fnmatchcase(case.name, pattern)]


def representative() -> list[Case]:
    """Return the part for every day, in order of groups: it has each algorithm and each attribute
    of a socket, and notices nine of ten mistakes planted in the engine (`make mutants`).
    """
    names = set(json.loads(data.text("slice.json")))
    return [case for case in cases() if case.name in names]


@cache
def by_function() -> Sequence[tuple[Callable[[], Iterable[Case]], Sequence[Case]]]:
    """Return all cases by the function that makes them; they are made once, in a few seconds."""
    with warnings.catch_warnings():
        # Queues that mark nothing, or let nothing through, are cases, too.
        warnings.simplefilter("ignore", ScenarioWarning)
        return [(function, tuple(function())) for function in GROUPS]


# The published experiments and the rest of the catalogue's grids.


def published() -> Iterator[Case]:
    """The four scenarios whose result tables are published."""
    for experiment in catalogue.REGISTRY.values():
        for page in experiment.published:
            scenario = experiment.scenario("TcpNewReno", **page.parameters)
            yield Case(_named(f"published/{experiment.name}", scenario), heavy=True)


def grids() -> Iterator[Case]:
    """The catalogue's grids, cut short: some thousand packets after the last thing that happens."""
    for experiment in catalogue.REGISTRY.values():
        for point in map(_soon, experiment.grid()):
            values = "-".join(str(value) for name, value in point.items() if name != "samples")
            scenario = experiment.scenario("TcpNewReno", **point)
            fastest = _fastest(scenario)
            begin = [f.start for f in scenario.flows] if "start_times" in point else ["0s"]
            times = [*begin, *(change.time for change in scenario.changes)]
            packets = 9_000 if isinstance(experiment, catalogue.PublishedExperiment) else 5_000
            stop = max(map(_native.parse_time, times)) + _ns(fastest, packets)
            stop = min(stop, _native.parse_time(scenario.stop_time))
            cut = experiment.scenario("TcpNewReno", stop_time=_native.format_time(stop), **point)
            yield Case(_named(f"{experiment.name}/{values}", cut))


def _fastest(scenario: Scenario) -> int:
    """The bottleneck's highest rate forward, in bit/s."""
    bottleneck = scenario.links[0]
    scheduled = [rate for s in bottleneck.schedules for rate in s.rates_bps or ()]
    texts = [bottleneck.rate, *(change.rate for change in scenario.changes)]
    return max(scheduled or [_native.parse_rate(text) for text in texts if text])


def _soon(point: dict[str, Any]) -> dict[str, Any]:
    """The point with flows that start within what a brief run can show, and all samples."""
    if "samples" in point:
        return {**point, "samples": "all"}
    if "start_times" not in point:
        return point
    return {**point, "start_times": written([f"{300 * i}ms" for i in range(point["k"])])}


# The path.


def rates() -> Iterator[Case]:
    """From a slow modem to 10 Gbps, with a queue of one bandwidth-delay product."""
    for rate in ("500kbps", "1Mbps", "2Mbps", "4Mbps", "33Mbps", "100Mbps", "333Mbps", "1Gbps"):
        yield _case(f"rate/{rate}", rate=rate, qlen=_bdp(rate, "15ms"))
    for rate, recovery in (("10Gbps", "TcpPrrRecovery"), ("2.5Gbps", "PrrRfc6937")):
        yield _case(
            f"rate/{rate}",
            rate=rate,
            rtts="1ms",
            qlen="100p",
            recovery=recovery,
            access_rate="40Gbps",
            access_delay="125us",
            packets=15_000,
        )


def round_trips() -> Iterator[Case]:
    """From a rack to a geostationary satellite."""
    for rtt in ("100us", "1ms", "5ms", "33.333334ms", "100ms", "300ms", "800ms"):
        access = "25us" if rtt == "100us" else "250us" if rtt == "1ms" else "1ms"
        yield _case(
            f"rtt/{rtt}",
            rate="16Mbps",
            rtts=rtt,
            qlen=_bdp("16Mbps", rtt),
            access_delay=access,
            packets=12_000,
        )


def queue_lengths() -> Iterator[Case]:
    """From one packet to four bandwidth-delay products, in packets and in bytes."""
    for qlen in ("1p", "2p", "3p", "5p", "10p", "40p", "80p", "1500B", "7500B", "30000B", "31000B"):
        yield _case(f"queue/{qlen}", qlen=qlen)
    for device_queue in ("2p", "10p", "100p", "4500B"):
        yield _case(f"queue/device-{device_queue}", qlen="10p", device_queue=device_queue)


def changes() -> Iterator[Case]:
    """Rates and delays that change on schedule; a shorter delay lets packets overtake."""
    steps: dict[str, list[dict[str, Any]]] = {
        "rate-up": [{"time": "1s", "rate": "64Mbps"}],
        "rate-down": [{"time": "1s", "rate": "3Mbps"}],
        "rate-forward": [{"time": "1s", "rate": "5Mbps", "direction": "forward"}],
        "rate-reverse": [{"time": "1s", "rate": "100kbps", "direction": "reverse"}],
        "delay-up": [{"time": "1s", "delay": "50ms"}],
        "delay-down": [{"time": "1s", "delay": "100us"}],
        "delay-saw": [
            {"time": f"{100 * i}ms", "delay": "1ms" if i % 2 else "12ms"} for i in range(1, 20)
        ],
        "both": [{"time": "777777777ns", "rate": "8Mbps", "delay": "2ms"}],
        "little-loss": [{"time": "500ms", "loss": 0.0009}],
        "same-time": [{"time": "1s", "rate": "8Mbps"}, {"time": "1s", "rate": "24Mbps"}],
    }
    for name, series in steps.items():
        yield _case(f"change/{name}", rtts=["15ms", "25ms"], qlen="20p", changes=series)


def schedules() -> Iterator[Case]:
    """Columns of rates, delays and losses: of traces, and of walks on a grid that makes ties."""
    for name in traces.packaged():
        yield _case(
            f"schedule/{name}",
            rate="60Mbps",
            rtts=["30ms", "40ms"],
            qlen="60p",
            schedules=traces.load(name).schedules(1_500_000_000),
            stop="1.5s",
        )
    count = 150
    times = [10_000_000 * i for i in range(count)]
    rates = traces.Walk(4e6, 32e6, correlation=0.5, step=2e6, stream="1").values(count)
    delays = traces.Walk(1e6, 20e6, correlation=0.9, step=1e6, stream="2").values(count)
    rate = {"times_ns": times, "rates_bps": [round(r / 1e6) * 1_000_000 for r in rates]}
    delay = {"times_ns": times, "delays_ns": [round(d / 1e6) * 1_000_000 for d in delays]}
    # Changes in the instants of the first rows, whose numbers say which is last.
    few = {"times_ns": [300_000_000 * i for i in range(1, 6)], "rates_bps": [8_000_000] * 5}
    steps = [{"time": f"{300 * i}ms", "rate": "24Mbps"} for i in range(1, 6)]
    yield _case("schedule/ties", schedules=[few], changes=steps, stop="1.7s")
    losses = [0.02 if i % 7 == 0 else 0.0 for i in range(count)]
    loss = {"times_ns": times, "losses": losses, "direction": "reverse"}
    for name, chosen in (
        ("walk-rate", [rate]),
        ("walk-delay", [delay]),
        ("walk-all", [rate, delay, loss]),
    ):
        step = [{"time": "1s", "rate": "8Mbps"}]
        yield _case(f"schedule/{name}", schedules=chosen, stop="1.5s", changes=step)


def losses() -> Iterator[Case]:
    """Random loss: both sides draw the same numbers."""
    for loss in (0.001, 0.01, 0.05, 0.2):
        yield _case(f"loss/{loss}", loss=loss)
    yield _case("loss/seed", loss=0.02, seed=7)
    yield _case("loss/two-flows", loss=0.02, rtts=["15ms", "22ms"])


# The flows.


def collisions() -> Iterator[Case]:
    """Arrivals in the same nanosecond at a full queue, and on the ends of transmissions.

    A bottleneck spaces what passes it, so flows fall into lockstep only where something lets their
    packets go together: a way back that releases ACKs in slots, at a rate that takes no time, or a
    link that is infinitely fast during the handshakes and then slow.
    """
    slots = {
        "rate": "1Tbps",
        "qdisc": {
            "type": "BurstReleaseQueueDisc",
            "attributes": {"Interval": "5ms", "Quota": "60", "MaxSize": "10000p"},
        },
        "device_queue": "1000p",
    }
    for flows in (2, 3, 5, 10, 20, 50):
        for qlen in ("5p", "20p"):
            yield _case(f"collision/slots-{flows}-{qlen}", flows=flows, qlen=qlen, reverse=slots)
    for recovery in _RECOVERIES:
        yield _case(f"collision/{recovery}", flows=4, qlen="7p", recovery=recovery, reverse=slots)
    for qdisc in ("CoDelQueueDisc", "FqCoDelQueueDisc"):
        yield _case(f"collision/{qdisc}", flows=8, qlen="12p", qdisc=qdisc, reverse=slots)
    yield _case("collision/delayed-ack", flows=6, qlen="9p", delayed_ack_count=2, reverse=slots)
    for flows in (3, 10, 30):
        yield _case(
            f"collision/start-{flows}",
            rate="1Tbps",
            flows=flows,
            changes=[{"time": "16ms", "rate": "16Mbps"}],
            stop="4s",
        )
    # The SYNs alone: 20 at once, room for four.
    yield _case("collision/syn", flows=20, qlen="2p", rate="8Mbps", packets=8_000)
    # Access as fast as the bottleneck.
    for flows in (1, 2, 4):
        yield _case(f"collision/access-{flows}", flows=flows, access_rate="16Mbps")


def mixtures() -> Iterator[Case]:
    """Unequal round trips, late starts, early stops, shared hosts."""
    yield _case("mixture/rtts", rtts=["10ms", "40ms"])
    yield _case("mixture/many-rtts", rtts=[f"{10 + 7 * i}ms" for i in range(10)], qlen="50p")
    yield _case("mixture/starts", rtts=["15ms"] * 3, starts=["0s", "500ms", "1.234567s"])
    yield _case("mixture/stops", rtts=["15ms"] * 3, stops=["1s", "2s", "2.5s"])
    yield _case(
        "mixture/in-and-out", rtts=["20ms", "30ms"], starts=["0s", "1s"], stops=["2s", "3s"]
    )
    yield _case("mixture/shared-hosts", sources=["a"] * 3, destinations=["b"] * 3, flows=3)
    yield _case("mixture/shared-source", sources=["a"] * 3, flows=3)
    yield _case("mixture/recoveries", rtts=["15ms"] * 3, recovery=list(_RECOVERIES))
    yield _case("mixture/ccs", cc=["TcpNewReno", "TcpCubic", "TcpVegas"], rtts=["15ms"] * 3)


def transfers() -> Iterator[Case]:
    """Finite transfers: lengths around segments, writes and windows."""
    for size in (1, 511, 512, 513, 1448, 14_480, 14_481, 100_000, 1_000_000):
        yield _case(f"transfer/{size}B", applications={"type": "Greedy", "bytes": f"{size}B"})
    for write in (1, 1448, 10_000):
        greedy = {"type": "Greedy", "bytes": "20000B" if write == 1 else "0B", "write": f"{write}B"}
        yield _case(f"transfer/write-{write}B", applications=greedy, packets=3_000)
    # Segments of one byte, some of which are lost.
    single = {"type": "CBR", "write": "1B", "rate": "16kbps"}
    for cc in ("TcpNewReno", "TcpBbr"):
        yield _case(f"transfer/bytes-{cc}", applications=single, cc=cc, loss=0.05, stop="3s")
    yield _case(
        "transfer/two",
        applications=[
            {"type": "Greedy", "bytes": "300000B"},
            {"type": "Greedy", "bytes": "700000B"},
        ],
        rtts=["15ms"] * 2,
    )


# TCP.


def recoveries() -> Iterator[Case]:
    """The three loss recoveries, with SACK and without, over shallow and deep queues."""
    for recovery in _RECOVERIES:
        for sack in ("true", "false"):
            for qlen in ("4p", "20p"):
                name = f"recovery/{recovery}-{'sack' if sack == 'true' else 'nosack'}-{qlen}"
                yield _case(name, recovery=recovery, qlen=qlen, tcp={"Sack": sack})
    for recovery in _RECOVERIES:
        yield _case(
            f"recovery/{recovery}-long",
            rate="50Mbps",
            rtts="60ms",
            qlen="100p",
            recovery=recovery,
            packets=20_000,
        )


def sockets() -> Iterator[Case]:
    """Options of the socket, one at a time."""
    yield _case("socket/delayed-ack", delayed_ack_count=2)
    yield _case("socket/delayed-ack-nosack", delayed_ack_count=2, tcp={"Sack": "false"})
    yield _case("socket/delayed-ack-flows", delayed_ack_count=2, flows=5, qlen="10p")
    yield _case("socket/delayed-ack-4", delayed_ack_count=4)
    for window in (1, 2, 4, 40):
        yield _case(f"socket/initial-window-{window}", initial_cwnd=window)
    for segment in (100, 536, 1000):
        yield _case(f"socket/segment-{segment}", mss=segment, packets=3_000)
    for buffer in (3_000, 8_192, 32_768, 65_536, 131_072):
        yield _case(f"socket/buffer-{buffer}", buffer=buffer)
    yield _case("socket/small-receiver", tcp={"RcvBufSize": 20_000})
    yield _case("socket/small-sender", tcp={"SndBufSize": 20_000})
    yield _case("socket/no-timestamps", tcp={"Timestamp": "false"})
    yield _case("socket/no-window-scaling", tcp={"WindowScaling": "false"}, rtts="100ms")
    yield _case("socket/no-limited-transmit", tcp={"LimitedTransmit": "false"}, qlen="3p")
    yield _case("socket/reordering-threshold", tcp={"ReTxThreshold": 5})
    yield _case("socket/min-rto", tcp={"MinRto": "200ms"}, qlen="2p")
    yield _case("socket/defaults", mss=536, delayed_ack_count=2, buffer=131_072)


def ecn() -> Iterator[Case]:
    """Marking by CoDel and FqCoDel, with and without a CE threshold, and a sender that declines."""
    for qdisc in ("CoDelQueueDisc", "FqCoDelQueueDisc"):
        for threshold in (None, "500us", "2ms"):
            attributes = {"UseEcn": "true"}
            if threshold:
                attributes["CeThreshold"] = threshold
            for flows in (1, 4):
                yield _case(
                    f"ecn/{qdisc}-{threshold or 'law'}-{flows}",
                    qdisc=qdisc,
                    qdisc_attributes=attributes,
                    flows=flows,
                    tcp={"UseEcn": "On"},
                )
    for setting in ("Off", "AcceptOnly"):
        yield _case(
            f"ecn/{setting}",
            qdisc="CoDelQueueDisc",
            qdisc_attributes={"UseEcn": "true"},
            tcp={"UseEcn": setting},
        )
    # DCTCP's receiver acknowledges at once what arrived before the marks began or ended.
    for count in (2, 4):
        yield _case(
            f"ecn/TcpDctcp-delayed-ack-{count}",
            cc="TcpDctcp",
            delayed_ack_count=count,
            qdisc="CoDelQueueDisc",
            qdisc_attributes={"UseEcn": "true", "CeThreshold": "1ms"},
            tcp={"UseEcn": "On"},
        )
    for recovery in _RECOVERIES:
        yield _case(
            f"ecn/{recovery}",
            qdisc="CoDelQueueDisc",
            qdisc_attributes={"UseEcn": "true", "CeThreshold": "1ms"},
            qlen="8p",
            recovery=recovery,
            tcp={"UseEcn": "On"},
        )


def scripted_losses() -> Iterator[Case]:
    """Chosen packets lost, so that every branch of recovery and timeout is walked.

    Numbers count the arrivals on the bottleneck: 0 is the SYN, 1 the handshake's ACK.
    """
    burst = list(range(60, 75))
    lost: dict[str, list[int]] = {
        "syn": [0],
        "syn-twice": [0, 1],
        "handshake-ack": [1],
        "first-data": [2],
        "initial-window": list(range(2, 12)),
        "single": [100],
        "two-apart": [100, 110],
        "burst": burst,
        "alternate": list(range(100, 130, 2)),
        "long-burst": list(range(60, 140)),
        "two-bursts": [*burst, *range(120, 130)],
        "every-tenth": list(range(50, 1000, 10)),
    }

    def case(name: str, **settings: Any) -> Case:
        # Slow, so that the stop leaves time for three timeouts of the SYN.
        return _case(f"drop/{name}", rate="8Mbps", qlen="200p", packets=8_000, **settings)

    for recovery in _RECOVERIES:
        for name, drop in lost.items():
            if recovery == "TcpPrrRecovery" or name in ("burst", "alternate", "every-tenth"):
                yield case(f"{name}-{recovery}", drop=drop, recovery=recovery)
    yield case("unordered", drop=[120, 60, 90])
    for name in ("single", "burst", "alternate", "long-burst"):
        yield case(f"{name}-nosack", drop=lost[name], tcp={"Sack": "false"})
    # A transfer of 60 segments: its tail, its FIN, and what is sent again.
    transfer = {"type": "Greedy", "bytes": f"{60 * 1448}B"}
    tails: dict[str, list[int]] = {
        "tail-1": [61],
        "tail-2": [60, 61],
        "tail-10": list(range(52, 62)),
        "again": [30, 62],
        "again-twice": [30, 62, 63, 64],
    }
    for name, drop in tails.items():
        yield case(name, drop=drop, applications=transfer)
    back = {"qdisc": "FifoQueueDisc", "device_queue": "1p"}
    for name, drop in (
        ("syn-ack", [0]),
        ("ack", [40]),
        ("acks", list(range(40, 60))),
        ("most-acks", [i for i in range(20, 600) if i % 5]),
    ):
        yield case(name, reverse={**back, "drop": drop})


def congestion_controls() -> Iterator[Case]:
    """Every congestion control of the registry: a shallow queue, a deep one, CoDel, two flows."""
    for cc in registry.compared("cc"):
        if cc == "TcpNewReno":
            continue
        yield _case(f"cc/{cc}-shallow", cc=cc, qlen="8p")
        yield _case(f"cc/{cc}-deep", cc=cc, rate="40Mbps", rtts="50ms", qlen="330p", packets=15_000)
        yield _case(
            f"cc/{cc}-ecn",
            cc=cc,
            qdisc="CoDelQueueDisc",
            qdisc_attributes={"UseEcn": "true", "CeThreshold": "1ms"},
            tcp={"UseEcn": "On"},
        )
        yield _case(f"cc/{cc}-fair", cc=[cc, "TcpNewReno"], rtts=["15ms", "30ms"], qlen="30p")


def late_starts() -> Iterator[Case]:
    """Every congestion control in a rack, from a late start and a large initial window on."""
    for cc in registry.compared("cc"):
        yield _case(
            f"start/{cc}-rack",
            cc=cc,
            rate="100Mbps",
            rtts="200us",
            access_delay="25us",
            qlen="60p",
            initial_cwnd=20,
            starts="3.000001ms",
        )
        yield _case(
            f"start/{cc}-two",
            cc=[cc, cc],
            rate="50Mbps",
            rtts=["100us", "700us"],
            access_delay="10us",
            qlen="25p",
            qdisc="CoDelQueueDisc",
            qdisc_attributes={"UseEcn": "true", "Target": "1ms", "Interval": "10ms"},
            initial_cwnd=40,
            delayed_ack_count=2,
            starts=["7.654321ms", "12.345678ms"],
            tcp={"UseEcn": "On", "MinRto": "10ms"},
        )


GROUPS: Sequence[Callable[[], Iterable[Case]]] = (
    published,
    grids,
    rates,
    round_trips,
    queue_lengths,
    changes,
    schedules,
    losses,
    collisions,
    mixtures,
    transfers,
    *traffic.GROUPS,
    *datagrams.GROUPS,
    *fragments.GROUPS,
    recoveries,
    sockets,
    ecn,
    *queues.GROUPS,
    scripted_losses,
    congestion_controls,
    late_starts,
    *controls.GROUPS,
    *connections.GROUPS,
    *datacentre.GROUPS,
    *rtt_variation.GROUPS,
    *flow_monitoring.GROUPS,
    *switches.GROUPS,
    *balancing.GROUPS,
    *workloads.GROUPS,
    *fabrics.GROUPS,
    *impairments.GROUPS,
    *parking_lots.GROUPS,
    *boundaries.GROUPS,
)


def _named(name: str, scenario: Scenario) -> Scenario:
    return scenario.model_copy(update={"label": name})
