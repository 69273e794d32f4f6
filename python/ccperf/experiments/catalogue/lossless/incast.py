"""Many senders to one, over links that pause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue.answer import FCT, FCT_P99, RETRANSMITTED, Answer
from ccperf.experiments.catalogue.lossless.experiment import (
    DELAY,
    PFC,
    RATE,
    TRANSPORT,
    Lossless,
    flow,
    host_port,
    pausing,
    port,
    recording,
)
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
        Parameter("n", "count", (4, 16, 64), 16, "Number of senders."),
        Parameter("size", "size", ("1MB",), "1MB", "Bytes of each."),
        TRANSPORT,
        PFC,
        RATE,
    )
    stop_time = "100ms"

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import FabricLink, star

        network = star(
            setup["n"] + 1,
            FabricLink(setup["rate"], DELAY),
            port=port(setup),
            host_port=host_port(),
        )
        receiver, *senders = network.hosts
        return pausing(network, setup).scenario(
            [flow(setup, (host, receiver), setup["size"]) for host in senders],
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
            recording=recording([f"{receiver}_reverse"], "100us"),
        )
