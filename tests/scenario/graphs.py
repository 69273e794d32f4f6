"""Random networks: any graph, any queue discipline on any link, flows between any two nodes."""

from __future__ import annotations

import json
import random
from typing import Any

from ccperf import _native
from ccperf.scenario import Scenario

_REGISTRY = json.loads(_native.registry())
#: What ns-3 itself has.
_SPECIAL = ("BurstReleaseQueueDisc", "MqQueueDisc")
QDISCS = [s["ns3"] for s in _REGISTRY["qdisc"] if s["ns3"] not in _SPECIAL and not s["is_own"]]
_PARAMETERS = {s["ns3"]: [param["ns3"] for param in s["params"]] for s in _REGISTRY["qdisc"]}
#: Those that ns-3 has: the networks are compared with it.
CONGESTION_CONTROLS = [s["ns3"] for s in _REGISTRY["cc"] if not s["is_own"]]
RECOVERIES = [s["ns3"] for s in _REGISTRY["recovery"]]
#: Few values, so that events of different links fall on the same nanosecond.
RATES = ["5Mbps", "10Mbps", "10Mbps", "20Mbps", "100Mbps"]
DELAYS = ["0s", "1.3us", "1ms", "1ms", "2ms", "5ms"]


def scenario(seed: int) -> Scenario:
    """The same for the same seed."""
    rng = random.Random(seed)
    nodes = [f"n{i}" for i in range(rng.randint(2, 7))]
    pairs = [(nodes[rng.randrange(i)], nodes[i]) for i in range(1, len(nodes))]
    pairs += [tuple(rng.sample(nodes, 2)) for _ in range(rng.randint(0, 4))]
    rng.shuffle(pairs)
    links = [
        {
            "name": f"l{i}",
            "ends": rng.sample(pair, 2),
            "rate": rng.choice(RATES),
            "delay": rng.choice(DELAYS),
            "forward": _direction(rng),
            "reverse": _direction(rng),
        }
        for i, pair in enumerate(pairs)
    ]
    return Scenario(
        label=f"random network {seed}",
        stop_time="1s",
        seed=rng.randint(1, 9),
        nodes=nodes,
        links=links,
        changes=[_change(rng, len(links)) for _ in range(rng.choice([0, 0, 1, 2]))],
        flows=[_flow(rng, nodes) for _ in range(rng.randint(1, 6))],
    )


def _direction(rng: random.Random) -> dict[str, Any]:
    direction: dict[str, Any] = {}
    if rng.random() < 0.6:
        direction["qdisc"] = _qdisc(rng)
    elif rng.random() < 0.3:
        direction["qdisc"] = None
    if rng.random() < 0.5:
        direction["device_queue"] = rng.choice(["1p", "2p", "5p", "3004B", "10000B"])
    if rng.random() < 0.2:
        direction["rate"] = rng.choice(["2Mbps", "10Mbps", "37Mbps"])
    if rng.random() < 0.15:
        direction["loss"] = rng.choice([0.001, 0.01, 0.05])
    if rng.random() < 0.15:
        direction["drop"] = rng.sample(range(200), 3)
    return direction


def _qdisc(rng: random.Random) -> dict[str, Any]:
    name = rng.choice(QDISCS)
    attributes: dict[str, Any] = {}
    if "MaxSize" in _PARAMETERS[name] and rng.random() < 0.7:
        attributes["MaxSize"] = f"{rng.choice([3, 10, 30, 100])}p"
    if name == "TbfQueueDisc":
        attributes |= {"Rate": "8Mbps", "Burst": rng.choice([3000, 20000])}
    return {"type": name, "attributes": attributes}


def _change(rng: random.Random, links: int) -> dict[str, Any]:
    change: dict[str, Any] = {
        "time": f"{rng.randint(0, 900)}ms",
        "link": f"l{rng.randrange(links)}",
    }
    what = rng.choice(["rate", "delay", "loss"])
    change[what] = rng.choice({"rate": RATES, "delay": DELAYS, "loss": [0.0, 0.02]}[what])
    if what != "delay":
        change["direction"] = rng.choice(["forward", "reverse", "both"])
    return change


def _flow(rng: random.Random, nodes: list[str]) -> dict[str, Any]:
    source, destination = rng.sample(nodes, 2)
    start = rng.choice([0, 0, 0, 100, 333])
    flow: dict[str, Any] = {
        "source": source,
        "destination": destination,
        "cc": rng.choice(CONGESTION_CONTROLS),
        "recovery": rng.choice(RECOVERIES),
        "start": f"{start}ms",
        "tcp": {"SegmentSize": rng.choice([536, 1000, 1448])},
    }
    for name, value, probability in [
        ("DelAckCount", 1, 0.3),
        ("Sack", False, 0.2),
        ("Timestamp", False, 0.2),
        ("UseEcn", "On", 0.4),
        ("SndBufSize", rng.choice([10_000, 1_000_000]), 0.2),
        ("RcvBufSize", rng.choice([10_000, 1_000_000]), 0.2),
    ]:
        if rng.random() < probability:
            flow["tcp"][name] = value
    if rng.random() < 0.3:
        flow["stop"] = f"{start + rng.randint(1, 700)}ms"
    if rng.random() < 0.4:
        flow["application"] = {
            "bytes": rng.choice(["1B", "10kB", "100kB", "1MB"]),
            "write": rng.choice(["100B", "512B", "1448B", "5000B"]),
        }
    return flow
