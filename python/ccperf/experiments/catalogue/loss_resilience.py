"""Random loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue.answer import SRTT, USED, Answer
from ccperf.experiments.catalogue.parameter import Parameter
from ccperf.experiments.catalogue.published import PublishedExperiment, greedy_flows
from ccperf.experiments.programs.published.run import DumbbellRun

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup


class LossResilience(PublishedExperiment):
    name = "loss_resilience"
    title = "Loss resilience"
    group = "Network variation"
    description = (
        "One flow over 16 Mbps and 15 ms that loses packets at random, each with the same "
        "probability, as a radio link does. A good algorithm does not take such a loss for "
        "congestion, or recovers from it fast."
    )
    answer = Answer((USED, SRTT), "loss")
    parameters = (
        Parameter(
            "loss",
            "probability",
            (0.0001, 0.001, 0.005, 0.01, 0.02, 0.05),
            0.02,
            "Probability that a packet is lost on its way forward.",
        ),
    )
    leading = ("loss",)
    seeded = "which packets are lost"

    def line(self, setup: Setup) -> DumbbellRun:
        return DumbbellRun(
            bw="16Mbps",
            loss=setup["loss"],
            qlen="20p",
            qdisc="FifoQueueDisc",
            flows=greedy_flows(setup),
            stop_time=setup.stop_time,
        )
