"""A ring of switches, each of which waits for the next one to let it send."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.bounds import MOST
from ccperf.experiments.catalogue.answer import THROUGHPUT, Answer
from ccperf.experiments.catalogue.lossless.experiment import Lossless, flow, host_port, link, port
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
        Parameter(
            "switches", "count", (5,), 5, "Of the ring, at least 5.", most=MOST["links"] // 2
        ),
        *Lossless.parameters,
    )
    stop_time = "20ms"

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import Fabric
        from ccperf.experiments.topologies.fabric import at_least, host_link, switch_link

        count = setup["switches"]
        # With fewer, paths the other way around the ring are as short, or shorter.
        at_least("switches", count, 5)
        wire, switch = link(setup), port(setup)
        ports = {"host": host_port(), "switch": switch}
        switches = tuple(f"switch_{i}" for i in range(count))
        hosts = tuple(f"host_{i}" for i in range(count))
        links = [
            *(host_link(host, at, wire, ports) for host, at in zip(hosts, switches, strict=True)),
            *(
                switch_link((switches[i], switches[(i + 1) % count]), wire, switch)
                for i in range(count)
            ),
        ]
        network = Fabric(hosts, switches, tuple(links))
        return self.scenario_over(
            network,
            setup,
            [flow(setup, (hosts[i], hosts[(i + 2) % count])) for i in range(count)],
            sampled=[each["name"] for each in links[count:]],
            interval="100us",
        )
