"""The k-ary fat-tree (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008): k pods, all switches alike."""

from __future__ import annotations

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


def fat_tree(
    k: int = 4,
    link: FabricLink | None = None,
    *,
    servers: int | None = None,
    port: SwitchPort | None = None,
    host_port: SwitchPort = HOST_PORT,
) -> Fabric:
    """k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches, k^3/4 hosts.

    Every link is alike. Hosts are ``h_POD_EDGE_PORT``; switches ``edge_POD_i``, ``agg_POD_i`` and
    ``core_i``. Aggregation switch i of a pod has core switches i k/2 to (i + 1) k/2 - 1 above it.

    Args:
        k: ports of a switch; even, at least 2.
        link: of every pair of neighbours.
        servers: of an edge switch, at least one; k/2 if not given.
        port: of every switch.
        host_port: of every host.

    Raises:
        ScenarioError: for a k that is odd or below 2, no servers, and more links than a run may
            have.
    """
    if k < 2 or k % 2:
        raise ScenarioError([("k", f"{k} ports make no fat-tree; an even number, at least 2")])
    servers = k // 2 if servers is None else servers
    at_least("servers", servers, 1)
    few_enough("links", k * (k // 2) * (servers + k), k=k, servers=servers)
    link, port, half = link or FabricLink(), port or SwitchPort(), range(k // 2)
    ports = {"host": host_port, "switch": port}
    hosts = [
        (f"h_{pod}_{edge}_{i}", f"edge_{pod}_{edge}")
        for pod in range(k)
        for edge in half
        for i in range(servers)
    ]
    switches = [f"{layer}_{pod}_{i}" for layer in ("edge", "agg") for pod in range(k) for i in half]
    switches += [f"core_{i}" for i in range(len(half) ** 2)]
    links = [host_link(host, edge, link, ports) for host, edge in hosts]
    within = [(f"edge_{pod}_{i}", f"agg_{pod}_{j}") for pod in range(k) for i in half for j in half]
    above = [
        (f"agg_{pod}_{i}", f"core_{i * len(half) + j}")
        for pod in range(k)
        for i in half
        for j in half
    ]
    links += [switch_link(ends, link, port) for ends in within + above]
    return Fabric(tuple(host for host, _ in hosts), tuple(switches), tuple(links))
