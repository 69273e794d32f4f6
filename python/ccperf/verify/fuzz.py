"""Random scenarios, the same for the same seed."""

from __future__ import annotations

import random
import warnings
from dataclasses import dataclass, field, replace
from itertools import count, repeat
from math import inf
from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.scenario import ScenarioWarning, profiles
from ccperf.verify import fuzz_fabrics
from ccperf.verify.draw import draw_attributes, now_and_then, shorter_times
from ccperf.verify.draw_traffic import PACKETS, application, datagrams, ping, start
from ccperf.verify.fuzz_fabrics import FabricDraw
from ccperf.verify.parking_lots import as_lot
from ccperf.verify.shrinking import valid

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ccperf.scenario import Scenario

_HEADER_BYTES = 54
# Of echo requests, which are not cut: IP's and ICMP's.
_ECHO_HEADERS = 28
#: The host that datagrams to one port lead to.
SHARED = "shared"
# The most segments that a flow can have in flight: ns-3 looks at all of them for each ACK in
# recovery, so that a window of 1,000 takes it half a minute.
_WINDOW = 250
# How many of the scenarios are networks of switches.
_FABRICS = 0.3
# And how many of the dumbbells are parking lots.
_LOTS = 0.12
# Socket attributes for which `dumbbell` has arguments.
_OWN_ARGUMENTS = {"SegmentSize", "InitialCwnd", "DelAckCount", "SndBufSize", "RcvBufSize"}


@dataclass(frozen=True)
class Draw:
    """A random dumbbell in a form that can be made smaller: arguments of `dumbbell`, with `lot`
    those of `as_lot`, which makes a parking lot of it, and with `port` that of all datagrams to the
    host `SHARED`."""

    #: What holds for all flows; only what is not `BASE`.
    path: dict[str, Any] = field(default_factory=dict)
    #: One entry a flow: its own values of the arguments that are sequences.
    flows: tuple[dict[str, Any], ...] = ({},)

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `dumbbell` that make this scenario, and `lot` and `port` if it
        has them."""
        path = {**BASE, **self.path}
        each = [{**_FLOW, "stops": path["stop_time"], **flow} for flow in self.flows]
        sequences = {name: [flow[name] for flow in each] for name in each[0]}
        return {**path, **sequences}

    def scenario(self, label: str = "") -> Scenario:
        """Return the scenario, and do not warn of what makes no sense: it was drawn."""
        arguments = self.arguments()
        lot, port = (arguments.pop(name, None) for name in ("lot", "port"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ScenarioWarning)
            drawn = dumbbell(label=label, **arguments)
            if port:
                drawn = _to_one_port(drawn, port)
            return as_lot(drawn, **lot) if lot else drawn

    def smaller(self) -> Iterator[Draw]:
        """Yield draws that are one step smaller, the largest steps first."""
        return _smaller(self)


BASE: dict[str, Any] = {
    "rate": "16Mbps",
    "qlen": "20p",
    "qdisc": "FifoQueueDisc",
    "stop_time": "1s",
    "access_delay": "250us",
}
_FLOW: dict[str, Any] = {
    "rtts": "15ms",
    "cc": "TcpNewReno",
    "recovery": "TcpPrrRecovery",
    "transports": "TCP",
    "starts": "0s",
    "receiver_stops": None,
    "destinations": None,
    "applications": "Greedy",
    "tos": 0,
    "return_tos": 0,
    "dscps": 0,
    "return_dscps": 0,
}


Drawn = Draw | FabricDraw


@dataclass(frozen=True)
class Released:
    """A random scenario with the TCP of a release of ns-3."""

    drawn: Drawn
    release: str

    def scenario(self, label: str = "") -> Scenario:
        """Return the scenario."""
        return profiles.with_tcp(self.drawn.scenario(label), self.release)

    def smaller(self) -> Iterator[Released]:
        """Yield those of what is smaller."""
        return (Released(drawn, self.release) for drawn in self.drawn.smaller())


def draws(seed: int) -> Iterator[Drawn]:
    """Yield random scenarios without end; the same ones for the same seed."""
    for number in count():
        is_fabric = random.Random(f"{seed}/{number}/kind").random() < _FABRICS
        yield (_fabric if is_fabric else _dumbbell)(seed, number)


def dumbbells(seed: int) -> Iterator[Draw]:
    """As :func:`draws`, all of them dumbbells."""
    return (_dumbbell(seed, number) for number in count())


def fabrics(seed: int) -> Iterator[FabricDraw]:
    """As :func:`draws`, all of them networks of switches."""
    return (_fabric(seed, number) for number in count())


# Each has a stream of its own, so that the nth does not depend on those before; attributes may
# contradict each other, and nothing may come of arrivals.
def _dumbbell(seed: int, number: int) -> Draw:
    rng = random.Random(f"{seed}/{number}")
    return next(drawn for drawn in map(draw, repeat(rng)) if valid(drawn))


def _fabric(seed: int, number: int) -> FabricDraw:
    rng = random.Random(f"{seed}/{number}/fabric")
    return next(drawn for drawn in map(fuzz_fabrics.draw, repeat(rng)) if valid(drawn))


def draw(rng: random.Random) -> Draw:
    """Draw one scenario: mostly plain, each peculiarity now and then."""
    rate = round(10 ** rng.uniform(5.7, 8.7))
    if now_and_then(rng, 0.5):
        # Round rates make ties.
        rate = rng.choice([1, 2, 4, 8, 16, 32, 100]) * 1_000_000
    longest_rtt_us = 10 ** rng.uniform(3.3, 5.5)
    hops = rng.randint(2, 4) if now_and_then(rng, _LOTS) else 1
    path: dict[str, Any] = {"rate": f"{rate}bps", "seed": rng.randint(1, 1_000_000)}
    access_us = 250
    if now_and_then(rng):
        # A rack, where a round trip is shorter than the algorithms' own times.
        longest_rtt_us, access_us = 10 ** rng.uniform(1.3, 3.3), 2
        path["access_delay"] = f"{access_us}us"
    path |= _queue(rng, max(1, round(rate * longest_rtt_us / 12_000e6)))
    path |= _losses(rng)
    path |= _socket(rng)
    path = _impaired(rng, path, longest_rtt_us)
    if now_and_then(rng, 0.1):
        way_back = {"device_queue": "1p", **path.get("reverse", {})}
        path["reverse"] = {**way_back, "rate": f"{round(rate * 10 ** rng.uniform(-1.5, 0))}bps"}
    new_rates = [
        round(rate * 10 ** rng.uniform(-0.7, 0.5))
        for _ in range(rng.randint(1, 4) if now_and_then(rng) else 0)
    ]
    mss = path.get("mss", 1448)
    path["buffer"] = min(path.get("buffer", inf), _WINDOW * mss)
    packet_bits = (mss + _HEADER_BYTES) * 8
    stop_ms = round(min(PACKETS * packet_bits / hops / max(rate, *new_rates, 0), 20) * 1000)
    path["stop_time"] = f"{stop_ms}ms"
    if new_rates:
        path["changes"] = [_change(rng, new_rate, stop_ms) for new_rate in new_rates]
    flows = tuple(_flows(rng, longest_rtt_us, access_us, stop_ms))
    if now_and_then(rng, 0.15):
        path["schedules"] = [_schedule(rng, rate, stop_ms)]
    sources = [flow for flow in flows if flow.get("transports") == "UDP"]
    if hops == 1 and sources and now_and_then(rng, 0.5):
        flows = _shared((*flows, datagrams(rng, sources[0], stop_ms)))
        path["port"] = rng.choice([9, 5001, 65535])
    if now_and_then(rng):
        own_hosts = [i for i, flow in enumerate(flows) if "destinations" not in flow]
        room = _least_mtu(path) - _ECHO_HEADERS
        path["pings"] = [ping(rng, i, room) for i in own_hosts if now_and_then(rng, 0.5)]
    if hops > 1:
        path["lot"] = _lot(rng, hops, len(flows))
    return Draw(path, flows)


def _queue(rng: random.Random, bdp_packets: int) -> Iterator[tuple[str, Any]]:
    qdisc = rng.choice([name for name in registry.compared("qdisc") if name != "MqQueueDisc"])
    yield "qdisc", qdisc
    known = registry.parameters("qdisc", qdisc)
    limit = round(bdp_packets * 10 ** rng.uniform(-1, 0.6))
    qlen = f"{min(max(1, limit), 2_000)}p" if "MaxSize" in known else None
    yield "qlen", qlen
    attributes: dict[str, Any] = {}
    if "Quota" in known:
        attributes |= {"Interval": f"{rng.randint(1, 20)}ms", "Quota": rng.randint(1, 20)}
    if "Rate" in known:
        attributes |= {
            "Rate": f"{rng.randint(1_000, 100_000)}kbps",
            "Burst": rng.randint(3_000, 60_000),
        }
    if "Priomap" in known and now_and_then(rng, 0.9):
        # ns-3 makes two bands, and aborts at a packet for a third, which the default map names.
        attributes["Priomap"] = " ".join(rng.choice("01") for _ in range(16))
    if "UseEcn" in known and now_and_then(rng, 0.5):
        attributes["UseEcn"] = "true"
    if now_and_then(rng, 0.5):
        specs = registry.compared("qdisc")[qdisc]["params"]
        drawn = draw_attributes(rng, specs, 0.3)
        attributes = {**drawn, **attributes}
    if attributes:
        yield "qdisc_attributes", attributes
    if now_and_then(rng):
        yield "device_queue", f"{rng.randint(1, 20)}p"
    if now_and_then(rng):
        several: dict[str, Any] = {
            "device_queues": rng.randint(2, 4),
            "device_select": rng.choice(["flow", "priority"]),
        }
        # A buffer that ports share is a port's, not a queue's.
        if qdisc != "SharedBufferQueueDisc" and now_and_then(rng, 0.7):
            limit_of_each = {"MaxSize": qlen} if qlen else {}
            child = {"type": qdisc, "attributes": {**limit_of_each, **attributes}}
            several["qdisc"] = {"type": "MqQueueDisc", "children": [child]}
        yield "forward", several
        return
    forward: dict[str, Any] = {}
    if now_and_then(rng):
        forward["queue_limits"] = {"hold_time": f"{round(10 ** rng.uniform(0, 6))}us"}
    if qdisc in _CHILDREN and now_and_then(rng, 0.7):
        children = [_child(rng, limit) for _ in range(_CHILDREN[qdisc])]
        limits = {"MaxSize": qlen} if qlen else {}
        forward["qdisc"] = {
            "type": qdisc,
            "attributes": {**limits, **attributes},
            "children": children,
        }
    if forward:
        yield "forward", forward


def _to_one_port(scenario: Scenario, port: int) -> Scenario:
    """The scenario whose datagrams to the host `SHARED` lead to one port."""
    fields = scenario.model_dump()
    for flow in fields["flows"]:
        if flow["destination"] == SHARED and flow["transport"] == "UDP":
            flow["destination_port"] = port
    return type(scenario).model_validate(fields)


def _shared(flows: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The flows with all of UDP to one host, whose one receiver and way they have."""
    first = next((flow for flow in flows if flow.get("transports") == "UDP"), {})
    common: dict[str, Any] = {"receiver_stops": None}
    common |= {name: first[name] for name in ("rtts", "receiver_stops") if name in first}
    return tuple(
        {**flow, **common, "destinations": SHARED} if flow.get("transports") == "UDP" else flow
        for flow in flows
    )


#: How many children are drawn for a discipline; one that counts its classes takes one for all.
_CHILDREN = {
    "PrioQueueDisc": 2,
    "TbfQueueDisc": 1,
    "DwrrQueueDisc": 1,
    "WfqQueueDisc": 1,
    "StrictPriorityQueueDisc": 1,
    "SharedBufferQueueDisc": 1,
}


def _child(rng: random.Random, limit: int) -> dict[str, Any]:
    """Draw a discipline without a clock of its own and without children."""
    clocked = {"MqQueueDisc", "BurstReleaseQueueDisc", *_CHILDREN}
    qdisc = rng.choice([name for name in registry.compared("qdisc") if name not in clocked])
    attributes: dict[str, Any] = {"MaxSize": f"{min(max(1, limit), 2_000)}p"}
    if now_and_then(rng):
        drawn = draw_attributes(rng, registry.compared("qdisc")[qdisc]["params"], 0.2)
        attributes = {**drawn, **attributes}
    return {"type": qdisc, "attributes": attributes}


def _losses(rng: random.Random) -> Iterator[tuple[str, Any]]:
    if now_and_then(rng):
        yield "loss", round(10 ** rng.uniform(-3.5, -1), 6)
    if now_and_then(rng):
        yield "drop", sorted(rng.sample(range(200), rng.randint(1, 20)))
    if now_and_then(rng):
        lost = sorted(rng.sample(range(200), rng.randint(0, 20)))
        loss = round(10 ** rng.uniform(-3.5, -0.5), 6) if now_and_then(rng, 0.5) else 0.0
        yield "reverse", {"device_queue": "1p", "loss": loss, "drop": lost}


def _impaired(rng: random.Random, path: dict[str, Any], longest_rtt_us: float) -> dict[str, Any]:
    """Add bursts of losses, jitter and reordering to the way forward, and to the way back if it has
    one of its own."""
    for way in ("forward", "reverse"):
        if (way == "reverse" and way not in path) or not now_and_then(rng, 0.25):
            continue
        drawn: dict[str, Any] = {}
        if now_and_then(rng, 0.3):
            # What does not fit is cut in front of the bottleneck, what was cut before once more.
            drawn["mtu"] = f"{rng.choice([300, 576, 1006, 1499, 4000])}B"
        if now_and_then(rng, 0.5):
            drawn["gilbert_elliott"] = _bursts(rng)
        if now_and_then(rng, 0.4):
            drawn["jitter"] = {
                "delay": _extra_delay(rng, longest_rtt_us),
                "keep_order": now_and_then(rng, 0.6),
            }
        if now_and_then(rng, 0.4):
            drawn["reordering"] = {
                "probability": round(10 ** rng.uniform(-3, 0), 6),
                "delay": _extra_delay(rng, longest_rtt_us),
            }
        path = {**path, way: {**path.get(way, {}), **drawn}}
    return path


def _least_mtu(path: dict[str, Any]) -> int:
    ways = [path.get(way, {}) for way in ("forward", "reverse")]
    return min(_native.parse_size(way.get("mtu", "1500B")) for way in ways)


def _bursts(rng: random.Random) -> dict[str, float]:
    bursts = {
        "to_bad": round(10 ** rng.uniform(-3.5, -1), 6),
        "to_good": round(10 ** rng.uniform(-1.5, 0), 6),
    }
    if now_and_then(rng, 0.5):
        bursts |= {"loss_in_good": round(10 ** rng.uniform(-4, -2), 6), "loss_in_bad": 0.5}
    return bursts


def _extra_delay(rng: random.Random, longest_rtt_us: float) -> str:
    ns = round(longest_rtt_us * 10 ** rng.uniform(1, 3)) + 1
    forms = ("{ns}ns", "Uniform(max={ns}ns)", "Exponential(mean={ns}ns)")
    bounded = "Exponential(mean={ns}ns,bound={bound}ns)"
    return rng.choice([*forms, bounded]).format(ns=ns, bound=3 * ns)


def _socket(rng: random.Random) -> Iterator[tuple[str, Any]]:
    if now_and_then(rng):
        yield "mss", rng.choice([200, 536, 1000, 1400, 1449, 1458, 2000, 4000, 9000])
    if now_and_then(rng):
        yield "initial_cwnd", rng.randint(1, 40)
    if now_and_then(rng, 0.3):
        yield "delayed_ack_count", rng.randint(2, 3)
    if now_and_then(rng):
        yield "buffer", rng.choice([4_000, 16_384, 65_535, 131_072, 1_000_000])
    params = [
        param
        for param in registry.tables()["socket"]["params"]
        if param["ns3"] not in _OWN_ARGUMENTS and not param["is_own"]
    ]
    tcp = draw_attributes(rng, params, 0.06)
    for name, values, probability in (
        ("Sack", ["false"], 0.15),
        ("UseEcn", ["On", "AcceptOnly"], 0.4),
    ):
        if now_and_then(rng, probability):
            tcp[name] = rng.choice(values)
    if tcp:
        yield "tcp", tcp


def _change(rng: random.Random, rate: int, stop_ms: int) -> dict[str, Any]:
    change: dict[str, Any] = {"time": f"{rng.randrange(stop_ms)}ms", "rate": f"{rate}bps"}
    if now_and_then(rng, 0.5):
        change |= {"delay": f"{rng.randint(10, 30_000)}us", "direction": "both"}
    else:
        change["direction"] = rng.choice(["both", "forward", "reverse"])
    if now_and_then(rng, 0.3):
        change["loss"] = round(10 ** rng.uniform(-3, -1), 6)
    return change


def _schedule(rng: random.Random, rate: int, stop_ms: int) -> dict[str, Any]:
    """Draw columns of some hundred rows at most, around the rate."""
    times = sorted(rng.sample(range(stop_ms * 1_000_000), rng.randint(1, min(300, stop_ms))))
    schedule: dict[str, Any] = {"times_ns": times}
    if now_and_then(rng, 0.7):
        schedule["rates_bps"] = [round(rate * 10 ** rng.uniform(-0.7, 0)) for _ in times]
    if now_and_then(rng, 0.3):
        schedule["losses"] = [round(rng.uniform(0, 0.1), 6) for _ in times]
    if now_and_then(rng, 0.3) or len(schedule) == 1:
        schedule["delays_ns"] = [rng.randint(10_000, 30_000_000) for _ in times]
    else:
        schedule["direction"] = rng.choice(["both", "forward", "reverse"])
    return schedule


def _flows(
    rng: random.Random, longest_rtt_us: float, access_us: int, stop_ms: int
) -> Iterator[dict[str, Any]]:
    ccs, recoveries = (list(registry.compared(kind)) for kind in ("cc", "recovery"))
    alike = now_and_then(rng, 0.5)
    services, close_early = now_and_then(rng, 0.3), now_and_then(rng, 0.1)
    first_cc = rng.choice(["TcpNewReno", *ccs])
    for i in range(rng.choice([1, 1, 1, 2, 2, 3, 4, 6, 10])):
        rtt_us = longest_rtt_us * (1 if alike else rng.uniform(0.2, 1))
        # Whole us each way, and not shorter than the access links.
        flow: dict[str, Any] = {"rtts": f"{2 * max(2 * access_us, round(rtt_us / 2))}us"}
        cc = rng.choice(ccs) if now_and_then(rng) else first_cc
        attributes = draw_attributes(rng, registry.compared("cc")[cc]["params"], 0.1)
        flow["cc"] = {"type": cc, "attributes": attributes} if attributes else cc
        flow["recovery"] = rng.choice(recoveries)
        if now_and_then(rng, 0.3):
            flow["starts"] = start(rng, stop_ms)
        if services:
            flow["tos"] = rng.choice([0, 0, 8, 16, 24, 184])
            flow["return_tos"] = rng.choice([0, 0, 8, 16, 24, 184])
        elif now_and_then(rng):
            flow["dscps"] = rng.choice([0, 1, 2, 46])
            flow["return_dscps"] = rng.choice([0, 1, 4])
        if now_and_then(rng, 0.1):
            flow["stops"] = f"{rng.randint(stop_ms // 2 + 1, stop_ms)}ms"
        if close_early and now_and_then(rng, 0.5):
            flow["receiver_stops"] = f"{rng.randint(1, stop_ms)}ms"
        if now_and_then(rng, 0.35):
            flow["applications"] = application(rng)
        if i > 0 and now_and_then(rng):
            yield datagrams(rng, flow, stop_ms)
        else:
            yield flow


def _lot(rng: random.Random, hops: int, flows: int) -> dict[str, Any]:
    """Draw which bottlenecks each flow crosses: the first one all, others some, either way."""
    ways = [(0, hops), *(tuple(rng.sample(range(hops + 1), 2)) for _ in range(flows - 1))]
    return {"hops": hops, "ways": ways}


def _smaller(found: Draw) -> Iterator[Draw]:
    path, flows = found.path, found.flows
    half = len(flows) // 2
    if half:
        yield replace(found, flows=flows[:half])
        yield replace(found, flows=flows[half:])
        for i in range(len(flows)):
            yield replace(found, flows=flows[:i] + flows[i + 1 :])
    stop = _native.parse_time(path.get("stop_time", BASE["stop_time"]))
    for shorter in shorter_times(stop // 1_000_000):
        yield replace(found, path={**path, "stop_time": f"{shorter}ms"})
    for name in path:
        if name != "stop_time":
            yield replace(found, path={key: path[key] for key in path if key != name})
    for name in ("drop", "changes", "pings"):
        entries = path.get(name, [])
        for i in range(len(entries) if len(entries) > 1 else 0):
            yield replace(found, path={**path, name: entries[:i] + entries[i + 1 :]})
    for name in ("tcp", "qdisc_attributes"):
        for key in path.get(name, {}):
            fewer = {other: value for other, value in path[name].items() if other != key}
            yield replace(found, path={**path, name: fewer})
    for i, flow in enumerate(flows):
        for plainer in _plainer(flow):
            yield replace(found, flows=(*flows[:i], plainer, *flows[i + 1 :]))


def _plainer(flow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in flow:
        yield {key: value for key, value in flow.items() if key != name}
    if isinstance(source := flow.get("applications"), dict):
        for name in source.keys() - {"type", "rate"}:
            fewer = {key: value for key, value in source.items() if key != name}
            yield flow | {"applications": fewer}
    if isinstance(cc := flow.get("cc"), dict):
        yield flow | {"cc": cc["type"]}
        for name in cc["attributes"] if len(cc["attributes"]) > 1 else ():
            fewer = {key: value for key, value in cc["attributes"].items() if key != name}
            yield flow | {"cc": {"type": cc["type"], "attributes": fewer}}
