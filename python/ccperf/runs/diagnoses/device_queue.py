"""A queue below the discipline, where the discipline does not see it."""

from __future__ import annotations

from collections.abc import Iterator

from ccperf.runs.diagnoses.rule import Rule, Run, has_device_queue

#: Per cent of a link's rate from which on it is full.
_FULL = 90


def _find(run: Run) -> Iterator[tuple[str, str]]:
    below = {
        f"{link['name']}_{side}"
        for link in run.scenario["links"]
        for side in ("forward", "reverse")
        if has_device_queue(link, side)
    }
    for direction, metrics in run.links.items():
        if direction not in below:
            continue
        is_full = metrics.get("mean_utilization_l1", 0) > _FULL
        if is_full and metrics.get("mean_sojourn_l2", 1) == 0:
            yield (
                direction,
                "is full, and nothing waits in its queue discipline: the packets wait in the "
                'device queue below it; `device_queue = "1p"` makes them wait where the discipline '
                "sees them",
            )


RULE = Rule(
    name="device-queue",
    what="A link at its rate with no delay in its queue discipline:",
    text=(
        "packets wait in the device queue below it, of 100 packets by default. "
        '`device_queue = "1p"` makes them wait where the discipline sees them.'
    ),
    find=_find,
    metric="mean_sojourn_l2",
)
