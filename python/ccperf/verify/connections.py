"""The part of the matrix that walks a connection's life: how it opens, closes and is given up, its
windows, its pacing, and what arrives out of order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.scenario import Scenario
from ccperf.verify.case import Case
from ccperf.verify.case import case as _case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_ONE_SEGMENT = {"type": "Greedy", "bytes": "100B"}
_SIXTY_SEGMENTS = {"type": "Greedy", "bytes": f"{60 * 1448}B"}


def _back(**losses: Any) -> dict[str, Any]:
    """A way back that loses packets; it carries the SYN-ACK as number 0, then the ACKs."""
    return {"qdisc": "FifoQueueDisc", "device_queue": "1p", **losses}


def openings() -> Iterator[Case]:
    """Handshakes that fail, are answered late, or are over before they are complete."""
    yield _case("opening/stopped-before-the-answer", stops="5ms", stop="1s")
    instant: dict[str, Any] = {"starts": "5ms", "stops": "5ms", "stop": "1s"}
    source: dict[str, Any] = {"applications": {"type": "CBR", "rate": "1Mbps", "write": "900B"}}
    yield _case("opening/stopped-at-once", receiver_stops="5ms", **instant)
    yield _case("opening/stopped-at-once-listening", **instant, **source)
    yield _case("opening/stopped-at-once-UDP", transports="UDP", **instant, **source)
    yield _case("opening/reset-before-a-syn", stops="5ms", stop="5s", drop=[0])
    tries = {"ConnCount": 2, "ConnTimeout": "200ms"}
    yield _case("opening/syns-lost", tcp=tries, drop=[0, 1], stop="3s")
    yield _case("opening/answers-lost", tcp=tries, reverse=_back(drop=range(10)), stop="3s")
    yield _case("opening/answers-lost-ecn", tcp={"UseEcn": "On"}, reverse=_back(drop=[0, 1]))
    # The sender has given up when the answer comes, and resets.
    yield _case("opening/late", tcp={"ConnCount": 1, "ConnTimeout": "10ms"}, stop="3s")
    # So has the receiver, which starts anew with the next SYN.
    yield _case("opening/late-3", tcp={"ConnCount": 3, "ConnTimeout": "2ms"}, stop="3s")
    for lost in ([1], [1, 2], [1, 2, 3]):
        name = f"opening/fin-first-{len(lost)}"
        yield _case(name, applications=_ONE_SEGMENT, drop=lost, stop="12s")
    for sack in ("true", "false"):
        yield _case(
            f"opening/fin-first-gap-{'sack' if sack == 'true' else 'nosack'}",
            applications=_SIXTY_SEGMENTS,
            drop=range(1, 61),
            initial_cwnd=100,
            tcp={"Sack": sack},
            stop="20s",
        )
    # Repeated SYNs overtaken by the whole connection, which ends before they arrive.
    for lifetime in ("120", "0.02"):
        yield _case(
            f"opening/syn-after-the-end-{lifetime}",
            applications=_ONE_SEGMENT,
            rtts="1s",
            changes=[{"time": "510ms", "delay": "1ms"}],
            tcp={"ConnTimeout": "30ms", "MaxSegLifetime": lifetime},
            stop="5s",
        )
    # The first SYN comes, with an older timestamp, when the connection of its repeat is over.
    yield _case(
        "opening/overtaken-syn",
        applications=_ONE_SEGMENT,
        rtts="2s",
        starts="50ms",
        changes=[{"time": "100ms", "delay": "1ms"}],
        tcp={"ConnTimeout": "200ms", "MaxSegLifetime": "0.02"},
        stop="8s",
    )


def closings() -> Iterator[Case]:
    """FINs alone and with data, lost and repeated, TIME-WAIT, and connections given up."""
    short_wait = {"MaxSegLifetime": "0.2"}
    yield _case("closing/with-backlog", stops="1s", stop="3s", tcp=short_wait)
    # A buffer that is all in flight: the FIN goes alone.
    small = {"SndBufSize": 2896}
    yield _case("closing/fin-alone", stops="1s", stop="3s", tcp={**small, **short_wait})
    for stop in ("500ms", "1s"):
        yield _case(
            f"closing/stopped-{stop}-after-the-end",
            applications=_ONE_SEGMENT,
            tcp=short_wait,
            stops=stop,
            stop="3s",
        )
    for answers in (1, 2, 3, 10, 39):
        yield _case(
            f"closing/{answers}-answers-lost",
            applications=_ONE_SEGMENT,
            reverse=_back(drop=range(1, 1 + answers)),
            tcp={"DataRetries": 2} if answers > 10 else short_wait,
            stop="60s",
        )
    for lifetime in ("20", "0.1"):
        yield _case(
            f"closing/last-ack-lost-{lifetime}",
            applications=_ONE_SEGMENT,
            drop=[3],
            tcp={"MaxSegLifetime": lifetime},
            stop="10s",
        )
    yield _case(
        "closing/last-acks-lost",
        applications=_ONE_SEGMENT,
        drop=range(3, 30),
        tcp={"DataRetries": 3},
        stop="60s",
    )
    # Everything lost on one way or both, from just before the FIN on, for a while or for good.
    for direction in ("forward", "reverse", "both"):
        for until in ("1.1s", "3.5s", ""):
            lost = [{"time": "999ms", "loss": 1.0, "direction": direction}]
            if until:
                lost.append({"time": until, "loss": 0.0, "direction": direction})
            yield _case(
                f"closing/{direction}-silent-until-{until or 'the-end'}",
                changes=lost,
                tcp={**small, "DataRetries": 4, "MaxSegLifetime": "20"},
                stops="1s",
                stop="60s",
            )
    retries = {"DataRetries": 2, "MinRto": "100ms"}
    yield _case("closing/given-up", drop=range(40, 200), tcp=retries, stop="10s")
    acks = _back(drop=range(30, 200))
    yield _case("closing/given-up-acks", reverse=acks, tcp=retries, stop="10s")
    yield _case(
        "closing/given-up-acks-at-the-end",
        applications=_SIXTY_SEGMENTS,
        reverse=acks,
        tcp=retries,
        stop="10s",
    )
    # Timeouts that double until they may not grow further.
    yield _case(
        "closing/longest-timeout",
        changes=[{"time": "1s", "loss": 1.0}],
        tcp={"DataRetries": 9},
        stop="500s",
    )
    # ACKs that come when the sender is gone, so that it resets a receiver which is not.
    yield _case(
        "closing/given-up-too-early",
        changes=[{"time": "500ms", "delay": "300ms"}],
        tcp={"DataRetries": 1, "MinRto": "20ms"},
        stop="4s",
    )


def windows() -> Iterator[Case]:
    """Windows that are closed or tiny, segments cut by them, Nagle's algorithm."""
    # Until ns-3 ends with a null pointer: its listening socket probes the window, too.
    yield _case("window/closed", tcp={"MaxWindowSize": 0}, stop="5s")
    for sack in ("true", "false"):
        tiny = {"MaxWindowSize": 1, "RcvBufSize": 3000, "Sack": sack}
        yield _case(f"window/1-{'sack' if sack == 'true' else 'nosack'}", tcp=tiny, stop="2s")
    for scaling in ("true", "false"):
        tcp = {"MaxWindowSize": 1000, "WindowScaling": scaling}
        yield _case(f"window/1000-{'scaled' if scaling == 'true' else 'plain'}", tcp=tcp, stop="2s")
    unscaled = {"WindowScaling": "false"}
    yield _case("window/unscaled-loss", rtts="100ms", tcp=unscaled, loss=0.01)
    for size in (1, 100, 1447):
        yield _case(f"window/receiver-{size}", tcp={"RcvBufSize": size}, stop="2s")
    for size in (2_000, 4_000, 7_000):
        for sack in ("true", "false"):
            yield _case(
                f"window/cut-{size}-{'sack' if sack == 'true' else 'nosack'}",
                applications={"type": "Greedy", "write": "100B"},
                loss=0.05,
                buffer=size,
                tcp={"Sack": sack},
                packets=2_000,
            )
    nagle = {"TcpNoDelay": "false"}
    transfer = {"type": "Greedy", "bytes": "100000B"}
    yield _case("window/nagle", applications=transfer, tcp=nagle, stop="3s")
    yield _case("window/nagle-buffer", tcp={**nagle, "SndBufSize": 4_000}, stop="2s")
    # A write is a full segment, which does not wait.
    segments = {"type": "CBR", "write": "1448B", "rate": "4Mbps"}
    yield _case("window/nagle-segments", applications=segments, tcp=nagle, rtts="40ms", stop="1s")
    for size in (9_000_000, 600_000_000, 1_073_741_824):
        yield _case(f"window/shift-{size}", tcp={"RcvBufSize": size}, stop="300ms")


def pacing() -> Iterator[Case]:
    """Transmissions spread over the round trip."""
    on = {"EnablePacing": "true"}
    for cc in ("TcpNewReno", "TcpCubic", "TcpDctcp", "TcpVegas"):
        yield _case(f"pacing/{cc}", cc=cc, tcp=on)
    yield _case("pacing/initial-window", tcp={**on, "PaceInitialWindow": "true"})
    ratios = {"PacingSsRatio": "300", "PacingCaRatio": "90", "MaxPacingRate": "10Mbps"}
    yield _case("pacing/ratios", tcp={**on, **ratios})
    yield _case("pacing/loss-nosack", tcp={**on, "Sack": "false"}, loss=0.02)
    yield _case("pacing/flows", tcp=on, flows=5, qlen="10p")


def reordering() -> Iterator[Case]:
    """Delays that jump, so that packets overtake and timeouts are spurious; losses both ways."""
    late = [{"time": "1s", "delay": "1500ms"}, {"time": "3s", "delay": "5ms"}]
    yield _case("reordering/spurious-timeout", rate="4Mbps", changes=late, stop="8s")
    for time in ("40ms", "50ms", "55ms", "70ms"):
        yield _case(
            f"reordering/at-the-end-{time}",
            applications=_SIXTY_SEGMENTS,
            changes=[{"time": time, "delay": "100us"}],
        )
    # Small writes that were sent one by one are sent again together, so that the records from which
    # round trips are measured grow into one another.
    yield _case(
        "reordering/joined",
        cc="TcpWestwoodPlus",
        recovery="TcpClassicRecovery",
        applications={"type": "CBR", "write": "512B", "rate": "624227bps"},
        rate="16Mbps",
        rtts="212470us",
        qlen="20p",
        access_delay="250us",
        changes=[{"time": "4150ms", "rate": "5655021bps", "delay": "18491us"}],
        stop="5s",
    )
    saw = [{"time": f"{50 * i}ms", "delay": "1ms" if i % 2 else "60ms"} for i in range(1, 60)]
    for sack in ("true", "false"):
        for size in (5_000, 20_000, 4_000_000):
            yield _case(
                f"reordering/saw-{size}-{'sack' if sack == 'true' else 'nosack'}",
                applications={"type": "Greedy", "bytes": "1500000B", "write": "700B"},
                rtts="130ms",
                changes=saw,
                loss=0.03,
                reverse=_back(loss=0.05),
                buffer=size,
                tcp={"Sack": sack, "MinRto": "50ms"},
                stop="6s",
            )
    for seed in (1, 2):
        for size in (5_000, 50_000, 4_000_000):
            yield _case(
                f"reordering/loss-both-ways-{size}-{seed}",
                applications={"type": "Greedy", "bytes": "1000000B", "write": "700B"},
                loss=0.1,
                reverse=_back(loss=0.2),
                buffer=size,
                tcp={"LimitedTransmit": "false", "Sack": "false" if seed == 2 else "true"},
                recovery="TcpClassicRecovery" if seed == 2 else "TcpPrrRecovery",
                seed=seed,
                stop="20s",
            )


def wrapped_numbers() -> Iterator[Case]:
    """More than 4 GiB in one connection, in the largest segments that fit into IP's packets."""
    for recovery in ("TcpPrrRecovery", "TcpClassicRecovery"):
        large = {"qdisc": "FifoQueueDisc", "mtu": "65535B"}
        scenario = Scenario.model_validate(
            {
                "label": f"wrap/{recovery}",
                "stop_time": "360ms",
                "nodes": ["a", "b"],
                "links": [
                    {
                        "name": "l",
                        "ends": ["a", "b"],
                        "rate": "100Gbps",
                        "delay": "1us",
                        "forward": {**large, "loss": 0.0005},
                        "reverse": large,
                    }
                ],
                "flows": [
                    {
                        "source": "a",
                        "destination": "b",
                        "cc": "TcpNewReno",
                        "recovery": recovery,
                        "tcp": {
                            "SegmentSize": 65_483,
                            "SndBufSize": 4_000_000,
                            "RcvBufSize": 4_000_000,
                            "MinRto": "1ms",
                            "ClockGranularity": "1us",
                        },
                    }
                ],
            }
        )
        yield Case(scenario)


def long_runs() -> Iterator[Case]:
    """What takes its time: BBR's look for the least round trip, every 10 s."""
    yield _case("long/TcpBbr", cc="TcpBbr", rate="8Mbps", rtts="30ms", qlen="30p", stop="14s")
    yield _case(
        "long/TcpBbr-two",
        cc="TcpBbr",
        flows=2,
        rate="3Mbps",
        rtts=["30ms"] * 2,
        starts=["0s", "3s"],
        qlen="30p",
        stop="20s",
    )
    yield _case(
        "long/TcpBbr-application-limited",
        cc="TcpBbr",
        rate="2Mbps",
        tcp={"SndBufSize": 8_000},
        stop="13s",
    )
    probing = {"RttWindowLength": "1s", "ProbeRttDuration": "100ms"}
    bbr = {"type": "TcpBbr", "attributes": probing}
    yield _case("long/TcpBbr-often", cc=bbr, rate="8Mbps", stop="8s")


GROUPS: Sequence[Callable[[], Iterable[Case]]] = (
    openings,
    closings,
    windows,
    pacing,
    reordering,
    wrapped_numbers,
    long_runs,
)
