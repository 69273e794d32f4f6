"""A flow that does nothing but time out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ccperf.runs.diagnoses.rule import Flow, Rule, Run, seconds

#: Segments that a flow delivers between two timeouts of a loop, at most.
_SEGMENTS = 4
#: Timeouts in a row that make a loop.
_LEAST = 5


def _find(run: Run) -> Iterator[tuple[str, str]]:
    for flow in run.flows:
        if flow.total("rtos") < _LEAST:
            continue
        first, last, timeouts = _longest(flow)
        if timeouts >= _LEAST:
            yield (
                flow.name,
                f"from {seconds(first)} to {seconds(last)} it stands in a loop of {timeouts} "
                f"retransmission timeouts, with at most {_SEGMENTS} segments between two",
            )


def _longest(flow: Flow) -> tuple[float, float, int]:
    """First and last time of the longest loop, and its timeouts."""
    rtos, acked = flow.samples("rtos"), flow.samples("acked_bytes")
    at = np.flatnonzero(np.diff(rtos, prepend=0))
    best = (0.0, 0.0, 0)
    start = 0
    for i in range(1, len(at) + 1):
        is_stuck = i < len(at) and acked[at[i]] - acked[at[i - 1]] <= _SEGMENTS * flow.segment
        if is_stuck:
            continue
        count = int(rtos[at[i - 1]] - rtos[at[start]] + 1)
        if count > best[2]:
            times = flow.samples("time_ns")
            best = (float(times[at[start]]), float(times[at[i - 1]]), count)
        start = i
    return best


RULE = Rule(
    name="timeout-loop",
    what="A flow that is stuck in retransmission timeouts,",
    text=(
        "with one or a few segments for each. ns-3 3.44's loss recovery (`TcpPrrRecovery`) may end "
        "slow start in a timeout, and a least timeout below the delayed ACK keeps it there; "
        '`recovery = "PrrRfc6937"`, which the catalogue uses, avoids the first.'
    ),
    find=_find,
)
