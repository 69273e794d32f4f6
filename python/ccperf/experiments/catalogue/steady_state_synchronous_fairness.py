"""Fairness of flows that start together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.bounds import DUMBBELL_FLOWS
from ccperf.experiments.catalogue import paths
from ccperf.experiments.catalogue.answer import CONVERGENCE, JAIN, SRTT, USED, Answer
from ccperf.experiments.catalogue.parameter import Parameter
from ccperf.experiments.catalogue.published import PublishedExperiment, greedy_flows
from ccperf.experiments.programs.published.run import DumbbellRun

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup


class SteadyStateSynchronousFairness(PublishedExperiment):
    name = "steady_state_synchronous_fairness"
    title = "Synchronous fairness"
    group = "Steady state"
    description = (
        "k flows of the same algorithm start at the same time over paths of the same round trip "
        "and share the bottleneck. A good algorithm shares it equally from the start, without "
        "giving up throughput for it."
    )
    answer = Answer((JAIN, CONVERGENCE, USED, SRTT), "k")
    parameters = (
        Parameter("k", "count", (2, 5, 10), 5, "Number of flows.", most=DUMBBELL_FLOWS),
        Parameter(
            "path",
            "word",
            ("static.default", "static.india_to_aws_india", "static.winds_satellite"),
            "static.winds_satellite",
            "The network path.",
            words=tuple(paths.STATIC),
        ),
    )
    seeded = "which packets are lost at random, on the paths that lose some"

    def line(self, setup: Setup) -> DumbbellRun:
        k = setup["k"]
        path = paths.static(setup["path"], k)
        return DumbbellRun(
            bw=path.rate,
            loss=path.loss,
            qlen=path.qlen,
            qdisc="FifoQueueDisc",
            flows=greedy_flows(setup, k, path.rtt),
            stop_time=setup.stop_time,
        )
