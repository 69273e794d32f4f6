"""Every packet of the engine's profile `linux` beside the kernel's, by the nanosecond.

Rows of the packet trace are compared whole: what happens when on which link to which packet, with
all of its headers, so windows, timestamps and SACK blocks, too. Timestamps are counted from each
end's first. The order of rows within a nanosecond is free, since one kernel stands for all hosts.
Tables and metrics are not compared: what the kernel records of its sockets is not what the engine
does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.verify import packets
from ccperf.verify.compare import Comparison, run_both
from ccperf.verify.linux import last_state

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ccperf.runs.backends import Backend, Progress
    from ccperf.runs.recording import Recording
    from ccperf.scenario import Scenario


def compare(
    scenario: Scenario, ours: Backend, theirs: Backend, progress: Progress | None = None
) -> Comparison:
    """Run `scenario` on both backends, and compare their packets.

    Errors are as in :func:`ccperf.verify.compare.compare`.
    """
    comparison = Comparison(scenario, ours.name, theirs.name)
    recordings = run_both(
        comparison, scenario, (ours, theirs), progress, packets.SUFFIX, _compare_traces
    )
    if comparison.divergence:
        comparison.state = "\n".join(_states(recordings, comparison.divergence))
    return comparison


def _compare_traces(ours: Path, theirs: Path) -> tuple[int, packets.Divergence | None]:
    left, right = map(packets.count_timestamps, (ours, theirs))
    return packets.compare_by_time(left, right)


def _states(recordings: Mapping[str, Recording], divergence: packets.Divergence) -> Iterator[str]:
    """Yield what the senders' last samples before the divergence were."""
    flows = {row.flow for row in (divergence.ours, divergence.theirs) if row}
    for backend, recording in recordings.items():
        for number, flow in enumerate(recording.flows.strings("name")):
            if flow in flows:
                state = last_state(recording, number, divergence.time_ns)
                told = ", ".join(
                    f"{name} {'-' if value is None else format(value, ',')}"
                    for name, value in state.items()
                )
                yield f"{backend}, sender of {flow}, last sample before: {told}"
