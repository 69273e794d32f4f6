"""Segments that do not fit into the packets of their host's link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ccperf import _native
from ccperf.runs.diagnoses.rule import Rule, Run

#: IP and TCP, and the timestamps that sockets send by default.
_HEADERS, _TIMESTAMPS = 40, 12


def _find(run: Run) -> Iterator[tuple[str, str]]:
    least = _least_mtu(run.scenario)
    for flow in run.flows:
        stamps = _TIMESTAMPS if flow.setting("Timestamp") == "true" else 0
        packet = flow.segment + _HEADERS + stamps
        mtu = least.get(flow.described["source"], packet)
        if packet > mtu:
            pieces = -(-(packet - 20) // ((mtu - 20) // 8 * 8))
            yield (
                flow.name,
                f"has segments of {flow.segment} B, which its host cuts into {pieces} packets, of "
                f"at most {mtu} B each; if one is lost all are. `mtu` of its links makes room, or "
                f"SegmentSize = {mtu - _HEADERS - stamps} fits",
            )


def _least_mtu(scenario: Mapping[str, Any]) -> dict[str, int]:
    """Of the links out of each node the least."""
    found: dict[str, int] = {}
    for link in scenario["links"]:
        for node, direction in zip(link["ends"], ("forward", "reverse"), strict=True):
            mtu = _native.parse_size(link[direction]["mtu"])
            found[node] = min(mtu, found.get(node, mtu))
    return found


RULE = Rule(
    name="fragments",
    what="Segments larger than the MTU:",
    text=(
        "a link takes packets of 1500 B unless its `mtu` says more. Hosts cut larger ones, each "
        "with a header of its own, and the loss of one piece loses the segment."
    ),
    find=_find,
)
