"""A congestion window without bound."""

from __future__ import annotations

from collections.abc import Iterator

from ccperf.runs.diagnoses.rule import UNBOUNDED_BYTES, Rule, Run


def _find(run: Run) -> Iterator[tuple[str, str]]:
    for flow in run.flows:
        window = flow.samples("cwnd_bytes")
        if len(window) and window.max() >= UNBOUNDED_BYTES:
            yield (
                flow.name,
                f"its congestion window stands at {window.max():,} B, as in ns-3: look at the "
                "bytes in flight and at the throughput in place of the window",
            )


RULE = Rule(
    name="window",
    what="TcpBbr: a congestion window of 4,294,967,295 B",
    text=(
        "(2^32 - 1), often for most of a run, and with it a `mean_cwnd_l4` of millions of "
        "segments. In ns-3 a fast recovery ends with the window at `ssthresh`, which BBR never "
        "sets, and in Startup it stands there; the sender is paced, and held back by what its "
        "buffers and the receiver's window allow. Look at `bytes_in_flight` and at the throughput "
        "instead."
    ),
    find=_find,
    metric="mean_cwnd_l4",
)
