"""Losses that come in bursts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.errors import UsageError
from ccperf.experiments.catalogue import impairments
from ccperf.experiments.catalogue.answer import SRTT, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter, Value

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario


class BurstyLoss(Experiment):
    name = "bursty_loss"
    title = "Bursty loss"
    group = "Impairments"
    description = (
        "One flow over a link that is good or bad, packet by packet, as E. N. Gilbert (1960) and "
        "E. O. Elliott (1963) model channels: bad for `burst` packets on average, which are lost. "
        "The same mean loss in longer bursts is fewer signals; a good algorithm loses less "
        "throughput by it, and gets out of a burst without a timeout."
    )
    answer = Answer((USED, SRTT), "burst")
    parameters = (
        Parameter(
            "loss", "probability", (0.005, 0.02), 0.02, "Mean share of packets that are lost."
        ),
        Parameter("burst", "number", (1, 5, 20), 5, "Mean number of packets lost in a row."),
    )
    seeded = "which packets are lost"

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:  # noqa: ARG002
        loss, burst = float(values["loss"]), float(values["burst"])
        if burst < 1:
            raise UsageError("burst", f"`{values['burst']}` must be at least 1")
        if not 0 < loss / (1 - loss) <= burst if loss < 1 else True:
            message = f"`{values['loss']}` must be above 0, and below {burst / (1 + burst):.3g}"
            raise UsageError("loss", f"{message} for bursts of {values['burst']}")
        return values

    def build(self, setup: Setup) -> Scenario:
        to_good = 1 / setup["burst"]
        # The share of the bad state is to_bad / (to_bad + to_good).
        to_bad = to_good * setup["loss"] / (1 - setup["loss"])
        bursts = {"to_bad": to_bad, "to_good": to_good}
        return impairments.one_flow(setup, self.name, gilbert_elliott=bursts)
