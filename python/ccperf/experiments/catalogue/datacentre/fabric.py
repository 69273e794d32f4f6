"""Marking schemes in a leaf-spine fabric, over load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.experiments.catalogue.answer import FCT, LARGE, SMALL_P99, Answer
from ccperf.experiments.catalogue.datacentre import schemes
from ccperf.experiments.catalogue.datacentre.ecn_sharp_figures import LEAF_SPINE
from ccperf.experiments.catalogue.datacentre.experiment import (
    CONNECTIONS,
    FABRIC_RATE,
    FLOW_TRACE,
    INCAST,
    LOAD,
    RATE,
    RATE_OF_LINKS,
    TRANSPORT,
    WINDOW,
    WORKLOAD,
    DataCentreExperiment,
    at_rate,
    bursts,
    flows_between_racks,
    kept_open,
    of_the_uplinks,
    rate_between_switches,
    stack,
    without_what_a_trace_says,
)
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.experiments.catalogue.parameter import Value
    from ccperf.scenario import Scenario

LINK_DELAY = "10us"
#: What a flow has on top of the 80 us of the links, one as likely as the other.
ADDED_DELAYS = ("1us", "20us", "50us", "80us", "160us")
#: For base RTTs of 80 to 240 us, 137 us on average and 220 us at the 90th percentile.
THRESHOLDS = schemes.Thresholds(
    rate=RATE,
    limit="250p",
    tail="220us",
    average="137us",
    target="10us",
    interval="240us",
    codel_target="10us",
    codel_interval="240us",
)


#: Who chooses the way of a packet; marking and balancing cross.
ROUTING = Parameter(
    "routing", "routing", ("ecmp",), "ecmp", "Load balancer of the fabric, one's own included."
)


class LeafSpine(DataCentreExperiment):
    name = "leaf_spine"
    papers = ("ecnsharp", "hermes")
    title = "Leaf-spine: completion times over load"
    description = (
        "Every server of a leaf-spine fabric sends to servers below other leaves, over 10 Gbps and "
        "a leaf that is oversubscribed twice, with base RTTs from 80 to 240 us: figure 9 of the "
        "paper on ECN#, which has 8 leaves, 8 spines and 16 servers a leaf. The way of a flow is "
        "chosen by its hash."
    )
    answer = Answer((FCT, SMALL_P99, LARGE), "load", "ratio")
    printed = LEAF_SPINE
    parameters = (
        WORKLOAD,
        LOAD,
        Parameter("leaves", "count", (4,), 4, "Number of leaves, at least 2.", least=2),
        Parameter("spines", "count", (4,), 4, "Number of spines."),
        Parameter("servers", "count", (8,), 8, "Servers of a leaf."),
        Parameter("arrivals", "time", ("200ms",), "200ms", "Flows begin before this."),
        CONNECTIONS,
        INCAST,
        ROUTING,
        RATE_OF_LINKS,
        FABRIC_RATE,
        FLOW_TRACE,
        WINDOW,
        TRANSPORT,
    )
    seeded = "when flows begin, their ends, sizes and base RTTs, and the hash of their paths"
    stop_time = "600ms"

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:
        settled = super().settle(values, stop_time)
        return without_what_a_trace_says(self.parameters, settled)

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import FabricLink, SwitchPort, fair_host_port, leaf_spine

        leaves, spines = setup["leaves"], setup["spines"]
        rate, above = setup["rate"], rate_between_switches(setup)

        def port(rate: str) -> SwitchPort:
            return SwitchPort(schemes.discipline(setup.cc, at_rate(THRESHOLDS, rate)))

        network = leaf_spine(
            leaves,
            spines,
            setup["servers"],
            host_link_of=FabricLink(rate, LINK_DELAY),
            fabric_link_of=FabricLink(above, LINK_DELAY),
            port=port(rate),
            fabric_port=port(above),
            host_port=fair_host_port(),
        )
        flows = flows_between_racks(setup, network, leaves * spines * _native.parse_rate(above))
        delays = {"type": "Classes", "delays": ADDED_DELAYS}
        return network.scenario(
            [],
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
            routing={"type": setup["routing"]},
            stacks=[stack(setup)],
            workloads=[
                {**flows, **kept_open(setup), "added_delay": delays},
                *bursts(setup),
            ],
            recording=of_the_uplinks(network),
        )
