"""Experiments on load balancers: one file each, one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.catalogue.balancing.hermes import (
    HermesAsymmetric,
    HermesBlackHole,
    HermesFlowletTimeout,
    HermesParts,
    HermesRandomDrops,
    HermesSymmetric,
)
from ccperf.catalogue.balancing.load_balancing import LoadBalancing

if TYPE_CHECKING:
    from ccperf.catalogue.experiment import Experiment

#: In the order in which they are listed and run.
BALANCING: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        LoadBalancing(),
        HermesSymmetric(),
        HermesAsymmetric(),
        HermesFlowletTimeout(),
        HermesRandomDrops(),
        HermesBlackHole(),
        HermesParts(),
    )
}

__all__ = ["BALANCING"]
