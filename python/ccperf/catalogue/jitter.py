"""A delay that varies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.catalogue import impairments
from ccperf.catalogue.experiment import Experiment
from ccperf.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

STEP_NS = 1_000_000
#: A step down is shorter than a packet of 1502 B takes at 16 Mbps, so that none overtakes another.
MOST_NS = 500_000


class Jitter(Experiment):
    name = "jitter"
    title = "Jitter"
    group = "Impairments"
    description = (
        "One flow over a path whose delay walks at random between nothing and `spread` on top, by "
        "at most half a millisecond in a millisecond, so that packets keep their order. A good "
        "algorithm tells such a delay from a queue of its own, and does not back off for it."
    )
    parameters = (
        Parameter(
            "spread", "time", ("1ms", "5ms", "20ms"), "5ms", "The most that comes on top, one way."
        ),
    )
    seeded = "the delay"

    def build(self, setup: Setup) -> Scenario:
        rng, stop = impairments.numbers(setup), impairments.length(setup)
        spread = _native.parse_time(setup["spread"])
        times = list(range(0, stop, STEP_NS))
        delays: list[int] = []
        extra = spread // 2
        for _ in times:
            delays.append(impairments.DELAY_NS + extra)
            extra = min(max(extra + rng.randint(-MOST_NS, MOST_NS), 0), spread)
        schedule = {"times_ns": times, "delays_ns": delays}
        return impairments.one_flow(setup, self.name, schedule)
