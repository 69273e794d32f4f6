"""Topologies that are tedious to write out: one file each, one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ccperf.experiments.topologies.dumbbell import Access, Bottleneck, DumbbellFlow, dumbbell
from ccperf.experiments.topologies.fabric import Fabric, FabricLink, SwitchPort, fair_host_port
from ccperf.experiments.topologies.fat_tree import fat_tree
from ccperf.experiments.topologies.leaf_spine import SlowLinks, leaf_spine
from ccperf.experiments.topologies.parking_lot import parking_lot
from ccperf.experiments.topologies.star import star

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

#: In the order in which they are listed.
TOPOLOGIES: dict[str, Callable[..., Scenario]] = {
    "dumbbell": dumbbell,
    "parking_lot": parking_lot,
}
#: Networks to which traffic is added.
FABRICS: dict[str, Callable[..., Fabric]] = {
    "star": star,
    "leaf_spine": leaf_spine,
    "fat_tree": fat_tree,
}

__all__ = [
    "FABRICS",
    "TOPOLOGIES",
    "Access",
    "Bottleneck",
    "DumbbellFlow",
    "Fabric",
    "FabricLink",
    "SlowLinks",
    "SwitchPort",
    "dumbbell",
    "fair_host_port",
    "fat_tree",
    "leaf_spine",
    "parking_lot",
    "star",
]
