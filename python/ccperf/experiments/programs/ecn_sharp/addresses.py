"""The addresses that hosts have in the originals.

In a star each sender has a network of its own, 10.1.1.1, 10.1.2.1, ..., and so the receiver, which
is the second one in its network. They are those of the run.

The servers of a rack share a network, 10.1.1.1 and 10.1.1.2 for the first link, 10.1.1.3 and
10.1.1.4 for the next one. Options that name servers are read so, and files are left with them; in
a run itself these links have our own addresses, since the second pair is no /30, which a link has
here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ccperf.experiments.topologies import Fabric
    from ccperf.scenario import Scenario

#: Servers of a rack that fit into its network, two addresses each.
MOST_IN_RACK = 126
_MOST_NETWORKS = 255


def in_a_star(network: Fabric) -> Fabric:
    """A star whose links have the originals' addresses; as it is, if they do not fit."""
    if len(network.links) > _MOST_NETWORKS:
        return network
    *senders, receiver = [
        {**link, "addresses": (f"10.1.{i}.1", f"10.1.{i}.2")}
        for i, link in enumerate(network.links, start=1)
    ]
    second_first = receiver["addresses"][::-1]
    return replace(network, links=(*senders, {**receiver, "addresses": second_first}))


def of_servers(racks: Sequence[Sequence[str]], place: int = 2) -> dict[str, str]:
    """The address of each server by its name, rack by rack; none if they do not fit.

    `place`: whether servers have the first or the second address of their link.
    """
    if len(racks) > _MOST_NETWORKS or max(map(len, racks), default=0) > MOST_IN_RACK:
        return {}
    return {
        host: str(IPv4Address("10.1.0.0") + 256 * i + 2 * j + place)
        for i, rack in enumerate(racks, start=1)
        for j, host in enumerate(rack)
    }


def of_racks(scenario: Scenario, place: int) -> Mapping[str, str]:
    """Those of the servers of a fabric: of each switch that has hosts, in the order of links."""
    racks: dict[str, list[str]] = {}
    for link in scenario.links:
        host, switch = link.ends
        if host.startswith("h_"):
            racks.setdefault(switch, []).append(host)
    return of_servers(list(racks.values()), place)
