"""Congestion states over time, of runs that have every change recorded.

Pages have them of a simulation in the page (`site/static/quantities.js`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ccperf.present.figures.figure import Axis, Panel, Series

if TYPE_CHECKING:
    from ccperf.present.figures.figure import Floats
    from ccperf.runs.metrics import FlowSeries

#: The states of the sender by their numbers in the recording, as ns-3 and Linux call them.
STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")
#: The axis that has them.
AXIS = Axis("State", lower=-0.4, upper=len(STATES) - 0.6, labels=STATES)


def panel(time: Axis, flows: FlowSeries) -> Panel | None:
    """Return a panel with the state of each flow; None if no changes were recorded."""
    found = _steps(flows)
    if found is None:
        return None
    starts = (flows.counter("start_ns") / 1e9).tolist()
    series = [
        Series(x, y, "step", "subject", index, begins=starts[index])
        for index, (x, y) in found.items()
    ]
    return Panel(time, AXIS, tuple(series), name="state")


def _steps(flows: FlowSeries) -> dict[int, tuple[Floats, Floats]] | None:
    """Return for each flow the ends of its times in a state, in s, and which state that was."""
    table = flows.changes
    if table is None:
        return None
    rows = np.flatnonzero([name == "cong_state" for name in table.strings("name")])
    times, whose = table.array("time_ns")[rows] / 1e9, table.array("flow")[rows]
    states = table.array("value")[rows]
    found = {}
    for index, position in enumerate(flows.positions.tolist()):
        own = whose == position
        x = np.append(times[own], flows.time[-1])
        # A connection begins Open; each change ends the state before it.
        y = np.insert(states[own].astype(np.float64), 0, 0.0)
        found[index] = (x, y)
    return found
