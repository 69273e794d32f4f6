"""A host that hardly takes anything any more: its switch pauses, and theirs, and theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue.answer import JAIN_OF_TOTALS, THROUGHPUT, Answer
from ccperf.experiments.catalogue.lossless.experiment import (
    FAR,
    Lossless,
    far_flow,
    host_port,
    link,
    port,
)
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

LEAVES, SPINES, SERVERS = 3, 2, 4
SICK = "h_1_0"
#: When it falls ill.
BEGINS = "2ms"


class PfcStorm(Lossless):
    name = "pfc_storm"
    title = "Pause storm: one sick host"
    description = (
        "Twelve hosts below three leaves; eleven each send to one host below either other leaf. "
        "After 2 ms the twelfth takes a thousandth of what its link could carry, as a network card "
        "does that sends pause frames all the time. Its leaf pauses the spines, these the other "
        "leaves, and those their hosts: most flows stop, though only two of 22 lead to the sick "
        "host. A good rate control slows down these two."
    )
    answer = Answer((THROUGHPUT, "max_paused_share_l1", JAIN_OF_TOTALS), "transport")
    parameters = (
        Parameter("storm", "word", ("on",), "on", "Whether a host falls ill.", words=("on", "off")),
        *Lossless.parameters,
    )
    draws_more = None
    seeded = "the hash of the flows' paths, and which packets are marked"
    stop_time = "20ms"

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import leaf_spine

        wire = link(setup)
        network = leaf_spine(
            LEAVES,
            SPINES,
            SERVERS,
            host_link_of=wire,
            fabric_link_of=wire,
            port=port(setup, FAR),
            host_port=host_port(),
        )
        pairs = [
            (f"h_{leaf}_{server}", f"h_{(leaf + step) % LEAVES}_{server}")
            for leaf in range(LEAVES)
            for server in range(SERVERS)
            for step in range(1, LEAVES)
        ]
        # Pause frames reach the sick one over the direction that is slow: it sends nothing.
        flows = [far_flow(setup, ends) for ends in pairs if ends[0] != SICK]
        slow = {"time": BEGINS, "link": SICK, "direction": "reverse", "rate": "40Mbps"}
        return self.scenario_over(
            network,
            setup,
            flows,
            sampled=[f"{SICK}_reverse", "h_0_1_reverse"],
            interval="1ms",
            routing={"type": "ecmp"},
            changes=[slow] if setup["storm"] == "on" else [],
        )
