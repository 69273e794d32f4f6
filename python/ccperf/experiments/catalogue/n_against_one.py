"""One flow among many of another algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.experiments.bounds import DUMBBELL_FLOWS
from ccperf.experiments.catalogue import shared
from ccperf.experiments.catalogue.answer import JAIN, SRTT, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

RATE_OF_EACH, RTT = "10Mbps", "40ms"


class NAgainstOne(Experiment):
    name = "n_against_one"
    title = "One against many"
    group = "Competition"
    description = (
        "One flow of the algorithm under test (flow_1) shares a drop-tail bottleneck with n flows "
        "of another algorithm, with 10 Mbps and one bandwidth-delay product of buffer for each. "
        "Its share should be one of n + 1, whatever n is: an algorithm whose share does not "
        "depend on how many it meets takes too much from many, or gets too little from few (R. "
        'Ware et al., "Modeling BBR\'s interactions with loss-based congestion control", IMC '
        "2019)."
    )
    answer = Answer((JAIN, USED, SRTT), "n")
    parameters = (
        Parameter("n", "count", (1, 4, 16), 4, "Number of other flows.", most=DUMBBELL_FLOWS - 1),
        Parameter(
            "against", "cc", ("TcpNewReno", "TcpCubic"), "TcpCubic", "The algorithm of the others."
        ),
    )
    draws_starts = True
    seeded = shared.SEEDED_STARTS

    def starts(self, setup: Setup) -> list[str]:
        return shared.starts(setup, setup["n"] + 1, RTT)

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import Bottleneck, dumbbell

        n = setup["n"]
        rate = _native.format_rate((n + 1) * _native.parse_rate(RATE_OF_EACH))
        return dumbbell(
            Bottleneck(rate, shared.buffer(rate, RTT)),
            shared.greedy(
                setup, [setup.cc, *[setup["against"]] * n], [RTT] * (n + 1), self.starts(setup)
            ),
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
        )
