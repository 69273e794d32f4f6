"""Which flows have a path that is not known: a balancer chooses theirs among some that differ, or
spreads a flow over several that are slower than its hosts, and faster together than each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ccperf import _native
from ccperf.runs.metrics.capacity import rate_steps
from ccperf.runs.metrics.pairs import Named, Network
from ccperf.runs.metrics.path_delays import delay_steps

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from ccperf.runs.metrics.pairs import Side

#: Schemes by which a flow has one path at a time, and keeps it.
_OF_FLOWS = ("ecmp", "xpath")

#: In what paths may differ.
What: TypeAlias = Literal["rate", "delay"]

#: A rate or delay at first, and those that come after, by their times in ns.
_Course: TypeAlias = tuple[int, tuple[tuple[int, int], ...]]
#: Those of the links of a path, in the order of size.
_Way: TypeAlias = tuple[_Course, ...]


def unlike(parsed: Mapping[str, Any], what: What) -> Named:
    """Return those whose shortest paths differ in the rates or delays that their links have.

    As to rates also those of which packets may take several paths at once, by links that may be
    slower than those of their hosts. None with one path between two nodes (`static`).
    """
    if parsed.get("routing", {"type": "static"})["type"] == "static":
        return Named()
    return _Unlike(parsed, what).named()


class _Unlike(Network[_Course]):
    def __init__(self, parsed: Mapping[str, Any], what: What) -> None:
        super().__init__(parsed, lambda link, side: _course(parsed, link, side, what))
        self._ways: dict[str, dict[str, _Way | None]] = {}
        #: For each target, from where several shortest paths lead there.
        self._forks: dict[str, set[str]] = {}
        self._spreads = what == "rate" and parsed["routing"]["type"] not in _OF_FLOWS

    def applies(self, source: str, to: str) -> bool:
        """Whether the shortest paths between two nodes differ, or share what is sent."""
        first, last = self.switch(source), self.switch(to)
        way = self._ways_to(last).get(first, ())
        if way is None:
            return True
        if not self._spreads or first not in self._forks[last]:
            return False
        of_hosts = min(max(_values(self.own(*ends))) for ends in ((source, first), (last, to)))
        return min(min(_values(course)) for course in way) < of_hosts

    def kind(self, host: str) -> Hashable:
        """The rates of their links, where what is sent may take several paths at once."""
        switch = self.switch(host)
        return (self.own(host, switch), self.own(switch, host)) if self._spreads else None

    def _ways_to(self, target: str) -> dict[str, _Way | None]:
        """What the shortest paths of each node to this one have; None where they differ."""
        if (known := self._ways.get(target)) is not None:
            return known
        found: dict[str, _Way | None] = {target: ()}
        forks: set[str] = set()
        layer = [target]
        while layer:
            onward: dict[str, set[_Way | None]] = {}
            for node in layer:
                rest = found[node]
                for before, course in self.into[node]:
                    if before not in found:
                        way = None if rest is None else tuple(sorted((*rest, course)))
                        if before in onward or node in forks:
                            forks.add(before)
                        onward.setdefault(before, set()).add(way)
            for node, ways in onward.items():
                found[node] = ways.pop() if len(ways) == 1 else None
            layer = list(onward)
        self._ways[target], self._forks[target] = found, forks
        return found


def _values(course: _Course) -> list[int]:
    """All that a rate or delay ever is."""
    first, later = course
    return [first, *(value for _, value in later)]


def _course(
    parsed: Mapping[str, Any],
    link: Mapping[str, Any],
    side: Side,
    what: What,
) -> _Course:
    if what == "rate":
        first = _native.parse_rate(link[side]["rate"] or link["rate"])
        later = rate_steps(parsed, link, side)
    else:
        first = _native.parse_time(link["delay"])
        later = delay_steps(parsed, link)
    return first, tuple(sorted(later, key=lambda step: step[0]))
