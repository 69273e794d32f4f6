"""What is wrong with the network of ``conga-simulation-large``: slow links, and a spine that loses.

The originals have losses in the ports of the first spine towards the leaves, we when a packet comes
to that spine, which is the same packets.
"""

from __future__ import annotations

import random
from ipaddress import AddressValueError, IPv4Address
from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError
from ccperf.experiments.programs.ecn_sharp import addresses
from ccperf.experiments.programs.program import rate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ccperf.experiments.programs.program import Values
    from ccperf.experiments.topologies import Fabric

SPINE = "spine_0"
#: A slow link has this part of the rate.
SLOW = 5


def with_slow_links(values: Values, network: Fabric, up_bps: int, seed: int) -> tuple[Any, ...]:
    """The fabric's links; ``--asymCapacity`` draws slow ones, ``--asymCapacity2`` is the first.

    Raises:
        UsageError: for a share above 100 %.
    """
    chance = values["asymCapacityPoss"]
    if chance > 100:
        raise UsageError("--asymCapacityPoss", f"`{chance}` % is more than 100")
    rng = random.Random(f"{seed}/asymmetry")
    between = set(network.between_switches)

    def is_slow(link: Mapping[str, Any]) -> bool:
        if link["name"] not in between:
            return False
        is_drawn = rng.randrange(100) < chance
        is_first = values["asymCapacity2"] and link["ends"] == ("leaf_0", SPINE)
        return bool(values["asymCapacity"] and is_drawn) or is_first

    slow = rate(up_bps // SLOW)
    return tuple({**link, "rate": slow} if is_slow(link) else link for link in network.links)


def faults(values: Values, network: Fabric) -> list[dict[str, Any]]:
    """What the first spine loses.

    Raises:
        UsageError: for a rate of losses that is none, and a black hole that nobody comes into.
    """
    found: list[dict[str, Any]] = []
    if values["enableRandomDrop"]:
        if not 0 < values["randomDropRate"] <= 1:
            raise UsageError("--randomDropRate", "must be above 0 and at most 1")
        found.append({"node": SPINE, "loss": values["randomDropRate"]})
    mode = values["blackHoleMode"]
    if mode > 3:
        raise UsageError("--blackHoleMode", f"`{mode}` is none of 0 (none), 1, 2 and 3")
    if mode:
        hole: dict[str, Any] = {"node": SPINE}
        if mode & 1:
            hole["sources"] = _matched(values, "Src", network)
        if mode & 2:
            hole["destinations"] = _matched(values, "Dest", network)
        found.append(hole)
    return found


def _matched(values: Values, which: str, network: Fabric) -> list[str]:
    address, mask = (f"blackHole{which}{what}" for what in ("Addr", "Mask"))
    bits = _address(values, mask)
    wanted = _address(values, address) & bits
    servers = addresses.of_servers(network.racks)
    if not servers:
        most = addresses.MOST_IN_RACK
        message = f"racks of more than {most} servers have no addresses of their own"
        raise UsageError("--serverCount", message)
    hosts = [host for host, own in servers.items() if int(IPv4Address(own)) & bits == wanted]
    if not hosts:
        message = (
            "and its mask fit no server; those of the first leaf are 10.1.1.2, 10.1.1.4, ..., "
            "those of the second 10.1.2.2, ..."
        )
        raise UsageError(f"--{address}", message)
    return hosts


def _address(values: Values, option: str) -> int:
    try:
        return int(IPv4Address(values[option]))
    except AddressValueError as error:
        raise UsageError(f"--{option}", f"`{values[option]}` is no address: {error}") from None
