"""Lowered scenarios with everything written out, as files of version 2 have it."""

from __future__ import annotations

import json
from typing import Any

#: What a direction may leave out.
USUAL: dict[str, Any] = {
    "name": "",
    "mtu_bytes": 1500,
    "qdisc": {
        "type": "FifoQueueDisc",
        "attributes": {"MaxSize": "1000p"},
        "stream": 0,
        "children": [],
    },
    "device_queue": {"packets": 100},
    "queue_limits_hold_ns": None,
    "device_queues": 1,
    "device_select": "flow",
    "loss": 0.0,
    "loss_stream": 0,
    "drops": [],
    "gilbert_elliott": None,
    "jitter": None,
    "reordering": None,
}


def written_out(lowered: str) -> dict[str, Any]:
    """Return what a lowered scenario says, with all that it leaves out."""
    whole: dict[str, Any] = json.loads(lowered)
    whole["schema"] = 2
    for link in whole["links"]:
        link.setdefault("schedules", [])
        link["directions"] = [
            {**USUAL, "name": f"{link['name']}_{word}", **direction}
            for word, direction in zip(("forward", "reverse"), link["directions"], strict=True)
        ]
    return whole
