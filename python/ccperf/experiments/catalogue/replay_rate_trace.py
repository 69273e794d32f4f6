"""A rate that follows a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue import paths
from ccperf.experiments.catalogue.answer import RETRANSMITTED, SRTT, USED, Answer
from ccperf.experiments.catalogue.parameter import Parameter
from ccperf.experiments.catalogue.published import PublishedExperiment, greedy_flows
from ccperf.experiments.programs.published.options import REPLAY
from ccperf.experiments.programs.published.run import DumbbellRun

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup


class ReplayRateTrace(PublishedExperiment):
    name = "replay_rate_trace"
    title = "Rate replay"
    group = "Dynamic network"
    description = (
        "One flow over a link whose rate follows a trace, as Mahimahi's link shell replays them: "
        "opportunities of single packets at the times of a Poisson process on three of "
        "Pantheon's paths, and rates over time that look like LTE, Wi-Fi and satellites in low "
        "orbit. A good algorithm follows the rate without keeping a queue for its worst moments. "
        "The traces are ours, drawn by a script; the published ones were not published."
    )
    answer = Answer((USED, SRTT, RETRANSMITTED), "trace_file", "plane")
    parameters = (
        Parameter(
            "trace_file",
            "trace",
            tuple(paths.TRACED),
            "0.57mbps-poisson.trace",
            "The trace, which also says on which path; or a file of Mahimahi's format or CSV, over "
            "50 ms and with a buffer of 200 ms.",
            words=tuple(paths.TRACED),
        ),
    )
    leading = ("trace-file",)
    seeded = "which packets are lost at random, on the paths that lose some"

    def line(self, setup: Setup) -> DumbbellRun:
        path = paths.traced(setup["trace_file"])
        return DumbbellRun(
            program=REPLAY,
            trace_file=str(setup["trace_file"]),
            bw=path.rate,
            loss=path.loss,
            qlen=path.qlen,
            qdisc="FifoQueueDisc",
            flows=greedy_flows(setup, rtt=path.rtt),
            stop_time=setup.stop_time,
        )
