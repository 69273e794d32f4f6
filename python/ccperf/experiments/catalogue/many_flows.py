"""Very many flows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.bounds import DUMBBELL_FLOWS
from ccperf.experiments.catalogue import shared
from ccperf.experiments.catalogue.answer import JAIN_OF_TOTALS, RETRANSMITTED, SRTT, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

RATE, RTT = "500Mbps", "40ms"


class ManyFlows(Experiment):
    name = "many_flows"
    title = "Many flows"
    group = "Scale"
    description = (
        "100 or 1,000 flows share 500 Mbps: a window of 17 packets or of less than two for each. A "
        "good algorithm still shares fairly, and does not live on timeouts where a window of one "
        "packet is too much."
    )
    answer = Answer((USED, JAIN_OF_TOTALS, SRTT, RETRANSMITTED), "k")
    parameters = (
        Parameter("k", "count", (100, 1000), 1000, "Number of flows.", most=DUMBBELL_FLOWS),
        Parameter(
            "qdisc",
            "qdisc",
            ("FifoQueueDisc", "FqCoDelQueueDisc"),
            "FifoQueueDisc",
            "Queue discipline of the bottleneck, of one bandwidth-delay product.",
        ),
        shared.SAMPLES,
    )
    draws_starts = True
    seeded = "when the flows start, within one second"

    def starts(self, setup: Setup) -> list[str]:
        return shared.starts(setup, setup["k"], "1s")

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import Bottleneck, dumbbell
        from ccperf.experiments.topologies.dumbbell import BOTTLENECK

        k = setup["k"]
        return dumbbell(
            Bottleneck(RATE, shared.buffer(RATE, RTT), setup["qdisc"]),
            shared.greedy(setup, [setup.cc] * k, [RTT] * k, self.starts(setup)),
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
            recording=shared.recording(setup, k, f"{BOTTLENECK}_forward"),
        )
