"""Experiments on load balancers: one file each, one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.base.lazy import Shelf

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Experiment

#: In the order in which they are listed and run.
BALANCING: Shelf[Experiment] = Shelf(
    {
        "load_balancing": f"{__name__}.load_balancing:LoadBalancing",
        "all_reduce": f"{__name__}.collective:AllReduce",
        "all_to_all": f"{__name__}.collective:AllToAll",
        "hermes_symmetric": f"{__name__}.hermes:HermesSymmetric",
        "hermes_asymmetric": f"{__name__}.hermes:HermesAsymmetric",
        "hermes_flowlet_timeout": f"{__name__}.hermes:HermesFlowletTimeout",
        "hermes_random_drops": f"{__name__}.hermes:HermesRandomDrops",
        "hermes_black_hole": f"{__name__}.hermes:HermesBlackHole",
        "hermes_parts": f"{__name__}.hermes:HermesParts",
    }
)

__all__ = ["BALANCING"]
