"""Pauses are of links, not of flows: who comes over a link with others gets less."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue.answer import JAIN_OF_TOTALS, THROUGHPUT, Answer
from ccperf.experiments.catalogue.lossless.experiment import Lossless, flow, host_port, link, port

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

#: On the far side of the link between the switches, and beside the receiver.
FAR, NEAR = ("far_0", "far_1", "far_2"), "near"
RECEIVER = "receiver"


class PfcUnfairness(Lossless):
    name = "pfc_unfairness"
    title = "Parking lot: pauses of links, not of flows"
    description = (
        "Three hosts send to one over a link between two switches, a fourth from beside it, all of "
        "40 Gbps. Pauses share the receiver's link between the links that lead to it: the fourth "
        "host gets half of it, the three others a sixth each. With DCQCN each gets a quarter: "
        "the parking lot of its paper (figures 3 and 8)."
    )
    answer = Answer((JAIN_OF_TOTALS, THROUGHPUT, "max_paused_share_l1"), "transport")
    stop_time = "50ms"

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import Fabric
        from ccperf.experiments.topologies.fabric import host_link, switch_link

        wire, switch = link(setup), port(setup)
        ports = {"host": host_port(), "switch": switch}
        links = [
            *(host_link(host, "switch_0", wire, ports) for host in FAR),
            *(host_link(host, "switch_1", wire, ports) for host in (NEAR, RECEIVER)),
            switch_link(("switch_0", "switch_1"), wire, switch),
        ]
        network = Fabric((*FAR, NEAR, RECEIVER), ("switch_0", "switch_1"), tuple(links))
        return self.scenario_over(
            network,
            setup,
            [flow(setup, (host, RECEIVER), name=host) for host in (*FAR, NEAR)],
            sampled=[f"{RECEIVER}_reverse"],
            interval="1ms",
        )
