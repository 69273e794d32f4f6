"""Which flows have a path that changes in a run: a link gets another rate or delay, or fails."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ccperf import _native
from ccperf.runs.metrics.capacity import rate_steps
from ccperf.runs.metrics.pairs import Named, Network
from ccperf.runs.metrics.path_delays import delay_steps

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from ccperf.runs.metrics.pairs import Side

#: A direction of a link: where in the scenario's order, its name, and whether it gets another rate
#: or delay.
_Direction: TypeAlias = tuple[int, str, bool]
_Links: TypeAlias = frozenset[str]


class Failure(NamedTuple):
    """Links that are down together, and when, in ns."""

    links: _Links
    down_ns: int
    #: Infinite if they do not come back.
    up_ns: float


class _Path(NamedTuple):
    """What a packet may take from one node to another, with the fewest links."""

    hops: int
    links: _Links
    #: Whether one of them gets another rate or delay.
    varies: bool


def changing(parsed: Mapping[str, Any]) -> Named:
    """Return those whose transfers would, alone, not take at any time what they take at time 0.

    A link on a shortest path gets another rate or delay, or fails and no balancer has others that
    are as short (`unlike` compares what they have).
    """
    return _Changing(parsed, _failing(parsed)).named()


def rerouted(parsed: Mapping[str, Any]) -> Named:
    """Return those that have another path than at time 0 while links are down."""
    return _Rerouted(parsed, _failing(parsed)).named()


class _OverTime(Network[_Direction]):
    def __init__(self, parsed: Mapping[str, Any], failing: tuple[_Links, ...]) -> None:
        place = {link["name"]: i for i, link in enumerate(parsed["links"])}
        varying = set(_varying(parsed))

        def of(link: Mapping[str, Any], side: Side) -> _Direction:
            name = link["name"]
            return place[name], name, f"{name}_{side}" in varying

        super().__init__(parsed, of)
        self._is_static = parsed.get("routing", {"type": "static"})["type"] == "static"
        #: Those that are down together: of each failure, and of all, which may overlap.
        self._failing = {*failing, frozenset().union(*failing)} - {frozenset()}
        self._may_fail = frozenset().union(*failing)
        self._onward: dict[tuple[str, _Links], dict[str, tuple[int, list[Any]]]] = {}

    def kind(self, host: str) -> Hashable:
        """Whether their links change."""
        switch = self.switch(host)
        (_, name, out), (_, _, back) = self.own(host, switch), self.own(switch, host)
        return out, back, name in self._may_fail

    def path(self, source: str, to: str, down: _Links = frozenset()) -> _Path | None:
        """What there is from one node to another while these links are down; None without any."""
        first, last = self.switch(source), self.switch(to)
        if first == to or last == source:
            first, last = source, to
        ends = {(source, first), (last, to)} - {(source, source), (to, to)}
        taken = {self.own(*each) for each in ends}
        onward = self._to(last, down)
        if first not in onward or any(name in down for _, name, _ in taken):
            return None
        layer = {first}
        while layer := layer - {last}:
            steps = [sorted(onward[node][1])[: 1 if self._is_static else None] for node in layer]
            taken |= {direction for some in steps for direction, _ in some}
            layer = {node for some in steps for _, node in some}
        links = frozenset(name for _, name, _ in taken)
        return _Path(onward[first][0], links, any(varies for *_, varies in taken))

    def _to(self, target: str, down: _Links) -> dict[str, tuple[int, list[Any]]]:
        """For each node how many links it is away, and those that lead nearer, and where to."""
        if (known := self._onward.get((target, down))) is not None:
            return known
        found: dict[str, tuple[int, list[Any]]] = {target: (0, [])}
        layer = [target]
        while layer:
            before: dict[str, tuple[int, list[Any]]] = {}
            for node in layer:
                for start, direction in self.into[node]:
                    if start not in found and direction[1] not in down:
                        away = before.setdefault(start, (found[node][0] + 1, []))
                        away[1].append((direction, node))
            found |= before
            layer = list(before)
        self._onward[target, down] = found
        return found

    def others(self, source: str, to: str) -> Iterator[_Path | None]:
        """What there is in place of the path of time 0 while some of it is down."""
        usual = self.path(source, to)
        for down in self._failing:
            if usual and usual.links & down:
                other = self.path(source, to, down)
                if self._is_static or other is None or other.hops != usual.hops:
                    yield other


class _Changing(_OverTime):
    def applies(self, source: str, to: str) -> bool:
        """Whether a link between them varies, or some of them fail that no others stand for."""
        path = self.path(source, to)
        return path is not None and (path.varies or any(True for _ in self.others(source, to)))


class _Rerouted(_OverTime):
    def applies(self, source: str, to: str) -> bool:
        """Whether there are others while some fail."""
        return any(other is not None for other in self.others(source, to))


def failures(parsed: Mapping[str, Any]) -> Iterator[Failure]:
    """Yield what each failure takes, and when."""
    for failure in parsed.get("failures", ()):
        node, up = failure.get("node"), failure.get("up")
        links = frozenset(
            link["name"]
            for link in parsed["links"]
            if link["name"] == failure.get("link") or node in link["ends"]
        )
        down_ns = _native.parse_time(failure["down"])
        yield Failure(links, down_ns, _native.parse_time(up) if up else math.inf)


def _failing(parsed: Mapping[str, Any]) -> tuple[_Links, ...]:
    return tuple(failure.links for failure in failures(parsed))


def _varying(parsed: Mapping[str, Any]) -> Iterator[str]:
    """Yield the directions that get another rate or delay."""
    for link in parsed["links"]:
        delays = {delay for _, delay in delay_steps(parsed, link)}
        is_longer = delays and delays != {_native.parse_time(link["delay"])}
        for side in ("forward", "reverse"):
            rates = {rate for _, rate in rate_steps(parsed, link, side)}
            first = link[side]["rate"] or link["rate"]
            if is_longer or (rates and rates != {_native.parse_rate(first)}):
                yield f"{link['name']}_{side}"
