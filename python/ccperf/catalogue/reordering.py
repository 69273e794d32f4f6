"""Packets that overtake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.catalogue import impairments
from ccperf.catalogue.experiment import Experiment
from ccperf.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

#: How long a detour is open: about one packet of 1502 B at 16 Mbps.
DETOUR_NS = 751_000


class Reordering(Experiment):
    name = "reordering"
    title = "Reordering"
    group = "Impairments"
    description = (
        "One flow over a path that now and then, at the times of a Poisson process, sends a packet "
        "on a detour: those behind it come first. Nothing is lost. A good algorithm (with its "
        "loss detection) does not take a late packet for a lost one; three duplicate ACKs do, as "
        "soon as the detour is longer than three packets."
    )
    parameters = (
        Parameter("frequency", "number", (1.0, 10.0), 10.0, "Detours per second, on average."),
        Parameter("detour", "time", ("2ms", "5ms", "20ms"), "5ms", "What the detour takes on top."),
    )
    seeded = "which packets are late"

    def build(self, setup: Setup) -> Scenario:
        rng, stop = impairments.numbers(setup), impairments.length(setup)
        late = impairments.DELAY_NS + _native.parse_time(setup["detour"])
        times: list[int] = []
        delays: list[int] = []
        time = 0.0
        while setup["frequency"] > 0:
            time += DETOUR_NS + 1 + rng.expovariate(setup["frequency"] / 1e9)
            if time + DETOUR_NS >= stop:
                break
            times += [int(time), int(time) + DETOUR_NS]
            delays += [late, impairments.DELAY_NS]
        schedule = {"times_ns": times, "delays_ns": delays}
        return impairments.one_flow(setup, self.name, schedule)
