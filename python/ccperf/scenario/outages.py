"""Failures that last: whom they cut off for the rest of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import _native

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ccperf.scenario.whole import Scenario


def for_good(scenario: Scenario) -> list[str]:
    """A sentence for each failure without an end that leaves ends of flows without a way.

    Of several the later one is named, and only what it cuts off besides.
    """
    found = []
    lasting = [(i, failure) for i, failure in enumerate(scenario.failures) if failure.up is None]
    lasting.sort(key=lambda each: _native.parse_time(each[1].down))
    down: set[str | None] = set()
    cut_off: set[str] = set()
    for i, failure in lasting:
        down |= {failure.link, failure.node} - {None}
        links = [link.ends for link in scenario.links if not down & {link.name, *link.ends}]
        largest = _largest_part(scenario.nodes, links)
        lost = [node for node in _ends(scenario) if node not in largest | cut_off]
        cut_off.update(lost)
        if lost:
            more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
            who = ", ".join(f"`{node}`" for node in lost[:3]) + more
            found.append(
                f"failures[{i}]: from {failure.down} to the end of the run nothing reaches {who}; "
                "write `up` for when it works again"
            )
    return found


def _ends(scenario: Scenario) -> list[str]:
    """Nodes where flows begin and end, and all that have one link if workloads choose."""
    named = {node for flow in scenario.flows for node in (flow.source, flow.destination)}
    if scenario.workloads:
        ends = [node for link in scenario.links for node in link.ends]
        named |= {node for node in scenario.nodes if ends.count(node) == 1}
    return [node for node in scenario.nodes if node in named]


def _largest_part(nodes: Iterable[str], links: Iterable[tuple[str, str]]) -> set[str]:
    part = {node: {node} for node in nodes}
    for a, b in links:
        if a in part and b in part and part[a] is not part[b]:
            joined, other = sorted((part[a], part[b]), key=len, reverse=True)
            joined |= other
            for node in other:
                part[node] = joined
    return max(part.values(), key=len)
