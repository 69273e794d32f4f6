"""A delay that varies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue import impairments
from ccperf.experiments.catalogue.answer import RETRANSMITTED, SRTT, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario


class Jitter(Experiment):
    name = "jitter"
    title = "Jitter"
    group = "Impairments"
    description = (
        "One flow over a path with a delay of its own for each packet, drawn evenly between "
        "nothing and `spread` on top. Where order is kept, a packet waits for the one before "
        "it, as in a queue of a radio; where it is free, packets overtake. A good algorithm tells "
        "such a delay from a queue of its own, and does not back off for it."
    )
    answer = Answer((USED, SRTT, RETRANSMITTED), "spread")
    parameters = (
        Parameter(
            "spread", "time", ("1ms", "5ms", "20ms"), "5ms", "The most that comes on top, one way."
        ),
        Parameter(
            "order",
            "word",
            ("kept", "free"),
            "kept",
            "Whether packets wait for each other.",
            words=("kept", "free"),
        ),
    )
    seeded = "the delays"

    def build(self, setup: Setup) -> Scenario:
        delay = f"Uniform(min=0s,max={setup['spread']})"
        jitter = {"delay": delay, "keep_order": setup["order"] == "kept"}
        return impairments.one_flow(setup, self.name, jitter=jitter)
