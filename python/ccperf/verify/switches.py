"""The part of the matrix about networks of switches: several paths, and links that fail."""

from __future__ import annotations

import warnings
from random import Random
from typing import TYPE_CHECKING, Any

from ccperf.experiments.topologies import FabricLink, SwitchPort, fat_tree, leaf_spine
from ccperf.scenario import ScenarioWarning
from ccperf.verify.case import Case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ccperf.experiments.topologies import Fabric

_LINK = FabricLink("1Gbps", "5us")
FIFO = SwitchPort({"type": "FifoQueueDisc", "attributes": {"MaxSize": "30p"}})
#: Marks everything above 10 packets, as DCTCP wants it.
RED = SwitchPort(
    {
        "type": "RedQueueDisc",
        "attributes": {
            "MinTh": "10",
            "MaxTh": "10",
            "MaxSize": "60p",
            "QW": "1",
            "UseEcn": "true",
            "UseHardDrop": "false",
            "LinkBandwidth": "1Gbps",
            "LinkDelay": "5us",
        },
    }
)
#: Small ones end, large ones fill queues; all are as old as the run.
_SIZES = ("3000B", "12000B", "40000B", "120000B")


def _flows(fabric: Fabric, count: int, cc: str, seed: int, within_us: int = 2_000) -> list[Any]:
    """Between different hosts at random, starting within the first moments."""
    dice = Random(seed)
    flows = []
    for _ in range(count):
        source, destination = dice.sample(fabric.hosts, 2)
        flows.append(
            {
                "source": source,
                "destination": destination,
                "start": f"{dice.randrange(within_us)}us",
                "cc": cc,
                "application": {"type": "Greedy", "bytes": dice.choice(_SIZES)},
                "tcp": {"MinRto": "5ms", "UseEcn": "On" if cc == "TcpDctcp" else "Off"},
            }
        )
    return flows


def _leaf_spine(port: SwitchPort = FIFO, parallel: int = 1) -> Fabric:
    below = FabricLink("1Gbps", "2us")
    return leaf_spine(
        4, 4, 8, parallel=parallel, host_link_of=below, fabric_link_of=_LINK, port=port
    )


def _fat_tree(port: SwitchPort = FIFO) -> Fabric:
    return fat_tree(4, _LINK, port=port)


_FABRICS: dict[str, Callable[[SwitchPort], Fabric]] = {
    "leaf-spine": _leaf_spine,
    "fat-tree": _fat_tree,
}


def case(
    name: str, fabric: Fabric, cc: str = "TcpNewReno", flows: int = 60, **settings: Any
) -> Case:
    # (With some other flows, and ways at random, ns-3 ends: see `departures.ENDS`.)
    sent = _flows(fabric, flows, cc, settings.pop("flow_seed", 1))
    for flow in sent:
        flow["tcp"] |= settings.get("tcp", {})
    settings.pop("tcp", None)
    for i, flow in enumerate(sent[: settings.pop("datagrams", 0)]):
        steady = {"type": "CBR" if i % 2 else "Poisson", "rate": "60Mbps", "write": "1000B"}
        sent[i] = {**flow, "transport": "UDP", "application": steady}
        del sent[i]["cc"], sent[i]["tcp"]
    heavy = settings.pop("heavy", False)
    settings = {"stop_time": "12ms", "routing": "ecmp", **settings}
    with warnings.catch_warnings():
        # Hosts that are never reached again are meant so here.
        warnings.simplefilter("ignore", ScenarioWarning)
        return Case(fabric.scenario(sent, label=name, **settings), heavy)


def switches() -> Iterator[Case]:
    """Per-flow ECMP on leaf-spine and fat-tree, with 200 flows; random paths for each packet."""
    ports = {"FIFO": FIFO, "RED": RED}
    for shape, make in _FABRICS.items():
        for queue, port in ports.items():
            for cc in ("TcpDctcp", "TcpNewReno"):
                name = f"switches/{shape}-{queue}-{cc}"
                yield case(name, make(port), cc, flows=200, stop_time="30ms", heavy=True)
        yield case(f"switches/{shape}-static", make(FIFO), routing="static")
        yield case(f"switches/{shape}-random", make(FIFO), routing="random")
        seeded = {"type": "ecmp", "attributes": {"Seed": "18446744073709551615"}}
        yield case(f"switches/{shape}-seed", make(RED), "TcpDctcp", routing=seeded)
    yield case("switches/parallel-links", _leaf_spine(parallel=3), seed=7)
    bare = SwitchPort(None, "20p")
    yield case("switches/no-discipline", _fat_tree(bare), flows=120)
    deep = SwitchPort({"type": "FqCoDelQueueDisc", "attributes": {}}, "3p")
    yield case("switches/FqCoDel-random", _fat_tree(deep), routing="random", seed=3)
    pings = [
        {"source": "h_0_0_0", "destination": f"h_{i}_1_1", "interval": "1ms"} for i in range(4)
    ]
    yield case("switches/datagrams", _fat_tree(), flows=40, datagrams=20)
    yield case("switches/pings", _fat_tree(), pings=pings, flows=20)


def failures() -> Iterator[Case]:
    """Links and switches that fail under load and come back, with one way and with several."""
    up = {"link": "leaf_0_spine_1", "down": "1500us", "up": "6ms"}
    spine = {"node": "spine_2", "down": "2ms", "up": "7ms"}
    for routing in ("static", "ecmp", "random"):
        first = {"link": "leaf_0_spine_0", "down": "1ms", "up": "5ms"}
        failing = [first, up, spine]
        yield case(f"failures/{routing}", _leaf_spine(), routing=routing, failures=failing)
    marking = _leaf_spine(RED)
    yield case("failures/RED-DCTCP", marking, "TcpDctcp", flows=100, failures=[up, spine])
    for kind in ("CoDelQueueDisc", "FqCoDelQueueDisc", "PieQueueDisc", "PfifoFastQueueDisc"):
        port = SwitchPort({"type": kind, "attributes": {}}, "4p")
        yield case(f"failures/{kind}", _leaf_spine(port), flows=100, failures=[up, spine])
    bare = SwitchPort(None, "20p")
    yield case("failures/no-discipline", _leaf_spine(bare), flows=100, failures=[up, spine])
    # Nobody can reach these hosts for a while; some connect only then.
    host = {"link": "h_0_0", "down": "1ms", "up": "8ms"}
    leaf = {"node": "leaf_3", "down": "500us", "up": "3ms"}
    cut_off = [host, leaf, {"node": "h_1_1", "down": "2ms"}]
    yield case("failures/cut-off", _leaf_spine(), flows=120, failures=cut_off)
    yield case("failures/datagrams", _leaf_spine(), flows=60, failures=cut_off, datagrams=20)
    # Hosts answer by ICMP, or ask by it, while there is no way.
    unheard = case("failures/unheard", _leaf_spine(), flows=60, failures=cut_off, datagrams=60)
    flows = [flow.model_copy(update={"receiver_stop": "0s"}) for flow in unheard.scenario.flows]
    yield Case(unheard.scenario.model_copy(update={"flows": tuple(flows)}))
    asked: dict[str, Any] = {"destination": "h_2_1", "interval": "300us", "stop": "7ms"}
    pings = [{"source": host, **asked} for host in ("h_0_0", "h_3_0", "h_1_0")]
    late = [{"link": "h_0_0", "down": "1ms", "up": "8ms"}, {**leaf, "up": "8ms"}]
    yield case("failures/pings", _leaf_spine(), flows=20, failures=late, pings=pings)
    flapping = [
        {"link": "leaf_1_spine_0", "down": f"{at}us", "up": f"{at + 300}us"}
        for at in range(500, 8_000, 600)
    ]
    yield case("failures/flapping", _leaf_spine(), flows=100, failures=flapping)
    # Overlapping reasons: the link is down until the last of them is over.
    both = [
        {"link": "edge_0_0_agg_0_0", "down": "1ms", "up": "4ms"},
        {"node": "agg_0_0", "down": "2ms", "up": "6ms"},
        {"node": "core_3", "down": "4ms"},
    ]
    pings = [{"source": "h_0_0_0", "destination": "h_2_1_1", "interval": "700us"}]
    yield case("failures/fat-tree", _fat_tree(), failures=both, pings=pings, flows=100)


def faults() -> Iterator[Case]:
    """Switches that lose packets: at random, by source, destination and pair, for a while."""
    share = {"node": "spine_0", "loss": 0.02}
    source = {"node": "leaf_0", "sources": ["h_0_1"], "start": "2ms", "stop": "6ms"}
    destination = {"node": "spine_1", "destinations": ["h_1_0", "h_1_1"]}
    pair = {"node": "spine_2", "sources": ["h_0_0"], "destinations": ["h_2_0", "h_3_1"]}
    half = {**pair, "loss": 0.5, "stream": 7}
    for name, given in {
        "random": [share],
        "source": [source],
        "destination": [destination],
        "pair": [pair],
        "several": [share, half, {**share, "loss": 0.3, "start": "4ms"}, source],
    }.items():
        yield case(f"faults/{name}", _leaf_spine(), flows=100, faults=given)
    failing = [{"link": "leaf_0_spine_1", "down": "1500us", "up": "6ms"}]
    both = {"faults": [share, destination], "failures": failing}
    yield case("faults/failures", _leaf_spine(RED), "TcpDctcp", flows=100, **both)
    yield case("faults/random-routing", _leaf_spine(), routing="random", flows=60, faults=[share])
    pings = [{"source": "h_0_0_0", "destination": "h_2_1_1", "interval": "300us"}]
    core = {"node": "core_0", "loss": 0.1}
    yield case("faults/datagrams", _fat_tree(), flows=60, datagrams=20, pings=pings, faults=[core])


GROUPS: tuple[Callable[[], Iterator[Case]], ...] = (switches, failures, faults)
