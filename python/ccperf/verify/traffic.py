"""The part of the matrix about what hosts send, how long they listen, and what their devices take:
sources with a rate, pings, receivers that close, byte queue limits, shared random streams, and all
of these together in ns-3's own example programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.experiments import programs
from ccperf.scenario import Scenario
from ccperf.verify.case import Case
from ccperf.verify.case import case as _case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


def sources() -> Iterator[Case]:
    """Sources with a rate of their own: below, at and above what the path carries."""

    def case(name: str, *applications: dict[str, Any], **settings: Any) -> Case:
        return _case(f"source/{name}", applications=list(applications), **settings)

    poisson = {"type": "Poisson", "rate": "5Mbps"}
    cbr = {"type": "CBR", "rate": "2Mbps"}
    on_off = {"type": "OnOff", "rate": "20Mbps", "on_time": "200ms", "off_time": "300ms"}
    random = {
        "on_time": "Exponential(mean=100ms)",
        "off_time": "Exponential(mean=150ms,bound=400ms)",
    }
    uniform = {"on_time": "Uniform(min=10ms,max=90ms)", "off_time": "Uniform(max=100ms)"}
    eager = {"type": "Greedy", "bytes": "700000B", "write": "1040B", "eager": True}
    yield case("eager", eager)
    yield case("eager-small-buffer", eager, buffer=5_001, rtts="30ms")
    yield case("eager-endless", {"type": "Greedy", "eager": True}, loss=0.01, cc="TcpCubic")
    yield case("eager-bbr", eager | {"bytes": "0B"}, cc="TcpBbr")
    yield case("eager-syn-lost", eager | {"bytes": "3000B"}, drop=[0])
    yield case("poisson", poisson)
    yield case("poisson-excess", poisson | {"rate": "30Mbps"}, buffer=20_000)
    yield case("poisson-segments", poisson | {"write": "1448B", "rate": "14Mbps"}, packets=12_000)
    yield case("poisson-large", poisson | {"write": "10000B", "rate": "10Mbps"})
    yield case("poisson-finite", poisson | {"bytes": "300000B"})
    yield case("poisson-loss", poisson, loss=0.02)
    yield case("poisson-many", *[poisson | {"rate": "2.5Mbps"}] * 8, qlen="10p")
    yield case("cbr", cbr)
    yield case("cbr-full", cbr | {"rate": "16Mbps", "write": "1448B"})
    yield case("cbr-excess", cbr | {"rate": "40Mbps"}, buffer=10_000)
    yield case("cbr-finite", cbr | {"bytes": "1000000B"})
    yield case("cbr-odd", cbr | {"rate": "3333333bps", "write": "777B"}, rtts="33.333334ms")
    yield case("cbr-delayed-ack", cbr | {"rate": "300kbps"}, delayed_ack_count=2)
    yield case("cbr-nagle", cbr | {"rate": "500kbps", "write": "100B"}, tcp={"TcpNoDelay": "false"})
    yield case("on-off", on_off)
    yield case("on-off-residual", on_off | {"on_time": "3.3333ms", "off_time": "1.7ms"})
    yield case("on-off-short", on_off | {"rate": "1Mbps", "on_time": "1ms", "off_time": "1ms"})
    yield case("on-off-ties", on_off | {"write": "1000B", "on_time": "1s", "off_time": "0s"})
    yield case("on-off-excess", on_off | {"rate": "100Mbps"}, buffer=30_000)
    yield case("on-off-random", on_off | random, seed=5)
    yield case("on-off-uniform", on_off | uniform)
    yield case("on-off-finite", on_off | random | {"bytes": "200000B"})
    yield case("on-off-ecn", on_off, qdisc="CoDelQueueDisc", tcp={"UseEcn": "On"})
    yield case("on-off-cubic", on_off | random, cc="TcpCubic")
    yield case("on-off-bbr", on_off | random, cc="TcpBbr")
    yield case("stops", poisson, cbr, on_off, stops=["1s", "1.5s", "2s"], starts=["0s"] * 3)
    yield case("lost-syn", poisson, drop=[0], rate="8Mbps", packets=8_000)
    yield case("mixture", {"type": "Greedy"}, poisson, cbr, on_off, rtts=["15ms"] * 4)
    yield case("mixture-red", {"type": "Greedy"}, poisson, on_off | random, qdisc="RedQueueDisc")
    shared = {"sources": ["a"] * 3, "destinations": ["b"] * 3}
    yield case("shared-hosts", poisson, cbr, on_off, **shared)


def pings() -> Iterator[Case]:
    """ICMP echo requests beside TCP."""

    def case(name: str, *pings: dict[str, Any], **settings: Any) -> Case:
        return _case(f"ping/{name}", pings=pings, **settings)

    there = {"source": "src_0", "destination": "dst_0", "interval": "20ms"}
    back = {"source": "dst_0", "destination": "src_0", "interval": "7ms", "size": "1000B"}
    late = {"start": "500ms", "stop": "1.5s"}
    yield case("one", there)
    yield case("both-ways", there | late, back, qdisc="FqCoDelQueueDisc")
    yield case("loss", there | {"size": "16B"}, back, loss=0.05)
    yield case("tail-drop", back, there | {"interval": "1ms"}, qlen="5p")
    yield case("bands", there, qdisc="PfifoFastQueueDisc", qlen="30p", tos=[16])
    yield case("mark", back, qdisc="CoDelQueueDisc", tcp={"UseEcn": "On"})
    yield case("fq-pie", there, back, qdisc="FqPieQueueDisc", rtts=["15ms"] * 3)
    yield case("in-step", there | {"interval": "751us", "size": "1472B"}, rate="16Mbps")


def byte_limits() -> Iterator[Case]:
    """Byte queue limits on every device."""

    def case(hold_time: str, device_queue: str, qdisc: str, **settings: Any) -> Case:
        name = f"byte-limits/{hold_time}-{device_queue}-{qdisc}".lower()
        device = {"device_queue": device_queue, "queue_limits": {"hold_time": hold_time}}
        return _directed(_case(name, qdisc=qdisc, **settings), **device)

    yield case("1s", "50p", "FifoQueueDisc")
    yield case("1ms", "3p", "CoDelQueueDisc")
    yield case("1ms", "100p", "FqCoDelQueueDisc", rtts=["15ms", "20ms"])
    yield case("10ms", "1p", "FifoQueueDisc")
    yield case("5ms", "20000B", "PieQueueDisc")
    yield case("1ms", "60p", "TbfQueueDisc", packets=3_000)
    steps = [{"time": f"{500 * i}ms", "rate": f"{8 * i}Mbps"} for i in (1, 2, 3)]
    yield case("100ms", "50p", "RedQueueDisc", changes=steps, packets=9_000)
    # Packets of 1,500 B on the wire take a whole millisecond, and so does what is waited for.
    for hold_time in ("5ms", "20ms", "100ms"):
        name = f"byte-limits/grid-{hold_time}"
        device = {"device_queue": "50p", "queue_limits": {"hold_time": hold_time}}
        yield _directed(_case(name, rate="12Mbps", mss=1446, rtts="20ms"), **device)
    straight = {"qdisc": None, "device_queue": "30p", "queue_limits": {"hold_time": "2ms"}}
    yield _directed(_case("byte-limits/no-discipline"), **straight)


def receivers() -> Iterator[Case]:
    """Receivers that close before, with and after their sender."""

    def case(name: str, time: str, **settings: Any) -> Case:
        return _case(f"receiver/{name}", stop="4s", receiver_stops=time, **settings)

    cbr = {"type": "CBR", "rate": "100kbps"}
    few = {"type": "Greedy", "bytes": "100000B"}
    yield case("early", "1s")
    yield case("with-gap", "1s", loss=0.2)
    yield case("after-sender", "2.2s", stops=["2s"], qlen="200p")
    yield case("idle", "2s", applications=[cbr])
    yield case("finished", "3s", applications=[few])
    yield case("at-once", "1s", stops=["1s"], applications=[cbr])
    yield case("nearly-at-once", "1.004s", stops=["1s"], applications=[cbr])
    yield case("before-its-sender", "1s", stops=["1.003s"], applications=[cbr])
    yield case("never-connected", "500ms", starts=["1s"])
    yield case("during-handshake", "9ms")
    yield case("lost-fin", "1s", applications=[cbr], reverse={"drop": list(range(190, 200))})
    yield case("many", "1.5s", rtts=["15ms", "17ms", "90ms"], cc="TcpCubic")
    yield case("small-window", "1s", tcp={"RcvBufSize": "6000"})


def streams() -> Iterator[Case]:
    """Random streams that a scenario names."""
    lossy = _case("stream/shared-loss", rtts=["15ms", "20ms"])
    yield _directed(lossy, loss=0.01, loss_stream=50)
    for name, stream in (("automatic", -1 - 27), ("explicit", 7)):
        red = _case(f"stream/{name}", qdisc="RedQueueDisc", qlen="60p").scenario.model_dump()
        red["links"][0]["forward"]["qdisc"]["stream"] = stream
        yield Case(Scenario.model_validate(red))


def examples() -> Iterator[Case]:
    """ns-3's own example programs."""
    for line in (
        "tcp-variants-comparison --duration=10",
        "tcp-variants-comparison --duration=10 --num_flows=3 --error_p=0.01",
        "tcp-validation --stopTime=7s",
        "tcp-validation --stopTime=7s --firstTcpType=dctcp --queueUseEcn=1 --baseRtt=10ms",
        "tcp-validation --stopTime=17s --secondTcpType=reno --queueType=pie --linkRate=5Mbps",
        "queue-discs-benchmark --simDuration=4",
        "queue-discs-benchmark --simDuration=4 --queueDiscType=ARED --queueDiscSize=40",
        "queue-discs-benchmark --simDuration=4 --queueDiscType=FqCoDel --bql",
    ):
        scenario, _ = programs.scenario(programs.parse([line]))
        label = f"example/{line.replace(' --', '-')}"
        yield Case(scenario.model_copy(update={"label": label}))


def _directed(case: Case, **fields: Any) -> Case:
    """With these fields in both directions of every link."""
    links = [
        {**link, "forward": {**link["forward"], **fields}, "reverse": {**link["reverse"], **fields}}
        for link in case.scenario.model_dump()["links"]
    ]
    return Case(Scenario.model_validate({**case.scenario.model_dump(), "links": links}))


GROUPS: Sequence[Callable[[], Iterable[Case]]] = (
    sources,
    pings,
    byte_limits,
    receivers,
    streams,
    examples,
)
