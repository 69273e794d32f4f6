"""How much buffer an algorithm needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.bounds import DUMBBELL_FLOWS
from ccperf.experiments.catalogue import shared
from ccperf.experiments.catalogue.answer import RETRANSMITTED, SRTT, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

RATE, RTT = "50Mbps", "40ms"


class BufferSizing(Experiment):
    name = "buffer_sizing"
    title = "Buffer sizing"
    group = "Buffers and queues"
    description = (
        "k flows over 50 Mbps and 40 ms with a drop-tail queue from a tenth of the bandwidth-delay "
        "product to ten times it. With too little a flow that halves its window cannot keep the "
        "link busy; with too much a flow that fills it stands in its own queue. A good algorithm "
        "needs little and does not fill what there is; many flows together need less, by the "
        "square root of their number (G. Appenzeller, I. Keslassy, N. McKeown, "
        '"Sizing router buffers", SIGCOMM 2004).'
    )
    answer = Answer((USED, SRTT, RETRANSMITTED), "buffer")
    parameters = (
        Parameter(
            "buffer",
            "number",
            (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0),
            1.0,
            "Size of the queue, in bandwidth-delay products.",
        ),
        Parameter("k", "count", (1, 16), 1, "Number of flows.", most=DUMBBELL_FLOWS),
    )
    draws_starts = True
    seeded = shared.SEEDED_STARTS

    def starts(self, setup: Setup) -> list[str]:
        return shared.starts(setup, setup["k"], RTT)

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import Bottleneck, dumbbell

        k = setup["k"]
        return dumbbell(
            Bottleneck(RATE, shared.buffer(RATE, RTT, setup["buffer"])),
            shared.greedy(setup, [setup.cc] * k, [RTT] * k, self.starts(setup)),
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
        )
