"""Random networks of switches: transfers, failures, unlike round trips, classes."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.experiments.topologies import (
    FabricLink,
    SwitchPort,
    fair_host_port,
    fat_tree,
    leaf_spine,
    star,
)
from ccperf.scenario.profiles import WHOLE
from ccperf.verify.draw import draw_attributes, now_and_then, shorter_times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ccperf.experiments.topologies import Fabric
    from ccperf.scenario import Scenario

#: What the hosts' links carry together at most, which is some ten packet-hops each.
_PACKETS = 9_000
_WORKLOADS_AT_MOST = 3
#: Disciplines that a failing link cannot empty, or that have to be told more than is drawn here.
_APART = {"MqQueueDisc", "BurstReleaseQueueDisc", "TbfQueueDisc", "PrioQueueDisc"}
_SCHEDULERS = {
    "DwrrQueueDisc": ("Quanta", ["3000 1500 1500", "1500 500", "9000 1500 1500 100"]),
    "WfqQueueDisc": ("Weights", ["2 1 1", "1 1", "9 3 1 1"]),
    "StrictPriorityQueueDisc": ("Priorities", ["2 1 0", "0 1", "3 2 1 0"]),
}
_MARKING = (
    "ECNSharpQueueDisc",
    "TcnQueueDisc",
    "StepRedQueueDisc",
    "MarkingCoDelQueueDisc",
    "MarkingPieQueueDisc",
    "RedQueueDisc",
)


@dataclass(frozen=True)
class FabricDraw:
    """A random network in a form that can be made smaller."""

    #: The kind of network, its sizes, links and ports.
    network: dict[str, Any]
    stacks: tuple[dict[str, Any], ...]
    #: One for each stack, in order.
    workloads: tuple[dict[str, Any], ...]
    #: Further fields of the scenario.
    settings: dict[str, Any] = field(default_factory=dict)

    def fabric(self) -> Fabric:
        """The network without its traffic."""
        return _fabric(**self.network)

    def scenario(self, label: str = "") -> Scenario:
        """Return the scenario."""
        names = [f"s{i}" for i in range(len(self.stacks))]
        return self.fabric().scenario(
            [],
            label=label,
            stacks=[
                {"name": name, **stack} for name, stack in zip(names, self.stacks, strict=True)
            ],
            workloads=[
                {"name": f"w{i}", "stack": name, **workload}
                for i, (name, workload) in enumerate(zip(names, self.workloads, strict=True))
            ],
            **self.settings,
        )

    def smaller(self) -> Iterator[FabricDraw]:
        """Yield draws that are one step smaller, the largest steps first."""
        for i in range(len(self.workloads) if len(self.workloads) > 1 else 0):
            stacks, workloads = (own[:i] + own[i + 1 :] for own in (self.stacks, self.workloads))
            yield replace(self, stacks=stacks, workloads=workloads)
        stop = _native.parse_time(self.settings["stop_time"])
        for shorter in shorter_times(stop // 1000):
            yield replace(self, settings={**self.settings, "stop_time": f"{shorter}us"})
        for name in [name for name in self.settings if name != "stop_time"]:
            fewer = {key: value for key, value in self.settings.items() if key != name}
            yield replace(self, settings=fewer)
        for name in ("failures", "faults"):
            entries = self.settings.get(name, [])
            for i in range(len(entries) if len(entries) > 1 else 0):
                left = entries[:i] + entries[i + 1 :]
                yield replace(self, settings={**self.settings, name: left})
        for name in [name for name in self.network if name != "kind"]:
            fewer = {key: value for key, value in self.network.items() if key != name}
            yield replace(self, network=fewer)
        for name in ("hosts", "leaves", "spines", "servers"):
            if self.network.get(name, 0) > 1:
                yield replace(self, network={**self.network, name: self.network[name] - 1})
        for i, one in enumerate(self.stacks):
            for plainer in _plainer(one):
                yield replace(self, stacks=(*self.stacks[:i], plainer, *self.stacks[i + 1 :]))
        for i, one in enumerate(self.workloads):
            for plainer in _plainer(one):
                others = self.workloads
                yield replace(self, workloads=(*others[:i], plainer, *others[i + 1 :]))


def _plainer(one: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name in [name for name in one if name not in ("cc", "profile", "sizes", "arrivals")]:
        yield {key: value for key, value in one.items() if key != name}
    for name in one.get("tcp", {}):
        yield {**one, "tcp": {key: value for key, value in one["tcp"].items() if key != name}}
    if "cc" in one and one["cc"] != "TcpNewReno":
        yield {**one, "cc": "TcpNewReno"}
    if "sizes" in one and one["sizes"] != _PLAIN_SIZES:
        yield {**one, "sizes": _PLAIN_SIZES}


_PLAIN_SIZES = {"type": "Constant", "bytes": "20kB"}


def _fabric(
    kind: str,
    rate: str = "1Gbps",
    delay: str = "10us",
    fabric_rate: str = "",
    qdisc: Any = "FifoQueueDisc",
    device_queue: str = "1p",
    fair_hosts: bool = False,
    **sizes: int,
) -> Fabric:
    link = FabricLink(rate, delay)
    between = FabricLink(fabric_rate or rate, delay)
    given: dict[str, Any] = {"port": SwitchPort(qdisc, device_queue)}
    if fair_hosts:
        given["host_port"] = fair_host_port(device_queue=device_queue)
    if kind == "star":
        return star(sizes.get("hosts", 2), link, **given)
    if kind == "fat-tree":
        return fat_tree(sizes.get("k", 2), link, **given)
    layers = [sizes.get(name, 1) for name in ("leaves", "spines", "servers")]
    parallel = sizes.get("parallel", 1)
    return leaf_spine(
        *layers, parallel=parallel, host_link_of=link, fabric_link_of=between, **given
    )


#: Load balancers, with values of attributes that make much of a run this short.
_SCHEMES: dict[str, dict[str, list[str]]] = {
    "drb": {},
    "letflow": {"FlowletTimeout": ["5us", "30us", "200us"]},
    "conga": {"FlowletTimeout": ["5us", "30us", "200us"], "AgingTime": ["1ms", "10ms"]},
    "drill": {"Samples": ["1", "2"], "Memory": ["1", "3"]},
    "adaptive": {},
}


def draw(rng: random.Random) -> FabricDraw:
    """Draw one network with its traffic and what befalls it."""
    network = dict(_network(rng))
    count = rng.randint(1, _WORKLOADS_AT_MOST)
    plain = FabricDraw(network, (), ())
    fabric = plain.fabric()
    bits = len(fabric.hosts) * _native.parse_rate(network["rate"])
    stop_us = min(30_000, max(1_000, _PACKETS * 12_000 * 1_000_000 // bits))
    settings: dict[str, Any] = {"stop_time": f"{stop_us}us", "seed": rng.randint(1, 1_000_000)}
    settings |= _befalls(rng, fabric, stop_us)
    return FabricDraw(
        network,
        tuple(_stack(rng) for _ in range(count)),
        tuple(_workload(rng, fabric, count, stop_us) for _ in range(count)),
        settings,
    )


def _network(rng: random.Random) -> Iterator[tuple[str, Any]]:
    kind = rng.choice(["star", "leaf-spine", "leaf-spine", "leaf-spine", "fat-tree"])
    yield "kind", kind
    if kind == "star":
        yield "hosts", rng.randint(2, 8)
    elif kind == "fat-tree":
        yield "k", rng.choice([2, 4])
    else:
        yield "leaves", rng.randint(1, 3)
        yield "spines", rng.randint(1, 3)
        yield "servers", rng.randint(2, 4)
        if now_and_then(rng):
            yield "parallel", 2
        if now_and_then(rng, 0.3):
            yield "fabric_rate", rng.choice(["300Mbps", "2Gbps", "777777777bps"])
    # Round rates make ties.
    yield "rate", rng.choice(["1Gbps", "1Gbps", "10Gbps", "100Mbps", f"{rng.randint(10, 999)}Mbps"])
    yield "delay", rng.choice(["10us", "5us", f"{rng.randint(1, 50_000)}ns"])
    yield "qdisc", _discipline(rng)
    if now_and_then(rng, 0.3):
        yield "device_queue", f"{rng.randint(1, 10)}p"
    if now_and_then(rng):
        yield "fair_hosts", True


def _discipline(rng: random.Random) -> dict[str, Any]:
    """Marking, scheduling with any of that inside, or anything else."""
    kind = rng.choice(["marking", "marking", "scheduler", "scheduler", "shared", "other"])
    if kind == "scheduler":
        name = rng.choice(list(_SCHEDULERS))
        attribute, values = _SCHEDULERS[name]
        classes = rng.choice(values)
        several = len(classes.split()) if now_and_then(rng, 0.3) else 1
        children = [_leaf(rng) for _ in range(several)]
        return {"type": name, "attributes": {attribute: classes}, "children": children}
    if kind == "shared":
        own = {"PoolBytes": rng.choice([20_000, 60_000, 300_000]), "Alpha": rng.choice([0.5, 1, 4])}
        return {"type": "SharedBufferQueueDisc", "attributes": own, "children": [_leaf(rng)]}
    return _leaf(rng, _MARKING if kind == "marking" else ())


def _leaf(rng: random.Random, names: tuple[str, ...] = ()) -> dict[str, Any]:
    """A discipline without classes, set for round trips of a hundred microseconds."""
    apart = {*_APART, *_SCHEDULERS, "SharedBufferQueueDisc"}
    known = registry.compared("qdisc")
    if not names:
        names = _MARKING if now_and_then(rng, 0.6) else tuple(n for n in known if n not in apart)
    name = rng.choice(names)
    params = known[name]["params"]
    drawn = draw_attributes(rng, params, 0.2)
    quick = {"Target": "50us", "Interval": "300us", "Threshold": "80us", "Tupdate": "300us"}
    quick |= {"QueueDelayReference": "80us", "UseEcn": "true", "MarkingThreshold": "12p"}
    usual = {p["ns3"]: quick[p["ns3"]] for p in params if p["ns3"] in quick}
    limit = {p["ns3"]: f"{rng.choice([5, 20, 60, 250])}p" for p in params if p["ns3"] == "MaxSize"}
    kept = drawn if now_and_then(rng, 0.5) else {}
    return {"type": name, "attributes": {**usual, **kept, **limit}}


def _stack(rng: random.Random) -> dict[str, Any]:
    classes: dict[str, Any] = {}
    if now_and_then(rng, 0.5):
        classes["dscp"] = rng.choice([0, 1, 2, 3, 46])
        classes["return_dscp"] = rng.choice([0, 0, 1, 2])
    if now_and_then(rng):
        classes["pias"] = ["2kB", "20kB", "100kB"][: rng.randint(1, 3)]
    if now_and_then(rng, 0.3):
        return {"profile": rng.choice(WHOLE), **classes}
    cc = rng.choice(["TcpDctcp", "TcpDctcpReno", "TcpNewReno", *registry.compared("cc")])
    tcp: dict[str, Any] = {
        "MinRto": f"{rng.choice([1, 5, 10])}ms",
        "ConnTimeout": "5ms",
        "UseEcn": rng.choice(["On", "On", "Off"]),
        "SegmentSize": rng.choice([1448, 1448, 1400, 536]),
        "DelAckCount": rng.choice([1, 2]),
    }
    if now_and_then(rng, 0.3):
        tcp["Sack"] = "false"
    if now_and_then(rng, 0.3):
        tcp["ClockGranularity"] = "100us"
    if now_and_then(rng, 0.3):
        tcp["InitialCwnd"] = rng.randint(1, 20)
    if now_and_then(rng):
        tcp["MaxSegLifetime"] = rng.choice(["0.0001", "0.002"])
    recovery = rng.choice(list(registry.algorithms("recovery")))
    return {"cc": cc, "recovery": recovery, "tcp": tcp, **classes}


def _workload(rng: random.Random, fabric: Fabric, count: int, stop_us: int) -> dict[str, Any]:
    hosts = len(fabric.hosts)
    load = round(rng.uniform(0.1, 0.9) / count, 3)
    arrivals: dict[str, Any] = {"type": "Poisson", "load": load, "count": 400 // count}
    pairs: dict[str, Any] = {}
    if now_and_then(rng, 0.4):
        times = sorted(rng.randrange(stop_us) for _ in range(rng.randint(1, 3)))
        kind = rng.choice(["Incast", "Permutation", *["AllToAll"] * (hosts <= 6)])
        arrivals = {"type": "Times", "times": [f"{time}us" for time in times]}
        pairs = {"pairs": kind}
    workload: dict[str, Any] = {"sizes": _sizes(rng), "arrivals": arrivals, **pairs}
    if now_and_then(rng, 0.4):
        workload["added_delay"] = rng.choice(
            [
                f"{rng.randint(1, 200)}us",
                {"type": "Classes", "delays": ["1us", "20us", "50us", "80us", "160us"]},
                {"type": "Uniform", "min": "0s", "max": f"{rng.randint(1, 300)}us"},
                {"type": "Cdf", "points": [["0us", 0.1], ["60us", 0.5], ["160us", 1]]},
            ]
        )
    if now_and_then(rng):
        workload["write"] = rng.choice(["1448B", "100B", "65536B"])
    return workload


def _sizes(rng: random.Random) -> Any:
    return rng.choice(
        [
            _PLAIN_SIZES,
            "Facebook",
            {"type": "Uniform", "min": "1B", "max": f"{rng.randint(2, 100)}kB"},
            {"type": "Listed", "bytes": ["1B", "1448B", "14480B", "14481B", "3kB"]},
            {"type": "Cdf", "points": [[0, 0], [300, 0.3], [2e3, 0.6], [2e4, 0.8], [3e5, 1]]},
        ]
    )


def _befalls(rng: random.Random, fabric: Fabric, stop_us: int) -> Iterator[tuple[str, Any]]:
    """Ways of packets, and what goes wrong on them."""
    yield "routing", _routing(rng)
    if now_and_then(rng, 0.4):
        yield "failures", [_failure(rng, fabric, stop_us) for _ in range(rng.randint(1, 3))]
    if now_and_then(rng):
        node = rng.choice(fabric.switches)
        fault: dict[str, Any] = {"node": node, "loss": rng.choice([0.01, 0.1, 1])}
        if now_and_then(rng, 0.5) or fault["loss"] == 1:
            fault["sources"] = rng.sample(fabric.hosts, rng.randint(1, 2))
        if now_and_then(rng, 0.5):
            fault["start"] = f"{rng.randrange(stop_us // 2)}us"
            fault["stop"] = f"{rng.randrange(stop_us // 2, stop_us)}us"
        yield "faults", [fault]


def _routing(rng: random.Random) -> Any:
    """What ns-3 has, or, as often, a load balancer that the driver has a second time."""
    if now_and_then(rng, 0.5):
        return rng.choice(["ecmp", "ecmp", "static", "random"])
    name = rng.choice(list(_SCHEMES))
    return {"type": name, "attributes": {key: rng.choice(v) for key, v in _SCHEMES[name].items()}}


def _failure(rng: random.Random, fabric: Fabric, stop_us: int) -> dict[str, Any]:
    down = rng.randrange(stop_us - 1)
    up = f"{rng.randrange(down + 1, stop_us)}us"
    if now_and_then(rng, 0.5):
        return {"node": rng.choice(fabric.switches), "down": f"{down}us", "up": up}
    return {"link": rng.choice(fabric.links)["name"], "down": f"{down}us", "up": up}
