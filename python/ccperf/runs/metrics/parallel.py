"""Which links are parallel: those among which a balancer chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


def parallel(parsed: Mapping[str, Any], down: Collection[str] = ()) -> list[frozenset[str]]:
    """Return the sets of directions that leave a switch and lead equally near to some host.

    So it is while the links `down` are. A direction that is in several sets counts in the largest
    one only. None with one way between two nodes (`static`). A switch is a node with several
    links, a host one with a single link.
    """
    if parsed.get("routing", {"type": "static"})["type"] == "static":
        return []
    from ccperf.runs.metrics.shortest_paths import hops_to

    out: dict[str, list[tuple[str, str]]] = {node: [] for node in parsed["nodes"]}
    for link in parsed["links"]:
        one, other = link["ends"]
        out[one].append((other, f"{link['name']}_forward"))
        out[other].append((one, f"{link['name']}_reverse"))
    gateways = {links[0][0] for links in out.values() if len(links) == 1}
    if down:
        gone = {f"{name}_{side}" for name in down for side in ("forward", "reverse")}
        out = {
            node: [(to, name) for to, name in links if name not in gone]
            for node, links in out.items()
        }
    found: set[frozenset[str]] = set()
    for gateway in sorted(gateways):
        distance = hops_to(gateway, out)
        for node, links in out.items():
            if len(links) < 2 or node not in distance:
                continue
            nearer = [name for to, name in links if distance[to] < distance[node]]
            if len(nearer) > 1:
                found.add(frozenset(nearer))
    largest: list[frozenset[str]] = []
    taken: set[str] = set()
    for group in sorted(found, key=lambda group: (-len(group), sorted(group))):
        if not group & taken:
            largest.append(group)
            taken |= group
    return largest


def with_parallel(parsed: Mapping[str, Any], directions: set[str]) -> set[str]:
    """Return these directions and those that are parallel to one of them."""
    return directions.union(*(group for group in parallel(parsed) if group & directions))
