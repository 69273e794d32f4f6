"""A least retransmission timeout that a delayed acknowledgement reaches."""

from __future__ import annotations

from collections.abc import Iterator

from ccperf import _native
from ccperf.runs.diagnoses.rule import Rule, Run, seconds


def _find(run: Run) -> Iterator[tuple[str, str]]:
    for flow in run.flows:
        least = _native.parse_time(flow.setting("MinRto"))
        wait = _native.parse_time(flow.setting("DelAckTimeout"))
        round_trip = flow.total("base_rtt_ns")
        is_delayed = flow.is_of_ns3 and int(flow.setting("DelAckCount")) > 1
        if is_delayed and least < wait + round_trip and flow.total("rtos"):
            yield (
                flow.name,
                f"MinRto = {seconds(least)} is below DelAckTimeout + base RTT = {seconds(wait)} + "
                f"{seconds(round_trip)}: the ACK of a single segment comes after the timeout; it "
                f"timed out {flow.total('rtos'):.0f} times. Set DelAckTimeout = 40ms, or a larger "
                "MinRto",
            )


RULE = Rule(
    name="least-rto",
    what="`MinRto` below `DelAckTimeout` plus the base round-trip time:",
    text=(
        "an ACK that waits for a second segment arrives after the timeout, and a window of one "
        "segment times out for ever. ns-3 bounds the timeout as a whole, `max(srtt + 4 rttvar, "
        "MinRto)`; in Linux the 200 ms are the least of the variance term, so that the timeout is "
        "at least srtt + 200 ms, and ACKs are delayed by 40 ms."
    ),
    find=_find,
)
