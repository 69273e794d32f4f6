"""What holds a run back, or looks wrong in it, without anybody having asked for it.

Each rule is a file: what it looks for, the sentence that a run gets, and the one of
`docs/what-ns3-does.md`. Rules look at what the scenario says and at what the recording holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ccperf.runs.diagnoses import (
    application,
    buffers,
    coarse_rtt,
    device_queue,
    ecn,
    fragments,
    least_rto,
    marking_below,
    nothing,
    one_sided_ecn,
    timeout_loop,
    unfilled,
    unsampled,
    window,
)
from ccperf.runs.diagnoses.rule import UNBOUNDED_BYTES, Note, Rule, Run

if TYPE_CHECKING:
    from ccperf.runs.recording import Recording

__all__ = ["RULES", "UNBOUNDED_BYTES", "Note", "Rule", "diagnose", "grouped"]

#: The most telling first.
RULES: dict[str, Rule] = {
    module.RULE.name: module.RULE
    for module in (
        nothing,
        unsampled,
        timeout_loop,
        least_rto,
        buffers,
        unfilled,
        ecn,
        one_sided_ecn,
        marking_below,
        fragments,
        device_queue,
        coarse_rtt,
        window,
        application,
    )
}


def diagnose(
    scenario: Mapping[str, Any],
    recording: Recording,
    links: Mapping[str, Mapping[str, float]],
) -> list[Note]:
    """What the rules find in a run, in their order.

    Args:
        scenario: its canonical form.
        recording: what it has left.
        links: the metrics of each direction, by its name.
    """
    run = Run(scenario, recording, links)
    return [
        Note(rule.name, subject, text)
        for rule in RULES.values()
        for subject, text in rule.find(run)
    ]


def grouped(notes: Iterable[Note]) -> list[tuple[Note, int]]:
    """The first note of each rule, and how many more there are of it."""
    found: dict[str, list[Note]] = {}
    for note in notes:
        found.setdefault(note.rule, []).append(note)
    return [(same[0], len(same) - 1) for same in found.values()]
