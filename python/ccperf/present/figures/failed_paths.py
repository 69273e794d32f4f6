"""Failed paths over time: which ones hosts avoid, between whom, and for what reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ccperf import _native
from ccperf.base.wording import counted
from ccperf.present.figures.figure import Axis, Figure, Panel, Series, Subject

if TYPE_CHECKING:
    from ccperf.runs.recording import Recording, Table
    from ccperf.scenario import Scenario

#: Of more paths than these only those that failed first have a row.
_ROWS = 12


class _Failure(NamedTuple):
    path: str
    #: In ms.
    since: float
    until: float


def failed_paths(scenario: Scenario, recording: Recording) -> Figure | None:
    """How many paths hosts take for failed, and which, over time.

    A path fails for a pair of leaves by random drops, or for a pair of hosts by a black hole, until
    it is forgiven.  Beneath, for each reason, a row for each path of a pair, in the order in which
    they failed.
    """
    table = recording.failed_paths
    if table is None or not table.rows:
        return None
    stop = _native.parse_time(scenario.stop_time) / 1e6
    found = _by_reason(table, stop)
    time = Axis("Time", "ms", lower=0, upper=stop)
    counts = tuple(_count(failures, stop, index) for index, failures in enumerate(found.values()))
    most = _ROWS // len(found)
    rows = [
        _rows(time, reason, failures, most, index)
        for index, (reason, failures) in enumerate(found.items())
    ]
    said = [
        f"{counted(len({each.path for each in failures}), 'path')} by {reason}"
        for reason, failures in found.items()
    ]
    return Figure(
        name="failed_paths",
        title="Failed paths",
        alt=f"Failed paths over time in ms: {' and '.join(said)}.",
        panels=(Panel(time, Axis("Failed paths", lower=0), counts, name="failed_paths"), *rows),
        subjects=tuple(map(Subject, found)),
    )


def _by_reason(table: Table, stop: float) -> dict[str, list[_Failure]]:
    found: dict[str, list[_Failure]] = {}
    columns = (
        table.strings("reason"),
        table.strings("source"),
        table.strings("destination"),
        table.array("path").tolist(),
        (table.array("time_ns") / 1e6).tolist(),
        np.minimum(table.array("until_ns") / 1e6, stop).tolist(),
    )
    for reason, source, destination, path, since, until in zip(*columns, strict=True):
        failure = _Failure(f"{source} > {destination} by {path}", since, until)
        found.setdefault(reason.replace("_", " "), []).append(failure)
    return found


def _count(failures: list[_Failure], stop: float, subject: int) -> Series:
    """How many paths have failed; a step holds its value over the interval that ends there."""
    when = np.array([*(each.since for each in failures), *(each.until for each in failures)])
    change = np.repeat([1.0, -1.0], len(failures))
    order = np.argsort(when, kind="stable")
    x = np.concatenate([[0.0], when[order], [stop]])
    y = np.concatenate([[0.0, 0.0], np.cumsum(change[order])])
    return Series(x, y, "step", "subject", subject)


def _rows(time: Axis, reason: str, failures: list[_Failure], most: int, subject: int) -> Panel:
    """From when until when the first paths had failed."""
    paths = list(dict.fromkeys(each.path for each in failures))[:most]
    rows = [
        [(since, paths.index(path)), (until, paths.index(path)), (np.nan, np.nan)]
        for path, since, until in failures
        if path in paths
    ]
    x, y = np.concatenate(rows).T
    axis = Axis(reason.capitalize(), lower=-0.6, upper=len(paths) - 0.4, labels=tuple(paths))
    return Panel(time, axis, (Series(x, y, "line", "subject", subject),), name=reason)
