"""Packets that overtake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue import impairments
from ccperf.experiments.catalogue.answer import RETRANSMITTED, SRTT, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario


class Reordering(Experiment):
    name = "reordering"
    title = "Reordering"
    group = "Impairments"
    description = (
        "One flow over a path on which some packets take a detour, each with the same probability: "
        "those behind come first. Nothing is lost. A good algorithm (with its loss detection) "
        "does not take a late packet for a lost one; three duplicate ACKs do, as soon as the "
        "detour is longer than three packets (RFC 8985, section 1)."
    )
    answer = Answer((USED, SRTT, RETRANSMITTED), "detour")
    parameters = (
        Parameter(
            "late", "probability", (0.001, 0.01), 0.01, "Probability that a packet takes it."
        ),
        Parameter("detour", "time", ("2ms", "5ms", "20ms"), "5ms", "What the detour takes on top."),
    )
    seeded = "which packets are late"

    def build(self, setup: Setup) -> Scenario:
        late = {"probability": setup["late"], "delay": setup["detour"]}
        return impairments.one_flow(setup, self.name, reordering=late)
