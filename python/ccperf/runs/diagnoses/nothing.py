"""A run in which nothing arrives."""

from __future__ import annotations

from collections.abc import Iterator

from ccperf import _native
from ccperf.runs.diagnoses.rule import Flow, Rule, Run


def _find(run: Run) -> Iterator[tuple[str, str]]:
    if any(map(_has_arrived, run.flows)):
        return
    for flow in run.flows:
        ended = flow.total("completion_ns")
        until = _known_until(run, flow)
        if ended != ended and until:
            base = _native.format_time(int(flow.total("base_rtt_ns")))
            yield (
                flow.name,
                f"nothing of it has arrived after {_native.format_time(until)}, and its base "
                f"round-trip time is {base}: nearly all metrics are absent; let it run longer",
            )


def _has_arrived(flow: Flow) -> bool:
    """Whether a sample says so, or more was sent than may be before the first ACK."""
    new = flow.total("segments_sent") - flow.total("retransmissions")
    return bool(flow.samples("received_bytes").any()) or new > int(flow.setting("InitialCwnd"))


def _known_until(run: Run, flow: Flow) -> int:
    """Up to when nothing of a flow is known to have arrived, in ns.

    That is the end if nothing was sent, and otherwise the last sample, which may be long before.
    """
    if not flow.total("segments_sent"):
        return _native.parse_time(run.scenario["stop_time"])
    return int(run.recording.flow_samples.array("time_ns")[-1])


RULE = Rule(
    name="nothing",
    what="A run in which nothing arrives:",
    text=(
        "it ends before its flows have begun, or before the first packet is there. A handshake and "
        "the first data take two round trips."
    ),
    find=_find,
)
