"""Scenarios and places for the tests of user code."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

from ccperf.scenario import Scenario

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"

#: The shortest commands and files that make a run.
AQM = ["run", "aqm", "--k", "1", "--qdisc", "codel", "--stop-time", "60ms"]
LINE = (
    "ns3-dev-ccperf-static-dumbbell-default --stop-time=60ms --bw=16Mbps --qlen=20p --rtts=15ms "
    "--algs=TcpCubic"
)
SCENARIO = """
stop_time = "60ms"
nodes = ["a", "b"]
[[links]]
name = "wire"
ends = ["a", "b"]
rate = "10Mbps"
delay = "5ms"
[[flows]]
source = "a"
destination = "b"
cc = "cubic"
"""
#: 4 TB a minute: a hundredth of the run takes minutes.
HEAVY = """
stop_time = "1h"
nodes = ["a", "b"]
[recording]
interval = "1s"
[[links]]
name = "l"
ends = ["a", "b"]
rate = "400Gbps"
delay = "1us"
forward = { qdisc = { type = "fifo", attributes = { MaxSize = "100000p" } } }
[[flows]]
source = "a"
destination = "b"
cc = "cubic"
tcp = { SndBufSize = 10000000, RcvBufSize = 10000000, SegmentSize = 1448 }
"""


def scenario(cc: object, **changes: Any) -> Scenario:
    """Two flows that share a queue of 20 packets with losses, and a third that starts late."""
    flows = [
        {"source": "a", "destination": "d", "cc": cc, "start": start}
        for start in ("0s", "0s", "1.5s")
    ]
    data: dict[str, Any] = {
        "stop_time": "3s",
        "seed": 7,
        "nodes": ["a", "b", "c", "d"],
        "links": [
            {"name": "in", "ends": ["a", "b"], "rate": "100Mbps", "delay": "1ms"},
            {
                "name": "btl",
                "ends": ["b", "c"],
                "rate": "10Mbps",
                "delay": "10ms",
                "forward": {
                    "qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": "20p"}},
                    "device_queue": "1p",
                    "loss": 0.002,
                },
            },
            {"name": "out", "ends": ["c", "d"], "rate": "100Mbps", "delay": "1ms"},
        ],
        "flows": flows,
        "recording": {"changes": True},
    }
    return Scenario.model_validate(data | changes)


def with_qdisc(
    qdisc: object, cc: str = "TcpNewReno", tcp: dict[str, str] | None = None
) -> Scenario:
    """`scenario` with another queue discipline at the bottleneck."""
    data = scenario(cc).model_dump()
    data["links"][1]["forward"]["qdisc"] = qdisc
    for flow in data["flows"]:
        flow["tcp"] = tcp or {}
    return Scenario.model_validate(data)


def balanced(routing: object) -> Scenario:
    """Five flows between the hosts of two leaves below two spines, of which one is slower."""
    hosts = [f"h{i}" for i in range(6)]
    spine = {"delay": "1ms", "rate": "10Mbps"}
    data: dict[str, Any] = {
        "stop_time": "300ms",
        "seed": 3,
        "nodes": ["left", "right", "up", "down", *hosts],
        "links": [
            *(
                {"name": host, "ends": [host, ("left", "right")[i % 2]], "rate": "20Mbps"}
                | {"delay": "1ms"}
                for i, host in enumerate(hosts)
            ),
            {"name": "left-up", "ends": ["left", "up"], **spine},
            {"name": "left-down", "ends": ["left", "down"], **spine, "rate": "4Mbps"},
            {"name": "right-up", "ends": ["right", "up"], **spine},
            {"name": "right-down", "ends": ["right", "down"], **spine},
        ],
        "routing": routing,
        "flows": [
            {"source": a, "destination": b, "cc": "TcpNewReno"}
            for a, b in (("h0", "h1"), ("h2", "h3"), ("h4", "h5"), ("h1", "h0"), ("h3", "h4"))
        ],
    }
    return Scenario.model_validate(data)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "python")}


def drawn_seed() -> int:
    """Another seed in every run, printed; CCPERF_TEST_SEED gives one again."""
    seed = int(os.environ.get("CCPERF_TEST_SEED") or random.SystemRandom().randrange(2**32))
    print(f"again: CCPERF_TEST_SEED={seed}")
    return seed
