"""Fairness of flows with different round trips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.base.wording import counted
from ccperf.errors import UsageError
from ccperf.experiments.bounds import DUMBBELL_FLOWS
from ccperf.experiments.catalogue import paths
from ccperf.experiments.catalogue.answer import JAIN, SRTT, USED, Answer
from ccperf.experiments.catalogue.parameter import AUTO, Parameter, Value, times, written
from ccperf.experiments.catalogue.published import PublishedExperiment, greedy_flows
from ccperf.experiments.programs.published.run import DumbbellRun

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup

#: The round trips of the published runs, by the number of flows.
PUBLISHED_RTTS = {
    2: "[97ms,76ms]",
    10: "[19ms,33ms,41ms,49ms,81ms,24ms,55ms,62ms,10ms,64ms]",
}


class SteadyStateRttFairness(PublishedExperiment):
    name = "steady_state_rtt_fairness"
    title = "RTT fairness"
    group = "Steady state"
    description = (
        "k flows of the same algorithm with different round trips start together and share the "
        "bottleneck. Whoever hears back sooner tends to get more; a good algorithm shares equally "
        "nevertheless."
    )
    answer = Answer((JAIN, USED, SRTT), "k")
    parameters = (
        Parameter("k", "count", (2, 10), 2, "Number of flows.", most=DUMBBELL_FLOWS),
        Parameter(
            "path",
            "word",
            ("static.default", "static.india_to_aws_india"),
            "static.default",
            "The network path, its round trip aside.",
            words=tuple(paths.STATIC),
        ),
        Parameter(
            "rtts",
            "times",
            (AUTO,),
            AUTO,
            "Round trip of each flow; if not given, as published for 2 and for 10 flows, else "
            "evenly from 10 ms to 100 ms.",
        ),
    )
    leading = ("rtts",)
    seeded = "which packets are lost at random, on the paths that lose some"

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:  # noqa: ARG002
        k = int(values["k"])
        if values["rtts"] == AUTO:
            evenly = [f"{10 + 90 * i // max(1, k - 1)}ms" for i in range(k)]
            return {**values, "rtts": PUBLISHED_RTTS.get(k, written(evenly))}
        if (given := len(times(values["rtts"]))) != k:
            entries = counted(given, "entry")
            raise UsageError("rtts", f"has {entries} for {counted(k, 'flow')}; give one a flow")
        return values

    def line(self, setup: Setup) -> DumbbellRun:
        k = setup["k"]
        path = paths.static(setup["path"], k)
        return DumbbellRun(
            bw=path.rate,
            loss=path.loss,
            qlen=path.qlen,
            qdisc="FifoQueueDisc",
            flows=greedy_flows(setup, k, times(setup["rtts"])),
            stop_time=setup.stop_time,
        )
