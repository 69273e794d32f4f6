"""A flow whose application has nothing to send."""

from __future__ import annotations

from collections.abc import Iterator

from ccperf.runs.diagnoses.rule import Flow, Rule, Run

_LEAST_SHARE = 0.5


def _find(run: Run) -> Iterator[tuple[str, str]]:
    for flow in run.flows:
        if not flow.is_greedy and (share := _share(flow)) >= _LEAST_SHARE:
            yield (
                flow.name,
                f"has nothing to send for {share:.0%} of the time, although its window is open: "
                "its application limits it, not its congestion control",
            )


def _share(flow: Flow) -> float:
    """The part of the samples at which all that was written is sent, and the window has room."""
    in_flight = flow.samples("in_flight_bytes")
    if not len(in_flight):
        return 0.0
    unacked = flow.samples("written_bytes") - flow.samples("acked_bytes")
    has_room = flow.samples("cwnd_bytes") - in_flight >= flow.segment
    return float(((unacked <= in_flight) & has_room).mean())


RULE = Rule(
    name="application",
    what="A flow whose application has nothing to send most of the time:",
    text="its throughput is that of the application, and says nothing of its congestion control.",
    find=_find,
)
