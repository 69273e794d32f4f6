"""Experiments on queue disciplines in data centres: one file each, one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.base.lazy import Shelf

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Experiment

#: In the order in which they are listed and run.
DATACENTRE: Shelf[Experiment] = Shelf(
    {
        "testbed": f"{__name__}.testbed:Testbed",
        "rtt_variation": f"{__name__}.rtt_variation:RttVariation",
        "leaf_spine": f"{__name__}.fabric:LeafSpine",
        "query_burst": f"{__name__}.queries:QueryBurst",
        "query_completion": f"{__name__}.queries:QueryCompletion",
        "ecn_sharp_sensitivity": f"{__name__}.sensitivity:Sensitivity",
        "dwrr": f"{__name__}.dwrr:Dwrr",
        "schedulers": f"{__name__}.schedulers:Schedulers",
    }
)

__all__ = ["DATACENTRE"]
