"""The star: hosts around one switch, as for incast and for a queue under the microscope."""

from __future__ import annotations

from collections.abc import Sequence

from ccperf.base.wording import counted
from ccperf.errors import ScenarioError
from ccperf.experiments.bounds import few_enough
from ccperf.experiments.topologies.fabric import (
    HOST_PORT,
    Fabric,
    FabricLink,
    SwitchPort,
    at_least,
    host_link,
)

SWITCH = "switch"


def star(
    hosts: int,
    link: FabricLink | None = None,
    *,
    delays: Sequence[str] = (),
    port: SwitchPort | None = None,
    host_port: SwitchPort = HOST_PORT,
) -> Fabric:
    """`hosts` hosts ``h_0``, ``h_1``, ... around ``switch``; each link is named after its host.

    Args:
        hosts: at least two.
        link: of every host.
        delays: one for each host, over that of `link`: the way to unequal round trips.
        port: the switch's, towards each host.
        host_port: each host's.

    Raises:
        ScenarioError: for fewer than two hosts, more than a run may have links, and for another
            number of delays.
    """
    link = link or FabricLink()
    at_least("hosts", hosts, 2)
    few_enough("links", hosts, hosts=hosts)
    if delays and len(delays) != hosts:
        message = f"has {counted(len(delays), 'entry')} for {counted(hosts, 'host')}"
        raise ScenarioError([("delays", message)])
    names = tuple(f"h_{i}" for i in range(hosts))
    ports = {"host": host_port, "switch": port or SwitchPort()}
    own = [FabricLink(link.rate, delay) for delay in delays] or [link] * hosts
    links = (host_link(*each, ports) for each in zip(names, [SWITCH] * hosts, own, strict=True))
    return Fabric(names, (SWITCH,), tuple(links))
