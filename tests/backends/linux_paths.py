"""A flow over one bottleneck, for the profile ``linux`` and for the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ccperf.scenario import Scenario

#: Rate, one-way delay and queue: of a bandwidth-delay product or less, and one that never fills.
PATHS = {
    "dumbbell": ("16Mbps", "7.5ms", "20p"),
    "fast": ("100Mbps", "10ms", "250000B"),
    "long": ("16Mbps", "50ms", "100p"),
    "wide": ("100Mbps", "10ms", "1000000B"),
    "deep": ("16Mbps", "20ms", "60p"),
    "near": ("100Mbps", "1.5ms", "100p"),
}
SIZES = {"SegmentSize": 1448, "SndBufSize": 16_000_000, "RcvBufSize": 16_000_000}
OF_LINUX = {"Profile": "linux", "MinRto": "200ms", "ConnTimeout": "1s"}


def scenario(
    path: str,
    cc: str,
    stop: str,
    tcp: dict[str, Any],
    *,
    loss: float = 0,
    drop: Sequence[int] = (),
    seed: int = 1,
    changes: Sequence[dict[str, Any]] = (),
) -> Scenario:
    rate, delay, queue = PATHS[path]
    forward: dict[str, Any] = {
        "device_queue": "1p",
        "qdisc": {"type": "fifo", "attributes": {"MaxSize": queue}},
    }
    if loss:
        forward["loss"] = loss
    if drop:
        forward["drop"] = list(drop)
    return Scenario.model_validate(
        {
            "stop_time": stop,
            "seed": seed,
            "changes": [{"link": "bottleneck", **change} for change in changes],
            "nodes": ["a", "r", "b"],
            "links": [
                {"name": "in", "ends": ["a", "r"], "rate": "10Gbps", "delay": "1us"},
                {
                    "name": "bottleneck",
                    "ends": ["r", "b"],
                    "rate": rate,
                    "delay": delay,
                    "forward": forward,
                },
            ],
            "flows": [
                {
                    "source": "a",
                    "destination": "b",
                    "cc": cc,
                    "recovery": "TcpPrrRecovery",
                    "tcp": {**SIZES, **tcp},
                }
            ],
        }
    )
