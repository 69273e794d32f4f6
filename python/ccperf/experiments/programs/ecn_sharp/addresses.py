"""The addresses that servers of a leaf-spine have in the originals: 10.1.1.2, 10.1.1.4, ...

Each has the second address of the pair that its link takes of its rack's network. Options that name
servers are read so, and files are left with them; in a run itself links have our own addresses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address

#: Servers of a rack that fit into its network, two addresses each.
MOST_IN_RACK = 126
_MOST_RACKS = 255


def of_servers(racks: Sequence[Sequence[str]]) -> dict[str, str]:
    """The address of each server by its name, rack by rack; none if they do not fit."""
    if len(racks) > _MOST_RACKS or max(map(len, racks), default=0) > MOST_IN_RACK:
        return {}
    return {
        host: str(IPv4Address("10.1.0.0") + 256 * i + 2 * j)
        for i, rack in enumerate(racks, start=1)
        for j, host in enumerate(rack, start=1)
    }


def of_leaf_spine(nodes: Sequence[str]) -> Mapping[str, str]:
    """Those of the servers ``h_<leaf>_<server>`` among the nodes of a scenario."""
    racks: dict[str, list[str]] = {}
    for node in nodes:
        if node.startswith("h_"):
            racks.setdefault(node.split("_")[1], []).append(node)
    return of_servers(list(racks.values()))
