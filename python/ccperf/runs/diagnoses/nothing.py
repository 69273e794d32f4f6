"""A run in which nothing arrives."""

from __future__ import annotations

from collections.abc import Iterator

from ccperf import _native
from ccperf.runs.diagnoses.rule import Rule, Run


def _find(run: Run) -> Iterator[tuple[str, str]]:
    if any(flow.samples("received_bytes").any() for flow in run.flows):
        return
    for flow in run.flows:
        ended = flow.total("completion_ns")
        if ended != ended:
            base = _native.format_time(int(flow.total("base_rtt_ns")))
            yield (
                flow.name,
                f"nothing of it has arrived after {run.scenario['stop_time']}, and its base "
                f"round-trip time is {base}: nearly all metrics are absent; let it run longer",
            )


RULE = Rule(
    name="nothing",
    what="A run in which nothing arrives:",
    text=(
        "it ends before its flows have begun, or before the first packet is there. A handshake and "
        "the first data take two round trips."
    ),
    find=_find,
)
