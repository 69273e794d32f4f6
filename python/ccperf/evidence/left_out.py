"""What a comparison lacks of the catalogue: points of an experiment's grid, and its length."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.errors import UsageError
from ccperf.evidence.values import point_key
from ccperf.experiments.catalogue import NAMED
from ccperf.experiments.catalogue.experiment import LABELLED, Setup

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ccperf.evidence.cells import Cell


def left_out(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Return a line on points that are missing and one on other lengths, each if there are any."""
    some: list[str] = []
    other: dict[str, None] = {}
    points: dict[str, set[frozenset[tuple[str, str]]]] = {}
    ordered = sorted(cells, key=lambda cell: point_key(cell.point))
    for cell in ordered:
        if not (experiment := NAMED.get(cell.point.experiment)):
            continue
        own = {name: value for name, value in cell.point.own if name not in LABELLED}
        points.setdefault(experiment.name, set()).add(frozenset(own.items()))
        try:
            usual = experiment.own_length(own)
        except UsageError:
            continue  # A file of one's own, of which a label has the name only.
        for record in cell.records.values():
            if _native.parse_time(record.stop_time) != _native.parse_time(usual):
                other[f"{experiment.name} {record.stop_time} ({usual})"] = None
    for name, here in points.items():
        experiment = NAMED[name]
        grid = {
            frozenset(Setup("", point).labels.items())
            for point in experiment.grid()
            if experiment.is_tested(point)
        }
        if missing := len(grid - here):
            some.append(f"{name} {len(grid) - missing} of {len(grid)}")
    return (
        *([f"points of the catalogue's grids that are here: {', '.join(some)}"] if some else []),
        *([f"runs longer or shorter than the catalogue's: {', '.join(other)}"] if other else []),
    )
