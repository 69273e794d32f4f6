"""Steady state of a single flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue import paths
from ccperf.experiments.catalogue.answer import RETRANSMITTED, SRTT, USED, Answer
from ccperf.experiments.catalogue.parameter import Parameter
from ccperf.experiments.catalogue.published import PublishedExperiment, greedy_flows
from ccperf.experiments.programs.published.run import DumbbellRun

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup


class SteadyStateSingleFlow(PublishedExperiment):
    name = "steady_state_single_flow"
    title = "Single flow"
    group = "Steady state"
    description = (
        "One flow alone on a path that does not change. A good algorithm fills the pipe and keeps "
        "the queue that it makes itself short, whatever the rate, the round trip, the buffer and "
        "the random loss of the path."
    )
    answer = Answer((USED, SRTT, RETRANSMITTED), "path", "plane")
    parameters = (
        Parameter(
            "path",
            "word",
            tuple(paths.STATIC),
            "static.india_to_aws_india",
            "The network path.",
            words=tuple(paths.STATIC),
        ),
    )
    seeded = "which packets are lost at random, on the paths that lose some"

    def line(self, setup: Setup) -> DumbbellRun:
        path = paths.static(setup["path"])
        return DumbbellRun(
            bw=path.rate,
            loss=path.loss,
            qlen=path.qlen,
            qdisc="FifoQueueDisc",
            flows=greedy_flows(setup, rtt=path.rtt),
            stop_time=setup.stop_time,
        )
