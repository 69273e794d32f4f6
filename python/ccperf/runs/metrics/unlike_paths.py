"""Which flows have a path that is not known: a balancer chooses theirs among some that differ, or
spreads a flow over several that are slower than its hosts, and faster together than each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from ccperf import _native
from ccperf.runs.metrics.capacity import rate_steps
from ccperf.runs.metrics.path_delays import delay_steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Schemes by which a flow has one path at a time, and keeps it.
_OF_FLOWS = ("ecmp", "xpath")

#: In what paths may differ.
What: TypeAlias = Literal["rate", "delay"]

#: A rate or delay at first, and those that come after, by their times in ns.
_Course: TypeAlias = tuple[int, tuple[tuple[int, int], ...]]
#: Those of the links of a path, in the order of size.
_Way: TypeAlias = tuple[_Course, ...]


class Unlike(NamedTuple):
    """The names of flows, and of workloads some of whose transfers may have such a path."""

    flows: frozenset[str] = frozenset()
    workloads: frozenset[str] = frozenset()


def unlike(parsed: Mapping[str, Any], what: What) -> Unlike:
    """Return those whose shortest paths differ in the rates or delays that their links have.

    As to rates also those of which packets may take several paths at once, by links that may be
    slower than those of their hosts. None with one path between two nodes (`static`).
    """
    if parsed.get("routing", {"type": "static"})["type"] == "static":
        return Unlike()
    network = _Network(parsed, what)
    flows = (
        flow["name"]
        for flow in parsed["flows"]
        if network.differ([(flow["source"], flow["destination"])])
    )
    pairs: dict[str, set[tuple[str, str]]] = {}
    for workload in parsed.get("workloads", ()):
        arrivals = workload["arrivals"]
        if arrivals["type"] == "Answers":
            pairs[workload["name"]] = {(to, by) for by, to in pairs[arrivals["to"]]}
        else:
            pairs[workload["name"]] = network.pairs(workload)
    workloads = (name for name, between in pairs.items() if network.differ(between))
    return Unlike(frozenset(flows), frozenset(workloads))


class _Network:
    def __init__(self, parsed: Mapping[str, Any], what: What) -> None:
        #: For each node, where links to it come from, and their rate or delay.
        self._into: dict[str, list[tuple[str, _Course]]] = {node: [] for node in parsed["nodes"]}
        #: The same of the first link from one node to another: a switch may have thousands.
        self._first: dict[tuple[str, str], _Course] = {}
        for link in parsed["links"]:
            one, other = link["ends"]
            self._add(one, other, _course(parsed, link, "forward", what))
            self._add(other, one, _course(parsed, link, "reverse", what))
        self._ways: dict[str, dict[str, _Way | None]] = {}
        #: For each target, from where several shortest paths lead there.
        self._forks: dict[str, set[str]] = {}
        self._spreads = what == "rate" and parsed["routing"]["type"] not in _OF_FLOWS

    def _add(self, start: str, end: str, course: _Course) -> None:
        self._into[end].append((start, course))
        self._first.setdefault((start, end), course)

    def differ(self, pairs: Iterable[tuple[str, str]]) -> bool:
        """Whether the shortest paths between two of these nodes differ, or share what is sent."""
        return any(self._differ(source, to) for source, to in pairs)

    def _differ(self, source: str, to: str) -> bool:
        first, last = self._switch(source), self._switch(to)
        way = self._ways_to(last).get(first, ())
        if way is None:
            return True
        if not self._spreads or first not in self._forks[last]:
            return False
        of_hosts = min(max(_values(self._own(*ends))) for ends in ((source, first), (last, to)))
        return min(min(_values(course)) for course in way) < of_hosts

    def _own(self, start: str, end: str) -> _Course:
        """That of a host's only link, in the direction from `start` to `end`."""
        return self._first[start, end]

    def pairs(self, workload: Mapping[str, Any]) -> set[tuple[str, str]]:
        """Between whom there may be transfers; one host stands for all that are alike in this."""
        if workload["pairs"]["type"] == "Listed":
            return {(source, to) for source, to in workload["pairs"]["pairs"]}
        apart = {node: i for i, nodes in enumerate(workload.get("apart", ())) for node in nodes}
        hosts = [node for node, links in self._into.items() if len(links) == 1]

        def kinds(nodes: Sequence[str] | None) -> Iterable[tuple[str, int | None]]:
            of = {}
            for node in hosts if nodes is None else nodes:
                switch = self._switch(node)
                links = (self._own(node, switch), self._own(switch, node))
                of[switch, apart.get(node), links if self._spreads else None] = node
            return ((node, kept) for (_, kept, _), node in of.items())

        return {
            (source, to)
            for source, own in kinds(workload.get("sources"))
            for to, other in kinds(workload.get("destinations"))
            if own is None or own != other
        }

    def _switch(self, host: str) -> str:
        """Where the only link of a host leads; on it nobody chooses."""
        links = self._into[host]
        return links[0][0] if len(links) == 1 else host

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
                for before, course in self._into[node]:
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
    side: Literal["forward", "reverse"],
    what: What,
) -> _Course:
    if what == "rate":
        first = _native.parse_rate(link[side]["rate"] or link["rate"])
        later = rate_steps(parsed, link, side)
    else:
        first = _native.parse_time(link["delay"])
        later = delay_steps(parsed, link)
    return first, tuple(sorted(later, key=lambda step: step[0]))
