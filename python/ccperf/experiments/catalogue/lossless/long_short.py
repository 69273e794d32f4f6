"""A short flow comes beside a long one and goes: who gives way, and who comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue.answer import QUEUE, THROUGHPUT, Answer
from ccperf.experiments.catalogue.lossless.experiment import Lossless, flow, host_port, link, port
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

LONG, SHORT = "long", "short"
RECEIVER = "receiver"
#: When the short flow begins.
JOINS = "1ms"


class PfcLongShort(Lossless):
    name = "pfc_long_short"
    title = "A short flow beside a long one"
    description = (
        "A host sends to another for as long as the run lasts, and after 1 ms a third one sends "
        "1 MB to the same receiver, over 40 Gbps. A good rate control makes room for it within a "
        "round trip, without a queue, and has the link back as soon as it is gone: the "
        "first micro-benchmark of HPCC's paper (section 5.2)."
    )
    answer = Answer((f"{SHORT}.mean_fct_l4", THROUGHPUT, QUEUE), "transport")
    parameters = (
        Parameter("size", "size", ("1MB",), "1MB", "Bytes of the short flow."),
        *Lossless.parameters,
    )
    stop_time = "6ms"

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import star

        network = star(3, link(setup), port=port(setup), host_port=host_port())
        receiver, first, second = network.hosts
        short = {"start": JOINS, "name": SHORT, "group": SHORT}
        return self.scenario_over(
            network,
            setup,
            [
                flow(setup, (first, receiver), name=LONG),
                flow(setup, (second, receiver), setup["size"], **short),
            ],
            sampled=[f"{receiver}_reverse"],
            interval="10us",
        )
