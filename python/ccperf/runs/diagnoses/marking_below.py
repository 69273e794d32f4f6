"""A marking discipline over a device queue that holds longer than its threshold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.runs.diagnoses.rule import Rule, Run, has_device_queue, length_bytes, microseconds

#: Of a full packet on the wire, PPP header included.
_PACKET_BYTES = 1502


def _find(run: Run) -> Iterator[tuple[str, str]]:
    for link in run.scenario["links"]:
        for direction in ("forward", "reverse"):
            port = link[direction]
            rate = _native.parse_rate(port.get("rate") or link["rate"])
            threshold = _threshold(port.get("qdisc"), rate)
            held = length_bytes(port["device_queue"], _PACKET_BYTES) * 8e9 / rate
            if not has_device_queue(link, direction):
                continue
            if threshold is not None and held > threshold:
                yield (
                    f"{link['name']}_{direction}",
                    f"marks above {microseconds(threshold)} in its queue discipline, over a device "
                    f"queue of {port['device_queue']} that holds {microseconds(held)} and is never "
                    'marked; `device_queue = "1p"` leaves it to the discipline',
                )


def _threshold(qdisc: Mapping[str, Any] | None, rate: int) -> float | None:
    """The longest time that a packet waits unmarked, in ns; None if nothing marks."""
    if qdisc is None:
        return None
    known = registry.algorithms("qdisc").get(qdisc["type"], {"params": ()})
    own = [
        time
        for param in known["params"]
        for time in [_time(param["kind"], registry.attribute("qdisc", qdisc, param["ns3"]), rate)]
        if time is not None
    ]
    inner = [_threshold(child, rate) for child in qdisc.get("children", ())]
    found = [*own, *(time for time in inner if time is not None)]
    return max(found, default=None)


def _time(kind: str, text: str, rate: int) -> float | None:
    if kind == "threshold":
        return float(_native.parse_time(text))
    if kind == "marking_length":
        return length_bytes(text, _PACKET_BYTES) * 8e9 / rate
    return None


RULE = Rule(
    name="marking-below",
    what="A threshold for marks that the device queue below it is longer than:",
    text=(
        "the queue discipline marks what waits in it, and packets wait in the device queue below "
        "it unseen, 100 of them by default: 120 us at 10 Gbps, below thresholds of 50 us. "
        '`device_queue = "1p"` leaves all that waits to the discipline.'
    ),
    find=_find,
    metric="mark_rate_l2",
)
