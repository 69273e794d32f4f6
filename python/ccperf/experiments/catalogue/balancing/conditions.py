"""What happens to a leaf-spine while a balancer is at work: one function, one line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.errors import UsageError

if TYPE_CHECKING:
    from ccperf.experiments.topologies import Fabric, SlowLinks

#: Links that are slow have this part of the rate.
SLOW = 5
#: So many of the links between leaves and spines are, where some are.
SLOW_SHARE = 0.2
DROP_RATE = 0.02
#: A link that flaps is down for half of this time.
FLAPPING = "10ms"

#: A condition: the scenario's fields in a fabric where flows begin until some time, in ns.
Condition = Callable[["Fabric", int], dict[str, Any]]


def _nothing(_fabric: Fabric, _until: int) -> dict[str, Any]:
    """All links are up and alike."""
    return {}


def _link_cut(fabric: Fabric, _until: int) -> dict[str, Any]:
    """One link is down from the beginning."""
    return {"failures": [fabric.failure("leaf_0-spine_0", "1ns")]}


def _link_cut_late(fabric: Fabric, until: int) -> dict[str, Any]:
    """One link goes down when half of the flows have begun."""
    return {"failures": [fabric.failure("leaf_0-spine_0", f"{until // 2}ns")]}


def _flapping(fabric: Fabric, until: int) -> dict[str, Any]:
    """One link is down every other 5 ms."""
    half = _native.parse_time(FLAPPING) // 2
    times = range(half, until, 2 * half)
    if not times:
        given, first = _native.format_time(until), _native.format_time(half)
        raise UsageError("arrivals", f"`{given}` end before the link is down first, after {first}")
    down = [fabric.failure("leaf_0-spine_0", f"{at}ns", f"{at + half}ns") for at in times]
    return {"failures": down}


def _random_drops(fabric: Fabric, _until: int) -> dict[str, Any]:
    """A spine loses 2 % of what comes to it."""
    return {"faults": [{"node": fabric.node("spine_0"), "loss": DROP_RATE}]}


def _black_hole(fabric: Fabric, _until: int) -> dict[str, Any]:
    """A spine loses all from half of the first rack's hosts to those of the last one."""
    racks = fabric.racks
    if len(racks[0]) < 2:
        raise UsageError("servers", "`1` has no half of a rack for black_hole; at least 2")
    sources = racks[0][: len(racks[0]) // 2]
    hole = {"node": fabric.node("spine_0"), "sources": sources, "destinations": racks[-1]}
    return {"faults": [hole]}


def _black_hole_rack(fabric: Fabric, _until: int) -> dict[str, Any]:
    """A spine loses all that the first rack sends: the authors' ``--blackHoleMode=1``."""
    others = [host for rack in fabric.racks[1:] for host in rack]
    hole = {"node": fabric.node("spine_0"), "sources": fabric.racks[0], "destinations": others}
    return {"faults": [hole]}


CONDITIONS: Mapping[str, Condition] = {
    "symmetric": _nothing,
    # These two are made with the network itself.
    "slow_links": _nothing,
    "parallel_links": _nothing,
    "link_cut": _link_cut,
    "link_cut_late": _link_cut_late,
    "flapping": _flapping,
    "random_drops": _random_drops,
    "black_hole": _black_hole,
    "black_hole_rack": _black_hole_rack,
}


def slow_links(condition: str, rate: str, seed: int) -> SlowLinks | None:
    """The links that are slow under a condition, drawn by the seed."""
    if condition != "slow_links":
        return None
    from ccperf.experiments.topologies import SlowLinks

    slow = _native.format_rate(_native.parse_rate(rate) // SLOW)
    return SlowLinks(SLOW_SHARE, slow, seed=seed)
