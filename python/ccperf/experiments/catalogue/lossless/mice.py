"""Mice beside elephants: what a packet finds waiting where long flows fill a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.experiments.catalogue.answer import QUEUE, THROUGHPUT, Answer
from ccperf.experiments.catalogue.lossless.experiment import Lossless, flow, host_port, link, port
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

ELEPHANTS, MICE = "elephants", "mice"
#: When the first mouse comes: all laws but DCQCN have found their rates by then.
FIRST_NS = 2_000_000
#: From one mouse to the next: no multiple of what a packet takes, so that they meet all of a cycle.
GAP_NS = 50_021


class PfcMice(Lossless):
    name = "pfc_mice"
    title = "Mice beside elephants"
    description = (
        "Two hosts send to a third one for as long as the run lasts, and a fourth one sends a "
        "packet of 1 kB to it every 50 us, over 40 Gbps. How long mice take is how long the queue "
        "of the elephants is: alone they take 4.4 us there and back. After the micro-benchmark of "
        "HPCC's paper on mice (section 5.2)."
    )
    answer = Answer((f"{MICE}.mean_fct_l4", f"{MICE}.p99_fct_l4", QUEUE, THROUGHPUT), "transport")
    parameters = (
        Parameter("elephants", "count", (2,), 2, "Hosts that send all the time."),
        Parameter("mice", "count", (100,), 100, "How many mice there are."),
        *Lossless.parameters,
    )
    stop_time = "8ms"

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import star

        network = star(setup["elephants"] + 2, link(setup), port=port(setup), host_port=host_port())
        receiver, mouse, *elephants = network.hosts
        begin = [FIRST_NS + GAP_NS * i for i in range(setup["mice"])]
        end = _native.parse_time(setup.stop_time)
        return self.scenario_over(
            network,
            setup,
            [
                *(flow(setup, (host, receiver), group=ELEPHANTS) for host in elephants),
                *(
                    flow(setup, (mouse, receiver), "1kB", group=MICE, start=_native.format_time(at))
                    for at in begin
                    if at < end
                ),
            ],
            sampled=[f"{receiver}_reverse"],
            # Of a cycle of pauses samples of 10 us would meet one phase only.
            interval="1.7us",
        )
