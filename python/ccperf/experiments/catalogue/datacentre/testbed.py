"""Marking schemes over load, on the testbed of the paper on ECN#."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue.answer import FCT, LARGE, QUEUE, SMALL_P99, Answer
from ccperf.experiments.catalogue.datacentre import many_to_one
from ccperf.experiments.catalogue.datacentre.ecn_sharp_figures import TESTBED
from ccperf.experiments.catalogue.datacentre.experiment import (
    CONNECTIONS,
    LOAD,
    RATE_OF_LINKS,
    TRANSPORT,
    WORKLOAD,
)
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

FLOWS = Parameter("flows", "count", (500,), 500, "How many flows a run has.")


class Testbed(many_to_one.ManyToOneExperiment):
    name = "testbed"
    title = "Testbed: completion times over load"
    description = (
        "Seven senders send to one receiver over 10 Gbps, with base RTTs from 70 to 210 us, 200 us "
        "at the 90th percentile: figures 6 and 7 of the paper on ECN# (J. Zhang, W. Bai and "
        'K. Chen, "Enabling ECN for datacenter networks with RTT variations", CoNEXT 2019). '
        "Flows of web search or data mining begin at random, from a load of 10 % to one of 90 %. A "
        "threshold for the tail of the RTTs lets short flows wait behind a standing queue, one for "
        "the average costs large flows throughput; a good scheme has the better of both."
    )
    answer = Answer((FCT, SMALL_P99, LARGE, QUEUE), "load", "ratio")
    parameters = (WORKLOAD, LOAD, FLOWS, CONNECTIONS, RATE_OF_LINKS, TRANSPORT)
    printed = TESTBED

    def build(self, setup: Setup) -> Scenario:
        return many_to_one.build(setup, self.name, 3.0)
