"""Which links the shortest paths between nodes have."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


def hops_to(target: str, onward: Mapping[str, Sequence[tuple[str, str]]]) -> dict[str, int]:
    """Return how many links there are to `target` from each node that it can be reached from.

    `onward` has, of each node, its neighbours, each with the link that leads there and back.
    """
    hops = {target: 0}
    waiting = deque([target])
    while waiting:
        node = waiting.popleft()
        for other, _ in onward.get(node, ()):
            if other not in hops:
                hops[other] = hops[node] + 1
                waiting.append(other)
    return hops


class ShortestPaths:
    """Which links the shortest paths between two nodes have."""

    def __init__(self, links: Sequence[Mapping[str, Any]]) -> None:
        self._from: dict[str, list[tuple[str, str]]] = {}
        self._left: dict[str, dict[str, int]] = {}
        for link in links:
            for one, other in (link["ends"], link["ends"][::-1]):
                self._from.setdefault(one, []).append((other, link["name"]))

    def links_between(self, source: str, destination: str) -> Iterator[tuple[str, bool]]:
        """Yield each link that is on a shortest path, and whether it is on all of them."""
        left = self._hops(destination)
        layer = {source}
        while destination not in layer:
            onward = {
                step
                for node in layer
                for step in self._from.get(node, ())
                if node in left and left.get(step[0]) == left[node] - 1
            }
            if not onward:
                return
            for _, link in sorted(onward):
                yield link, len(onward) == 1
            layer = {node for node, _ in onward}

    def _hops(self, end: str) -> dict[str, int]:
        """Return how many links there are from each node to this one."""
        if (known := self._left.get(end)) is not None:
            return known
        hops = self._left[end] = hops_to(end, self._from)
        return hops
