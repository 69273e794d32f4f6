"""A ring of switches, each of which waits for the next one to let it send."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue.answer import THROUGHPUT, Answer
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


class PfcDeadlock(Lossless):
    name = "pfc_deadlock"
    title = "Deadlock: a cycle of buffers"
    description = (
        "Switches in a ring, a host at each that sends to the one two switches further: what waits "
        "at a switch for the next link of the ring waits for the buffer behind it, all around. "
        "With pauses alone all stop for ever. DCQCN, which keeps queues below the "
        "threshold, and networks that lose packets go on."
    )
    answer = Answer((THROUGHPUT, "max_paused_share_l1"), "transport")
    parameters = (
        TRANSPORT,
        PFC,
        Parameter("switches", "count", (5,), 5, "Of the ring, at least 5."),
        RATE,
    )
    stop_time = "20ms"

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import Fabric, FabricLink
        from ccperf.experiments.topologies.fabric import at_least, host_link, switch_link

        count = setup["switches"]
        # Fewer have ways of equal length, or shorter ones, the other way around.
        at_least("switches", count, 5)
        link, switch = FabricLink(setup["rate"], DELAY), port(setup)
        ports = {"host": host_port(), "switch": switch}
        switches = tuple(f"switch_{i}" for i in range(count))
        hosts = tuple(f"host_{i}" for i in range(count))
        links = [
            *(host_link(host, at, link, ports) for host, at in zip(hosts, switches, strict=True)),
            *(
                switch_link((switches[i], switches[(i + 1) % count]), link, switch)
                for i in range(count)
            ),
        ]
        network = Fabric(hosts, switches, tuple(links))
        ring = [link["name"] for link in links[count:]]
        return pausing(network, setup).scenario(
            [flow(setup, (hosts[i], hosts[(i + 2) % count])) for i in range(count)],
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
            recording=recording(ring, "100us"),
        )
