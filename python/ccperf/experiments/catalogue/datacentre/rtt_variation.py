"""Marking schemes over the variation of round trips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.errors import UsageError
from ccperf.experiments.catalogue.answer import FCT, LARGE, SMALL_P99, Answer
from ccperf.experiments.catalogue.datacentre import many_to_one
from ccperf.experiments.catalogue.datacentre.ecn_sharp_figures import RTT_VARIATION
from ccperf.experiments.catalogue.datacentre.experiment import (
    CONNECTIONS,
    LOAD,
    RATE_OF_LINKS,
    TRANSPORT,
    WORKLOAD,
)
from ccperf.experiments.catalogue.datacentre.testbed import FLOWS
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.experiments.catalogue.parameter import Value
    from ccperf.scenario import Scenario


class RttVariation(many_to_one.ManyToOneExperiment):
    name = "rtt_variation"
    title = "RTT variation"
    description = (
        "The testbed with base RTTs from 70 us to three, four and five times that, over load: "
        "figure 8 of the paper on ECN#, whose headline is the 99th percentile of short flows. "
        "Thresholds follow the RTTs' 90th percentile and average. The more round trips differ, the "
        "worse does one threshold fit all."
    )
    answer = Answer((SMALL_P99, FCT, LARGE), "load", "ratio")
    printed = RTT_VARIATION
    parameters = (
        Parameter("variation", "number", (3, 4, 5), 3, "Longest base RTT over the shortest."),
        WORKLOAD,
        LOAD,
        FLOWS,
        CONNECTIONS,
        RATE_OF_LINKS,
        TRANSPORT,
    )

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:  # noqa: ARG002
        if not 1 <= float(values["variation"]) <= 100:
            raise UsageError("variation", f"`{values['variation']}` is not from 1 to 100")
        return values

    def build(self, setup: Setup) -> Scenario:
        return many_to_one.build(setup, self.name, float(setup["variation"]))
