"""Many senders to one, over links that pause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.bounds import MOST
from ccperf.experiments.catalogue.answer import FCT, FCT_P99, RETRANSMITTED, Answer
from ccperf.experiments.catalogue.lossless.experiment import Lossless, flow, host_port, link, port
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario


class PfcIncast(Lossless):
    name = "pfc_incast"
    title = "Incast over a lossless switch"
    description = (
        "n hosts send to one at once, over 40 Gbps and a switch that has them pause before its "
        "buffer overflows. Nothing is lost; with DCQCN the switch need not pause them for long. "
        "Without pauses (`--pfc off`) the queue is what DCQCN alone leaves."
    )
    answer = Answer((FCT, FCT_P99, "max_paused_share_l1", RETRANSMITTED), "n")
    parameters = (
        Parameter("n", "count", (4, 16, 64), 16, "Number of senders.", most=MOST["links"] - 1),
        Parameter("size", "size", ("1MB",), "1MB", "Bytes of each."),
        *Lossless.parameters,
    )
    stop_time = "100ms"

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import star

        network = star(setup["n"] + 1, link(setup), port=port(setup), host_port=host_port())
        receiver, *senders = network.hosts
        return self.scenario_over(
            network,
            setup,
            [flow(setup, (host, receiver), setup["size"]) for host in senders],
            sampled=[f"{receiver}_reverse"],
            interval="100us",
        )
