"""Short flows beside a long one."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.experiments.catalogue import shared
from ccperf.experiments.catalogue.answer import FCT, FCT_P99, UNFINISHED, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

RATE, RTT = "20Mbps", "40ms"


class ShortAgainstLong(Experiment):
    name = "short_against_long"
    title = "Short against long"
    group = "Competition"
    description = (
        "A flow that sends all the time (flow_1), and 30 short ones that fetch a document each, "
        "all of the algorithm under test, over 20 Mbps with one bandwidth-delay product of "
        "buffer. The short ones come at the times of a Poisson process between a tenth and nine "
        "tenths of the run. A good algorithm lets them finish soon: neither does its long flow "
        "keep a queue for them to stand in, nor do they slow down before they have begun. The "
        "metrics of classes have their completion times."
    )
    answer = Answer((FCT, FCT_P99, UNFINISHED, USED), "size")
    parameters = (
        Parameter("size", "size", ("15kB", "100kB", "500kB"), "100kB", "Bytes of each short flow."),
        Parameter("buffer", "number", (1.0, 4.0), 1.0, "Queue, in bandwidth-delay products."),
        shared.SAMPLES,
    )
    draws_more = True
    seeded = "when the short flows come"

    #: How many short flows.
    count = 30

    def starts(self, setup: Setup) -> list[str]:
        rng = random.Random(f"{setup.seed}/arrivals")
        stop = _native.parse_time(setup.stop_time)
        # Given their number, the arrivals of a Poisson process are uniform.
        times = sorted(rng.randint(stop // 10, stop * 9 // 10) for _ in range(self.count))
        return ["0s", *map(_native.format_time, times)]

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import Bottleneck, DumbbellFlow, dumbbell
        from ccperf.experiments.topologies.dumbbell import BOTTLENECK

        _, *arrivals = self.starts(setup)
        long_one = DumbbellFlow(setup.cc, RTT, recovery=setup.recovery)
        short_ones = [
            DumbbellFlow(
                setup.cc,
                RTT,
                recovery=setup.recovery,
                start=start,
                application={"type": "Greedy", "bytes": setup["size"]},
            )
            for start in arrivals
        ]
        return dumbbell(
            Bottleneck(RATE, shared.buffer(RATE, RTT, setup["buffer"])),
            [long_one, *short_ones],
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
            recording=shared.recording(setup, 1 + self.count, f"{BOTTLENECK}_forward"),
        )
