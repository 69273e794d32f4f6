"""Held back by the sender's or the receiver's buffer."""

from __future__ import annotations

from collections.abc import Iterator

from ccperf.runs.diagnoses.rule import Flow, Rule, Run

#: Of the samples; below that it may be a moment, as at the end of slow start.
_LEAST_SHARE = 0.1


def _find(run: Run) -> Iterator[tuple[str, str]]:
    for flow in (each for each in (*run.flows, *run.transfers) if each.is_tcp):
        sizes = {name: int(flow.setting(name)) for name in ("SndBufSize", "RcvBufSize")}
        share = _share(flow, min(sizes.values()))
        if share < _LEAST_SHARE:
            continue
        least = min(sizes.values())
        names = " and ".join(name for name, size in sizes.items() if size == least)
        yield (
            flow.name,
            f"its buffers hold it back for {share:.0%} of the time: {names} = {least} B is less "
            "than its window would take; set larger ones under "
            '`tcp`, or `profile = "catalogue"`',
        )


def _share(flow: Flow, buffer: int) -> float:
    """The part of the samples at which another segment would not fit into the buffer."""
    in_flight = flow.samples("in_flight_bytes")
    return float((in_flight > buffer - flow.segment).mean()) if len(in_flight) else 0.0


RULE = Rule(
    name="buffers",
    what="A flow that carries less than its path, without a loss:",
    text=(
        "its `SndBufSize` or `RcvBufSize` is smaller than rate times round-trip time. ns-3's "
        "default is 131,072 B, which carries 52 Mbps over 20 ms. The catalogue sets buffers that "
        "do not limit."
    ),
    find=_find,
)
