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
            base = int(flow.total("base_rtt_ns"))
            lives = min(until, flow.total("stop_ns")) - flow.total("start_ns")
            is_short = lives < 2 * base
            fix = "let it run longer" if is_short else "its path lets nothing through"
            yield (
                flow.name,
                f"nothing of it has arrived after {_native.format_time(until)}, and its base "
                f"round-trip time is {_native.format_time(base)}: nearly all metrics are absent; "
                f"{fix}",
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
        "the first data take two round trips. In a longer run a queue holds or drops all packets: "
        "one with a limit, or with a token bucket, below a full packet; or its link loses all."
    ),
    find=_find,
)
