"""Load balancers over loads and under all conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.errors import UsageError
from ccperf.experiments.catalogue.balancing.conditions import CONDITIONS
from ccperf.experiments.catalogue.balancing.experiment import (
    COMMON,
    Balanced,
    BalancingExperiment,
)
from ccperf.experiments.catalogue.datacentre.experiment import CONNECTIONS, INCAST
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.experiments.catalogue.parameter import Value

CONDITION = Parameter(
    "condition",
    "word",
    tuple(CONDITIONS),
    "symmetric",
    "All well; 20 % of the fabric's links at a fifth of their rate; two links to each spine, one "
    "at a fifth; a link cut, cut later, or flapping; a spine that loses 2 %, or all between some.",
    tuple(CONDITIONS),
)


class LoadBalancing(BalancingExperiment):
    name = "load_balancing"
    title = "Load balancing: completion times over loads and conditions"
    description = (
        "Servers of a leaf-spine at 10 Gbps, oversubscribed twice, send to servers below other "
        "leaves. A good balancer is as fast as the links that are left allow, under every "
        "condition, and ends all flows."
    )
    parameters = (CONDITION, *COMMON, CONNECTIONS, INCAST)

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:
        if values["condition"] == "parallel_links" and int(values["spines"]) % 2:
            message = f"`{values['spines']}` cannot be halved for parallel_links; an even number"
            raise UsageError("spines", message)
        return super().settle(values, stop_time)

    def asked(self, setup: Setup) -> Balanced:
        return Balanced(setup["condition"])
