"""Round-trip times that are shorter than the clock of TCP's timestamps tells."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ccperf.runs.diagnoses.rule import Rule, Run, microseconds

#: Profiles of TCP that take samples in less than ms.
_FINE = ("linux",)


def _find(run: Run) -> Iterator[tuple[str, str]]:
    for flow in run.flows:
        is_tcp = flow.described.get("transport", "TCP") == "TCP"
        if not is_tcp or flow.setting("Timestamp") != "true" or flow.setting("Profile") in _FINE:
            continue
        srtt, base = flow.samples("srtt_ns"), flow.total("base_rtt_ns")
        if (srtt < base).any():
            yield (
                flow.name,
                f"has a smoothed round-trip time {microseconds(base - float(np.nanmin(srtt)))} "
                f"below the {microseconds(base)} of its path: ns-3 takes it from timestamps in "
                "whole ms, so that it says nothing here, nor does the queueing delay that it is "
                "for; `Timestamp = false` under `tcp` takes it in ns",
            )


RULE = Rule(
    name="coarse-rtt",
    what="A smoothed round-trip time below that of the path, and a queueing delay below zero:",
    text=(
        "with timestamps, ns-3's TCP measures round trips in whole milliseconds, rounded down, and "
        "takes 1 us for none. In a data centre `mean_srtt_l4` and `mean_est_qdelay_l4` say nothing "
        "then; `Timestamp = false` measures in nanoseconds, in segments of 12 bytes less. Queues "
        "and completion times are right in any case."
    ),
    find=_find,
    metric="mean_srtt_l4",
)
