"""Random scenarios over fabrics that pause or cut packets: laws of RoCE beside each other, NDP, TCP
and datagrams.

ns-3 has nothing of it, so that they are not among those of `ccperf.verify.fuzz`.
"""

from __future__ import annotations

import random
from typing import Any

from ccperf.algorithms import registry
from ccperf.experiments.topologies import Fabric, FabricLink, SwitchPort, leaf_spine, star
from ccperf.scenario import Scenario
from ccperf.verify.draw import draw_attributes, now_and_then

SCENARIOS, PARTS = 200, 4
CONTROLS = registry.tables()["trimming"]
LAWS = registry.tables()["rate_control"]
DISCIPLINES: tuple[dict[str, Any], ...] = (
    {"type": "FifoQueueDisc", "attributes": {"MaxSize": "100000p"}},
    {"type": "FifoQueueDisc", "attributes": {"MaxSize": "30p"}},
    {"type": "CoDelQueueDisc", "attributes": {"UseEcn": "true", "MaxSize": "5000p"}},
    {
        "type": "RedQueueDisc",
        "attributes": {
            "MinTh": 5000,
            "MaxTh": 200_000,
            "LInterm": 20,
            "MeanPktSize": 1044,
            "QW": 1,
            "MaxSize": "10MB",
            "UseEcn": "true",
            "UseHardDrop": "false",
            "Gentle": "false",
        },
    },
    {"type": "NdpQueueDisc"},
    {"type": "NdpQueueDisc", "attributes": {"DataLimit": "3000B", "HeaderLimit": "20p"}},
    {
        "type": "NdpQueueDisc",
        "attributes": {"DataLimit": "30000B", "MarkLow": 5000, "MarkHigh": 20_000},
    },
)


def scenarios(part: int) -> list[Scenario]:
    return [
        scenario(random.Random(f"{part}/{number}"), f"lossless {part}.{number}")
        for number in range(SCENARIOS // PARTS)
    ]


def scenario(rng: random.Random, label: str) -> Scenario:
    network = _network(rng)
    loss = 0.001 if now_and_then(rng) else 0.0
    links = [_paused(rng, link, network.switches, loss) for link in network.links]
    flows = [_flow(rng, network.hosts) for _ in range(rng.randint(1, 8))]
    return Scenario.model_validate(
        {
            "label": label,
            "seed": rng.randint(1, 1000),
            "nodes": network.nodes,
            "links": links,
            "flows": flows,
            "stop_time": f"{rng.randint(1, 4)}ms",
            "routing": {"type": "ecmp"},
            "recording": {"interval": "100us", "completions": now_and_then(rng, 0.5)},
        }
    )


def _network(rng: random.Random) -> Fabric:
    wire = FabricLink(rng.choice(("1Gbps", "10Gbps", "40Gbps")), rng.choice(("1us", "10us")))
    port = SwitchPort(rng.choice(DISCIPLINES), "100p")
    if now_and_then(rng, 0.5):
        return star(rng.randint(2, 6), wire, port=port)
    return leaf_spine(2, rng.randint(1, 2), 2, host_link_of=wire, fabric_link_of=wire, port=port)


def _paused(
    rng: random.Random, link: dict[str, Any], switches: tuple[str, ...], loss: float
) -> dict[str, Any]:
    made = dict(link)
    for way, end in zip(("forward", "reverse"), reversed(link["ends"]), strict=True):
        made[way] = {**link[way], "loss": loss}
        if end in switches and now_and_then(rng, 0.8):
            made[way]["pfc"] = {
                "xoff": rng.choice(("5kB", "30kB", "100kB")),
                "quanta": rng.choice((300, 65535)),
                "response": rng.choice(("0s", "1us")),
            }
    return made


def _flow(rng: random.Random, hosts: tuple[str, ...]) -> dict[str, Any]:
    source, destination = rng.sample(hosts, 2)
    flow: dict[str, Any] = {
        "source": source,
        "destination": destination,
        "start": f"{rng.randint(0, 500)}us",
    }
    if now_and_then(rng, 0.1):
        application = {"type": "CBR", "rate": "900Mbps", "write": "1000B"}
        return {**flow, "transport": "UDP", "tos": 96, "application": application}
    size = rng.choice(("0B", "1B", "10kB", "1MB"))
    application = {"type": "Greedy", "bytes": size, "write": rng.choice(("1000B", "333B"))}
    flow["application"] = application
    if now_and_then(rng, 0.2):
        return {**flow, "cc": {"type": "TcpDctcp"}, "dscp": 26}
    if now_and_then(rng, 0.25):
        control = rng.choice(CONTROLS)
        settings = draw_attributes(rng, control["params"], 0.3)
        cc = {"type": control["ns3"], "attributes": settings}
        return {**flow, "transport": "TRIMMING", "cc": cc}
    law = rng.choice(LAWS)
    # Above THigh it would be refused.
    params = [param for param in law["params"] if param["ns3"] != "TLow"]
    attributes = draw_attributes(rng, params, 0.3)
    return {**flow, "transport": "ROCE", "cc": {"type": law["ns3"], "attributes": attributes}}
