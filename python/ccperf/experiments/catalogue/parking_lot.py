"""Several bottlenecks in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue import shared
from ccperf.experiments.catalogue.answer import JAIN, SRTT, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

RATE, RTT = "20Mbps", "40ms"
#: A packet crosses no more: its time to live is 64.
MOST_LINKS = 64


class ParkingLot(Experiment):
    name = "parking_lot"
    title = "Parking lot"
    group = "Competition"
    description = (
        "A flow over n bottlenecks of 20 Mbps in a row (flow_1), and at each of them one that "
        "crosses only this; all have the same round trip and the same algorithm. Max-min fairness "
        "is half for everybody, proportional fairness one of n + 1 for the long one. A good "
        "algorithm does not starve the long flow."
    )
    answer = Answer((JAIN, USED, SRTT), "n")
    parameters = (
        Parameter("n", "count", (2, 3, 5), 3, "Number of bottlenecks.", most=MOST_LINKS - 2),
        Parameter("buffer", "number", (1.0,), 1.0, "Each queue, in bandwidth-delay products."),
    )
    draws_starts = True
    seeded = shared.SEEDED_STARTS

    def starts(self, setup: Setup) -> list[str]:
        return shared.starts(setup, setup["n"] + 1, RTT)

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import parking_lot

        n = setup["n"]
        return parking_lot(
            rate=RATE,
            rtt=RTT,
            qlen=shared.buffer(RATE, RTT, setup["buffer"]),
            hops=n,
            cc=setup.cc,
            recovery=setup.recovery,
            starts=self.starts(setup),
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
        )
