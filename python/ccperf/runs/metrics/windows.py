"""The two windows of a run that metrics are taken over: all of it, and its steady state.

Published tables are of the whole run, slow start included. What an algorithm does in the long run
is another question, so each metric of the grid is computed for the steady state, too.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from ccperf import _native

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ccperf.runs.metrics.grid import Floats

Window: TypeAlias = Literal["whole", "steady"]

#: What the metrics of the steady state are called before their own name.
STEADY_PREFIX = "steady_"

#: What every definition of a metric of the steady state says about it.
STEADY = (
    "Steady state: k runs only over the intervals that begin after the warm-up, so with t_(k-1) at "
    "or after its end. That is what the scenario declares (`recording.warm_up`); where it declares "
    "none, a third of what is left of the run after the last event that algorithms have to answer: "
    "the start of a flow without end, or the change of links where all change at one time only."
)

Series = TypeVar("Series")


class Phases(NamedTuple):
    """When what happens in a run, in ns."""

    #: The last event that algorithms have to answer: a start, or a step of the path.
    disturbance_ns: int
    #: When the steady state begins.
    warm_up_ns: int


def phases(canonical: Mapping[str, Any]) -> Phases:
    """Return the phases of a scenario in canonical form; see `STEADY`."""
    stop = _native.parse_time(canonical["stop_time"])
    starts = [
        _native.parse_time(flow["start"])
        for flow in canonical["flows"]
        if _native.parse_size(flow["application"]["bytes"]) == 0
    ]
    steps = {_native.parse_time(change["time"]) for change in canonical["changes"]}
    for link in canonical["links"]:
        steps.update(*(schedule["times_ns"] for schedule in link.get("schedules", ())))
    steps -= {0}
    events = [time for time in (*starts, *(steps if len(steps) == 1 else ())) if time < stop]
    last = max(events, default=0)
    declared = canonical["recording"].get("warm_up")
    return Phases(last, _native.parse_time(declared) if declared else last + (stop - last) // 3)


class Later(Generic[Series]):
    """Series of flows or links from a row on; what is not over time is as in the whole."""

    def __init__(self, whole: Series, first: int) -> None:
        """See `whole` without its first rows."""
        self._whole = whole
        self._first = first

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._whole, name)
        if name == "time" or isinstance(getattr(type(self._whole), name, None), cached_property):
            series: Floats = found[self._first :]
            found = series
        self.__dict__[name] = found  # asked for by one metric after another
        return found
