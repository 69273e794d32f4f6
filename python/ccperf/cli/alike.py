"""What tells runs apart that look alike in a list."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ccperf.scenario.differences import told_apart

if TYPE_CHECKING:
    from ccperf.runs.result import Provenance, Result
    from ccperf.store import RunRow

#: More fields than that are not listed.
_SHOWN = 4


def settings(rows: Sequence[RunRow], scenario: Callable[[RunRow], Mapping[str, Any]]) -> list[str]:
    """For each run the fields in which it differs from others with its point, seed and backend.

    Empty where no other looks like it. `scenario` gives the stored one of a run.
    """
    return _told_apart(
        [(row.experiment, row.label, repr(row.parameters), row.seed, row.backend) for row in rows],
        [row.id for row in rows],
        lambda i: _described(rows[i].provenance, scenario(rows[i])),
    )


def of_results(results: Sequence[Result]) -> list[str]:
    """The same of runs that are there."""
    return _told_apart(
        [(result.title, result.provenance.seed, result.provenance.backend) for result in results],
        [result.id for result in results],
        lambda i: _described(results[i].provenance, results[i].scenario.canonical()),
    )


def _told_apart(
    looks: Sequence[Hashable], ids: Sequence[str], described: Callable[[int], Mapping[str, Any]]
) -> list[str]:
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for i, look in enumerate(looks):
        groups[look].append(i)
    texts = [""] * len(looks)
    for members in groups.values():
        if len({ids[i] for i in members}) < 2:
            continue
        scenarios = [described(i) for i in members]
        for i, fields in zip(members, told_apart(scenarios), strict=True):
            words = [f"{name}={value}" for name, value in fields.items()]
            more = f" +{len(words) - _SHOWN}" if len(words) > _SHOWN else ""
            texts[i] = " ".join(words[:_SHOWN]) + more
    return texts


def _described(made: Provenance, scenario: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in scenario.items() if name != "label"}
    code = " ".join(f"{name}@{digest[:4]}" for name, digest in made.user_code.items())
    return {**fields, "engine": made.engine_hash[:8], "code": code}
