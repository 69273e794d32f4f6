"""A run that ends before its flows have been sampled."""

from __future__ import annotations

from collections.abc import Iterator

from ccperf import _native
from ccperf.runs.diagnoses.rule import Rule, Run


def _find(run: Run) -> Iterator[tuple[str, str]]:
    times = (run.scenario["recording"]["interval"], run.scenario["stop_time"])
    interval, end = map(_native.parse_time, times)
    if interval < end:
        return
    for flow in (*run.flows, *run.transfers):
        if flow.total("segments_sent"):
            yield (
                flow.name,
                f"is sampled every {_native.format_time(interval)}, and the run ends after "
                f"{_native.format_time(end)}: what is measured over time is absent; write a "
                "shorter `interval` under `recording`",
            )


RULE = Rule(
    name="unsampled",
    what="A run without throughputs or round-trip times:",
    text=(
        "it is not longer than the `interval` at which flows and links are sampled, 30 ms if "
        "`recording` does not say. Counters and completion times are there."
    ),
    find=_find,
)
