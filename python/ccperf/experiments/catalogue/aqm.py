"""Active queue management."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.bounds import DUMBBELL_FLOWS
from ccperf.experiments.catalogue.answer import JAIN, SRTT, USED, Answer
from ccperf.experiments.catalogue.parameter import Parameter
from ccperf.experiments.catalogue.published import PublishedExperiment, greedy_flows
from ccperf.experiments.programs.published.run import DumbbellRun

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup


class Aqm(PublishedExperiment):
    name = "aqm"
    title = "Active queue management"
    group = "Network variation"
    description = (
        "k flows share a bottleneck of 16 Mbps for each of them under different queue "
        "disciplines; the buffer is one bandwidth-delay product. A good algorithm profits from "
        "early drops: less queueing delay than under drop-tail at the same throughput, shared "
        "equally."
    )
    answer = Answer((SRTT, USED, JAIN), "k")
    parameters = (
        Parameter("k", "count", (1, 2, 5, 10), 5, "Number of flows.", most=DUMBBELL_FLOWS),
        Parameter(
            "qdisc",
            "qdisc",
            ("FifoQueueDisc", "CoDelQueueDisc", "FqCoDelQueueDisc"),
            "FqCoDelQueueDisc",
            "Queue discipline of the bottleneck.",
        ),
    )
    leading = ("qdisc",)

    def line(self, setup: Setup) -> DumbbellRun:
        k, qdisc = setup["k"], setup["qdisc"]
        return DumbbellRun(
            bw=f"{16 * k}Mbps",
            qlen=f"{20 * k}p",
            qdisc=qdisc,
            flows=greedy_flows(setup, k),
            stop_time=setup.stop_time,
        )
