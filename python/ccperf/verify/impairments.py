"""The part of the matrix about what links do to packets: bursts of losses, jitter, reordering,
policing."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ccperf.algorithms import registry
from ccperf.scenario import Scenario, ScenarioWarning
from ccperf.verify.case import Case
from ccperf.verify.case import case as _case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_BURSTS: dict[str, Any] = {"to_bad": 0.005, "to_good": 0.2}
_LATE: dict[str, Any] = {"probability": 0.02, "delay": "4ms"}
_JITTER: dict[str, Any] = {"delay": "Uniform(min=0s,max=3ms)"}
_UDP: dict[str, Any] = {
    "transports": "UDP",
    "cc": None,
    "applications": {"type": "CBR", "rate": "12Mbps", "write": "1000B"},
}
_BACK: dict[str, Any] = {"qdisc": "FifoQueueDisc", "device_queue": "1p"}


def bursts() -> Iterator[Case]:
    """Gilbert-Elliott losses of all lengths, both ways, beside others, under every recovery."""
    kinds: dict[str, dict[str, float]] = {
        "gilbert": _BURSTS,
        "elliott": {**_BURSTS, "loss_in_good": 0.001, "loss_in_bad": 0.5},
        "long": {"to_bad": 0.001, "to_good": 0.02},
        "single": {"to_bad": 0.01, "to_good": 1.0},
        "alternating": {"to_bad": 1.0, "to_good": 1.0, "loss_in_bad": 0.02},
        "never": {"to_bad": 0.0, "to_good": 0.5},
        "for-good": {"to_bad": 0.0005, "to_good": 0.0, "loss_in_bad": 0.05},
    }
    for name, bursts in kinds.items():
        yield _case(f"bursts/{name}", forward={"gilbert_elliott": bursts})
    for recovery in ("TcpPrrRecovery", "TcpClassicRecovery", "PrrRfc6937"):
        settings: dict[str, Any] = {"recovery": recovery, "qlen": "200p", "seed": 3}
        yield _case(f"bursts/{recovery}", forward={"gilbert_elliott": kinds["elliott"]}, **settings)
    for cc in ("TcpCubic", "TcpBbr", "TcpVegas"):
        yield _case(f"bursts/{cc}", cc=cc, forward={"gilbert_elliott": _BURSTS})
    everything: dict[str, Any] = {
        "gilbert_elliott": kinds["elliott"],
        "loss": 0.01,
        "drop": [0, 5, 60, 61],
    }
    yield _case("bursts/beside-other-losses", forward=everything, seed=5)
    yield _case("bursts/acks", reverse={**_BACK, "gilbert_elliott": kinds["long"]})
    shared: dict[str, Any] = {"gilbert_elliott": _BURSTS, "loss_stream": 7}
    both: dict[str, Any] = {"forward": shared, "reverse": {**_BACK, **shared}}
    yield _case("bursts/shared-stream", **both, rtts=["15ms", "30ms"], cc=["TcpNewReno"] * 2)
    changes = [{"time": "500ms", "loss": 0.05}, {"time": "1s", "loss": 0.0, "rate": "32Mbps"}]
    yield _case("bursts/changes", forward={"gilbert_elliott": _BURSTS}, changes=changes)
    yield _case("bursts/udp", forward={"gilbert_elliott": kinds["elliott"]}, **_UDP)


def reordering() -> Iterator[Case]:
    """Late packets: few and many, soon and long after, there and back."""
    for probability in (0.001, 0.02, 0.3, 1.0):
        for delay in ("1ns", "800us", "4ms", "40ms", "Exponential(mean=3ms)"):
            late = {"probability": probability, "delay": delay}
            name = delay.partition("(")[0]
            yield _case(f"late/{probability:g}-{name}", forward={"reordering": late}, packets=3_000)
    for cc in registry.compared("cc"):
        yield _case(f"late/{cc}", cc=cc, forward={"reordering": _LATE}, packets=3_000)
    settings: dict[str, Any] = {"forward": {"reordering": _LATE}}
    yield _case("late/nosack", **settings, tcp={"Sack": "false"})
    yield _case("late/classic", **settings, recovery="TcpClassicRecovery")
    yield _case("late/timestamps-off", **settings, tcp={"Timestamp": "false"})
    yield _case("late/delayed-ack", **settings, delayed_ack_count=2)
    yield _case("late/acks", reverse={**_BACK, "reordering": {**_LATE, "probability": 0.2}})
    yield _case("late/losses", forward={"reordering": _LATE, "gilbert_elliott": _BURSTS})
    yield _case("late/udp", **settings, **_UDP)
    yield _case("late/no-bottleneck-queue", forward={"qdisc": None, "reordering": _LATE})
    transfer = {"type": "Greedy", "bytes": "200000B"}
    yield _case("late/transfer", **settings, applications=transfer, seed=9)


def jitter() -> Iterator[Case]:
    """Delays that vary from packet to packet, with and without keeping their order."""
    delays = ("Uniform(min=0s,max=3ms)", "Exponential(mean=1ms)", "2ms")
    for order in (True, False):
        word = "in-order" if order else "free"
        for delay in (*delays, "Exponential(mean=2ms,bound=5ms)", "Uniform(min=1us,max=900us)"):
            varied = {"jitter": {"delay": delay, "keep_order": order}}
            name = f"{word}-{delay.partition('(')[0]}-{delay[-6:-1].strip('=')}"
            yield _case(f"jitter/{name}", forward=varied, packets=3_000)
        for cc in ("TcpCubic", "TcpBbr", "TcpVegas", "TcpWestwoodPlus", "TcpLedbat"):
            varied = {"jitter": {**_JITTER, "keep_order": order}}
            yield _case(f"jitter/{word}-{cc}", cc=cc, forward=varied, packets=3_000)
        both = {**_JITTER, "keep_order": order}
        yield _case(
            f"jitter/{word}-both-ways",
            forward={"jitter": both},
            reverse={**_BACK, "jitter": both},
            rtts=["15ms", "40ms"],
            cc=["TcpNewReno", "TcpCubic"],
        )
        everything = {
            "jitter": both,
            "reordering": _LATE,
            "gilbert_elliott": _BURSTS,
            "loss": 0.002,
        }
        yield _case(f"jitter/{word}-everything", forward=everything, seed=2)
    changes = [{"time": f"{200 * i}ms", "delay": f"{20 // i}ms"} for i in range(1, 8)]
    yield _case("jitter/delay-changes", forward={"jitter": _JITTER}, changes=changes)
    queues = {"jitter": _JITTER, "device_queues": 3}
    yield _case("jitter/several-queues", forward=queues, rtts=["15ms"] * 3, cc=["TcpNewReno"] * 3)
    limits = {"jitter": _JITTER, "queue_limits": {"hold_time": "10ms"}}
    yield _case("jitter/byte-limits", forward=limits)
    yield _case("jitter/codel", forward={"jitter": _JITTER}, qdisc="CoDelQueueDisc")
    yield _case("jitter/udp", forward={"jitter": {**_JITTER, "keep_order": False}}, **_UDP)
    pings = [{"source": "src_0", "destination": "dst_0", "interval": "3ms"}]
    yield _case("jitter/pings", forward={"jitter": _JITTER, "reordering": _LATE}, pings=pings)


def on_longer_ways() -> Iterator[Case]:
    """All that on the first link of a flow that has a longer way than others."""
    scenario = _case("late/longer-ways", cc=["TcpNewReno"] * 2, rtts=["15ms"] * 2).scenario
    fields = scenario.model_dump()
    for link in fields["links"]:
        if link["name"] == "src_0":
            link["forward"] |= {"jitter": {**_JITTER, "keep_order": False}, "reordering": _LATE}
    for flow in fields["flows"]:
        flow["added_delay"] = "2ms"
    yield Case(Scenario.model_validate(fields))


def policing() -> Iterator[Case]:
    """A bucket that drops what does not conform: rates, bursts, algorithms, datagrams."""

    def policed(rate: str, burst: int, **more: str) -> dict[str, Any]:
        attributes = {"Rate": rate, "Burst": str(burst), **more}
        return {"qdisc": {"type": "PolicerQueueDisc", "attributes": attributes}}

    for rate in ("1Mbps", "8Mbps", "15999999bps", "40Mbps"):
        for burst in (3_000, 20_000, 200_000):
            name = f"policer/{rate}-{burst}"
            yield _case(name, forward=policed(rate, burst), packets=4_000)
    for cc in registry.compared("cc"):
        yield _case(f"policer/{cc}", cc=cc, forward=policed("8Mbps", 15_000), packets=3_000)
    two: dict[str, Any] = {"cc": ["TcpNewReno", "TcpBbr"], "rtts": ["15ms", "30ms"]}
    yield _case("policer/two", forward=policed("10Mbps", 30_000), **two)
    yield _case("policer/short-queue", forward=policed("15Mbps", 60_000, MaxSize="5p"), **two)
    yield _case("policer/bytes", forward=policed("15Mbps", 60_000, MaxSize="9000B"), **two)
    yield _case("policer/udp", forward=policed("8Mbps", 10_000), **_UDP)
    with warnings.catch_warnings():
        # That only small packets pass is meant so here.
        warnings.simplefilter("ignore", ScenarioWarning)
        small = _case("policer/less-than-a-packet", forward=policed("8Mbps", 1_000), packets=500)
    yield small
    policers = policed("3Mbps", 9_000)["qdisc"]
    schedulers = {
        "DwrrQueueDisc": {"Quanta": "3000 1500"},
        "PrioQueueDisc": {"Priomap": "0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1"},
    }
    for scheduler, attributes in schedulers.items():
        classes = {"type": scheduler, "attributes": attributes, "children": [policers, policers]}
        settings: dict[str, Any] = {"cc": ["TcpNewReno"] * 2, "rtts": ["15ms", "30ms"]}
        dscps = [0, 1] if scheduler == "DwrrQueueDisc" else 0
        settings |= {"forward": {"qdisc": classes}, "dscps": dscps}
        yield _case(f"policer/in-{scheduler}", **settings)


GROUPS: Sequence[Callable[[], Iterable[Case]]] = (
    bursts,
    reordering,
    jitter,
    on_longer_ways,
    policing,
)
