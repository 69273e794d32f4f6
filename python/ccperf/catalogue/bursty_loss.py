"""Losses that come in bursts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.catalogue import impairments
from ccperf.catalogue.experiment import Experiment
from ccperf.catalogue.parameter import Parameter, Value
from ccperf.errors import UsageError

if TYPE_CHECKING:
    from ccperf.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

#: A packet's chance to be lost in the bad state.
BAD = 0.5


class BurstyLoss(Experiment):
    name = "bursty_loss"
    title = "Bursty loss"
    group = "Impairments"
    description = (
        "One flow over a link with a good and a bad state, as Gilbert and Elliott model radio "
        "channels (E. O. Elliott, 1963), in time: both states last exponentially long; in the bad "
        "one every other packet is lost, in the good one none. The same mean loss in longer bursts "
        "is fewer signals; a good algorithm loses less throughput by it, and gets out of a burst "
        "without a timeout."
    )
    parameters = (
        Parameter(
            "loss", "probability", (0.005, 0.02), 0.02, "Mean share of packets that are lost."
        ),
        Parameter(
            "burst", "time", ("5ms", "20ms", "100ms"), "20ms", "Mean length of the bad state."
        ),
    )
    seeded = "when the link is bad, and which packets are lost then"

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:  # noqa: ARG002
        if not 0 < float(values["loss"]) < BAD:
            raise UsageError("loss", f"`{values['loss']}` must be above 0 and below {BAD}")
        return values

    def build(self, setup: Setup) -> Scenario:
        rng, stop = impairments.numbers(setup), impairments.length(setup)
        share = setup["loss"] / BAD
        bad = _native.parse_time(setup["burst"])
        means = (bad * (1 - share) / share, bad)
        times: list[int] = []
        losses: list[float] = []
        time = 0.0
        while True:
            time += max(1.0, rng.expovariate(1 / means[len(times) % 2]))
            if time >= stop:
                break
            losses.append(0.0 if len(times) % 2 else BAD)
            times.append(int(time))
        schedule = {"times_ns": times, "losses": losses, "direction": "forward"}
        return impairments.one_flow(setup, self.name, schedule)
