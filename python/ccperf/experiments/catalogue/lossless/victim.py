"""Congestion spreads: a flow that crosses no congested link pauses with those that do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue.answer import THROUGHPUT, Answer
from ccperf.experiments.catalogue.lossless.experiment import Lossless, flow, host_port, link, port
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

VICTIM = "victim"


class PfcVictim(Lossless):
    name = "pfc_victim"
    title = "Victim flow: pauses spread"
    description = (
        "Four hosts below one leaf, and n below another, send to a host below a third; a fifth one "
        "below the first leaf sends to a fourth leaf, where nobody else does. Its packets wait for "
        "links that pause because of the incast. A good rate control leaves the victim what its "
        "links have: the victim of DCQCN's paper (figures 4 and 9), in a leaf-spine of 40 Gbps."
    )
    answer = Answer(("victim.mean_fct_l4", "max_paused_share_l1", THROUGHPUT), "n")
    parameters = (
        Parameter("n", "count", (1, 2, 4), 2, "Senders below another leaf, 4 at most.", most=4),
        Parameter("size", "size", ("10MB",), "10MB", "Bytes of the victim's transfer."),
        *Lossless.parameters,
    )
    draws_more = None
    seeded = "the hash of the flows' paths, and which packets are marked"
    stop_time = "100ms"

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import leaf_spine

        wire, switch = link(setup), port(setup)
        network = leaf_spine(
            4, 2, 5, host_link_of=wire, fabric_link_of=wire, port=switch, host_port=host_port()
        )
        senders = [f"h_0_{i}" for i in range(4)] + [f"h_2_{i}" for i in range(setup["n"])]
        flows = [flow(setup, (host, "h_3_0"), name=f"from_{host}") for host in senders]
        its_own = {"start": "1ms", "name": VICTIM, "group": VICTIM}
        victim = flow(setup, ("h_0_4", "h_1_0"), setup["size"], **its_own)
        return self.scenario_over(
            network,
            setup,
            [*flows, victim],
            sampled=["h_3_0_reverse", "h_1_0_reverse"],
            interval="1ms",
            routing={"type": "ecmp"},
        )
