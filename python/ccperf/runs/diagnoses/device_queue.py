"""A queue below the discipline, where the discipline does not see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ccperf.runs.diagnoses.rule import Rule, Run, has_device_queue, length_bytes, microseconds

#: Per cent of a link's rate from which on it is full.
_FULL = 90
#: Of its rate while packets wait: else its discipline holds them back itself, as a token bucket.
_SATURATED = 0.98
#: Of the samples; below that it may be a moment, as at the end of slow start.
_LEAST_SHARE = 0.1
_FIX = '`device_queue = "1p"` makes packets wait where the discipline sees them'


def _find(run: Run) -> Iterator[tuple[str, str]]:
    below = {
        f"{link['name']}_{side}": link[side]
        for link in run.scenario["links"]
        for side in ("forward", "reverse")
        if has_device_queue(link, side)
    }
    for direction, metrics in run.links.items():
        if direction not in below:
            continue
        shown_us = metrics.get("mean_sojourn_l2", 1)
        is_full = metrics.get("mean_utilization_l1", 0) > _FULL
        if is_full and shown_us == 0:
            yield (
                direction,
                "is full, and nothing waits in its queue discipline: what waits is in the device "
                f"queue below it; {_FIX}",
            )
        elif (hidden_ns := _hidden_ns(run, direction, below[direction])) > shown_us * 1e3:
            yield (
                direction,
                f"has a mean delay of {microseconds(shown_us * 1e3)} in its queue discipline, and "
                f"of at least {microseconds(hidden_ns)} in the device queue below it; {_FIX}",
            )


def _hidden_ns(run: Run, direction: str, port: Mapping[str, Any]) -> float:
    """The mean delay in a device queue, at least: it is full while packets wait above it."""
    waits = run.sampled(direction, "qdisc_packets") > 0
    # Byte queue limits make it shorter than it is said to be.
    if port["qdisc"] is None or port["queue_limits"] or len(waits) < 2:
        return 0.0
    still = waits[1:] & waits[:-1]
    gaps = np.diff(run.sampled(direction, "time_ns"))[still] / 1e9
    could = float((run.sampled(direction, "rate_bps")[1:][still] * gaps).sum())
    sent = 8.0 * float(np.diff(run.sampled(direction, "tx_bytes"))[still].sum())
    if waits.mean() < _LEAST_SHARE or sent < _SATURATED * could or not could:
        return 0.0
    held = length_bytes(port["device_queue"], _packet_bytes(run, direction))
    return float(waits.mean()) * held * 8e9 * float(gaps.sum()) / could


def _packet_bytes(run: Run, direction: str) -> float:
    """The mean size of what a direction sends."""
    links = run.recording.links
    place = links.strings("name").index(direction)
    return float(links.array("tx_bytes")[place] / links.array("tx_packets")[place])


RULE = Rule(
    name="device-queue",
    what="A link whose packets wait where its queue discipline does not see them:",
    text=(
        "in the device queue below it, of 100 packets by default. Delays and lengths of queues are "
        "those of disciplines alone; round-trip times have both. "
        '`device_queue = "1p"` makes packets wait where the discipline sees them.'
    ),
    find=_find,
    metric="mean_sojourn_l2",
)
