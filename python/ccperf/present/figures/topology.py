"""A drawing of a scenario's network: nodes in columns along the longest path, links with labels."""

from __future__ import annotations

from collections import defaultdict, deque
from itertools import permutations
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

from ccperf.base.wording import counted
from ccperf.present import varying
from ccperf.present.figures import fabric

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Pixels.
_COLUMN, _ROW = 150, 64
_NODE_WIDTH, _NODE_HEIGHT = 74, 26
_LEFT, _TOP = 50, 46
#: Labels of a link stand above and beneath the nodes at its ends.
_ABOVE, _BENEATH = -20, 29
#: Wider drawings cannot be read on a phone as a whole.
_FITS = 600
#: More nodes than this stand for themselves no longer.
_MOST = 6


def draw(scenario: Mapping[str, Any], shares: Mapping[str, float] | None = None) -> str:
    """Return the drawing as an inline SVG for light and dark; empty for a network without links.

    A fabric is drawn by layers; with `shares`, its links coloured by how much of their rate is used
    (by the name of a direction, from 0 to 1).
    """
    links = [(link["ends"][0], link["ends"][1], link) for link in scenario["links"]]
    if not links:
        return ""
    if levels := fabric.layers(links, {end for flow in _ends(scenario) for end in flow}):
        tested = _bottlenecks(scenario, links)
        size_and_parts = fabric.draw(links, levels, tested, shares or {})
        return _svg(*size_and_parts, scenario, links, tested)
    places, folded = _places(scenario, links)
    columns = max(column for column, _ in places.values()) + 1
    rows = max(row for _, row in places.values()) + 1
    width, height = 2 * _LEFT + (columns - 1) * _COLUMN, 2 * _TOP + (rows - 1) * _ROW
    hosts = {end for flow in _ends(scenario) for end in flow}
    used = _bottlenecks(scenario, links)
    parts = []
    for one, other, link in links:
        if one in folded or other in folded:
            continue
        (a, b), (c, d) = (_at(places[end]) for end in (one, other))
        is_narrow = link["name"] in used
        kind = ' class="narrow"' if is_narrow else ""
        parts.append(f'<path{kind} d="M{a} {b}L{c} {d}"/>')
        if is_narrow:
            middle = (a + c) // 2, (b + d) // 2
            way = _side(scenario, link)
            side = link[way]
            delay = varying.delay(scenario, link)
            delay = varying.rounded(delay) if delay == link["delay"] else delay
            words = f"{varying.rate(scenario, link, way)}, {delay}"
            qdisc = (side["qdisc"] or {}).get("type", "")
            for text, lower in ((words, _ABOVE), (qdisc, _BENEATH)):
                if text:
                    parts.append(
                        f'<text x="{middle[0]}" y="{middle[1] + lower}">{escape(text)}</text>'
                    )
    for node, place in places.items():
        if node in folded:
            continue
        x, y = _at(place)
        kind = "host" if node in hosts else "router"
        parts.append(
            f'<rect class="{kind}" x="{x - _NODE_WIDTH // 2}" y="{y - _NODE_HEIGHT // 2}" '
            f'width="{_NODE_WIDTH}" height="{_NODE_HEIGHT}" rx="{13 if kind == "host" else 3}"/>'
            f'<text class="node" x="{x}" y="{y + 4}">{escape(_short(node))}</text>'
        )
    for column, count in _folded_by_column(places, folded).items():
        x, y = _at((column, rows - 1))
        parts.append(f'<text x="{x}" y="{y + 34}">and {count} more</text>')
    if folded:
        height += 24
    return _svg(width, height, "".join(parts), scenario, links, used)


def _svg(
    width: int,
    height: int,
    parts: str,
    scenario: Mapping[str, Any],
    links: list[tuple[str, str, Any]],
    used: set[str],
) -> str:
    nodes, among = counted(len(scenario["nodes"]), "node"), counted(len(links), "link")
    words = f"Network of {nodes} and {among}; narrow: {', '.join(sorted(used))}"
    wide = " data-wide" if width > _FITS else ""
    return (
        f'<svg class="topology"{wide} width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{escape(words, {chr(34): "&quot;"})}">{parts}</svg>'
    )


def _ends(scenario: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return source and destination of each flow, and of what workloads may send."""
    found = [(flow["source"], flow["destination"]) for flow in scenario["flows"]]
    for workload in scenario.get("workloads", ()):
        # Either both, or groups of hosts that send to hosts of other groups.
        sources, destinations = (workload.get(name) or [] for name in ("sources", "destinations"))
        found += [(a, b) for a in sources for b in destinations if a != b]
        groups = permutations(workload.get("apart", ()), 2)
        found += [(a, other[0]) for one, other in groups for a in one]
    return found


def _places(
    scenario: Mapping[str, Any], links: list[tuple[str, str, Any]]
) -> tuple[dict[str, tuple[int, int]], set[str]]:
    """Return column and row of each node, and those that there is no room for."""
    beside: dict[str, list[str]] = defaultdict(list)
    for one, other, _ in links:
        beside[one].append(other)
        beside[other].append(one)
    ends = _ends(scenario)
    paths = [path for one, other in ends[:64] if (path := _path(beside, one, other))]
    main = max(paths, key=len, default=[links[0][0], links[0][1]])
    column = {node: index for index, node in enumerate(main)}
    sources = {one for one, _ in ends}
    waiting = deque(main)
    while waiting:
        node = waiting.popleft()
        for other in beside[node]:
            if other not in column:
                is_host = len(beside[other]) == 1
                step = (-1 if other in sources else 1) if is_host else 0
                column[other] = max(0, column[node] + step)
                waiting.append(other)
    rows: dict[int, int] = defaultdict(int)
    places: dict[str, tuple[int, int]] = {}
    folded: set[str] = set()
    for node in column:
        at = column[node]
        if rows[at] >= _MOST:
            folded.add(node)
            places[node] = (at, _MOST - 1)
            continue
        places[node] = (at, rows[at])
        rows[at] += 1
    return places, folded


def _path(beside: Mapping[str, list[str]], start: str, end: str) -> list[str]:
    """Return the nodes of a shortest path; empty if there is none."""
    before: dict[str, str] = {start: start}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        if node == end:
            path = [end]
            while path[-1] != start:
                path.append(before[path[-1]])
            return path[::-1]
        for other in beside[node]:
            if other not in before:
                before[other] = node
                waiting.append(other)
    return []


def _bottlenecks(scenario: Mapping[str, Any], links: list[tuple[str, str, Any]]) -> set[str]:
    """Return the names of the links that metrics are of: those that a scenario records.

    Where it leaves that to the flows, those between nodes that are no flow's end; of two nodes, the
    link.
    """
    recorded = _recorded(scenario)
    if asked := {link["name"] for _, _, link in links if recorded & _names(link)}:
        return asked
    hosts = {end for flow in _ends(scenario) for end in flow}
    inner = {link["name"] for one, other, link in links if not {one, other} & hosts}
    return inner or {links[0][2]["name"]}


def _recorded(scenario: Mapping[str, Any]) -> set[str]:
    links = scenario.get("recording", {}).get("links")
    return set(links) if isinstance(links, list) else set()


def _names(link: Mapping[str, Any]) -> set[str]:
    return {link["name"], f"{link['name']}_forward", f"{link['name']}_reverse"}


def _side(scenario: Mapping[str, Any], link: Mapping[str, Any]) -> str:
    """Return the direction of a link whose port is under test."""
    return "reverse" if f"{link['name']}_reverse" in _recorded(scenario) else "forward"


def _folded_by_column(places: Mapping[str, tuple[int, int]], folded: set[str]) -> dict[int, int]:
    found: dict[int, int] = defaultdict(int)
    for node in folded:
        found[places[node][0]] += 1
    return dict(sorted(found.items()))


def _at(place: tuple[int, int]) -> tuple[int, int]:
    return _LEFT + place[0] * _COLUMN, _TOP + place[1] * _ROW


def _short(name: str) -> str:
    return name if len(name) <= 10 else f"{name[:9]}…"
