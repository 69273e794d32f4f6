"""Leaf and spine: racks of servers whose switches meet at every spine."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ccperf.errors import ScenarioError
from ccperf.experiments.bounds import few_enough
from ccperf.experiments.topologies.fabric import (
    HOST_PORT,
    Fabric,
    FabricLink,
    SwitchPort,
    at_least,
    host_link,
    switch_link,
)


class SlowLinks(NamedTuple):
    """A share of the links between leaves and spines, drawn by a seed, at another rate."""

    #: From 0 to 1; rounded to whole links.
    share: float
    rate: str
    seed: int = 1

    def applied(self, links: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """The links, some of them slow.

        Raises:
            ScenarioError: if the share is not from 0 to 1, or above 0 and of so few links that it
                is none.
        """
        if not 0 <= self.share <= 1:
            raise ScenarioError([("slow.share", f"{self.share} is not a share from 0 to 1")])
        count = round(self.share * len(links))
        if self.share and not count:
            message = (
                f"{self.share} of {len(links)} links rounds to none; take more leaves or spines"
            )
            raise ScenarioError([("slow.share", message)])
        chosen = set(random.Random(self.seed).sample(range(len(links)), count))
        return [
            {**link, "rate": self.rate} if i in chosen else link for i, link in enumerate(links)
        ]


def leaf_spine(
    leaves: int = 4,
    spines: int = 4,
    servers: int = 8,
    *,
    parallel: int = 1,
    slow: SlowLinks | None = None,
    host_link_of: FabricLink | None = None,
    fabric_link_of: FabricLink | None = None,
    port: SwitchPort | None = None,
    fabric_port: SwitchPort | None = None,
    host_port: SwitchPort = HOST_PORT,
) -> Fabric:
    """`leaves` switches with `servers` hosts each, every leaf linked to each of `spines` spines.

    Hosts are ``h_LEAF_SERVER``, switches ``leaf_0``, ... and ``spine_0``, ...; links are named
    after their host, or ``leaf_0_spine_1`` (``leaf_0_spine_1_1`` for the second of `parallel`
    ones). A leaf is oversubscribed by servers x their rate over spines x parallel x the fabric's
    rate.

    Args:
        leaves: at least one, over which spines have one link, so that workloads that name no
            hosts take them for some.
        spines: at least one.
        servers: for each leaf, at least one.
        parallel: links between a leaf and a spine.
        slow: which of these have another rate; none, if not given.
        host_link_of: between servers and leaves.
        fabric_link_of: between leaves and spines.
        port: of every switch, towards hosts and switches.
        fabric_port: of every switch, towards switches, if that is another.
        host_port: of every server.

    Raises:
        ScenarioError: for a number below its least, more links than a run may have, and a share
            that is none.
    """
    sizes = {"leaves": leaves, "spines": spines, "servers": servers, "parallel": parallel}
    for field, value in sizes.items():
        at_least(field, value, 1)
    count = leaves * servers + leaves * spines * parallel
    few_enough("links", count, leaves=leaves, spines=spines, servers=servers, parallel=parallel)
    port = port or SwitchPort()
    ports = {"host": host_port, "switch": port}
    below, above = host_link_of or FabricLink(), fabric_link_of or FabricLink()
    hosts = [(f"h_{i}_{j}", f"leaf_{i}") for i in range(leaves) for j in range(servers)]
    switches = [f"leaf_{i}" for i in range(leaves)] + [f"spine_{i}" for i in range(spines)]
    links = [host_link(host, leaf, below, ports) for host, leaf in hosts]
    between = [
        switch_link((f"leaf_{i}", f"spine_{j}"), above, fabric_port or port, number)
        for i in range(leaves)
        for j in range(spines)
        for number in range(parallel)
    ]
    links += slow.applied(between) if slow else between
    return Fabric(tuple(host for host, _ in hosts), tuple(switches), tuple(links))
