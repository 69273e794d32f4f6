"""Explicit congestion notification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.bounds import DUMBBELL_FLOWS
from ccperf.experiments.catalogue.answer import JAIN, SRTT, USED, Answer
from ccperf.experiments.catalogue.parameter import Parameter
from ccperf.experiments.catalogue.published import PublishedExperiment, greedy_flows
from ccperf.experiments.programs.published.run import DumbbellRun

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup


class Ecn(PublishedExperiment):
    name = "ecn"
    title = "Explicit congestion notification"
    group = "Network variation"
    description = (
        "k flows share a bottleneck of 16 Mbps for each of them, whose CoDel marks packets "
        "instead of dropping them: by CoDel's control law, and every packet that waited longer "
        "than the CE threshold. Sender, receiver and queue all speak ECN. A good algorithm "
        "answers the marks early enough to keep the queue short without losing packets, and late "
        "enough to keep the link busy."
    )
    answer = Answer((SRTT, USED, JAIN), "k")
    parameters = (
        Parameter("k", "count", (1, 2, 5, 10), 1, "Number of flows.", most=DUMBBELL_FLOWS),
        Parameter(
            "ce_threshold",
            "time",
            ("1ms", "2ms", "5ms", "10ms"),
            "1ms",
            "Sojourn time above which CoDel marks every ECN-capable packet.",
        ),
    )

    def line(self, setup: Setup) -> DumbbellRun:
        k, ce_threshold = setup["k"], setup["ce_threshold"]
        return DumbbellRun(
            bw=f"{16 * k}Mbps",
            qlen=f"{20 * k}p",
            qdisc="CoDelQueueDisc",
            flows=greedy_flows(setup, k),
            stop_time=setup.stop_time,
            attributes=(
                ("TcpSocketBase", "UseEcn", "On"),
                ("CoDelQueueDisc", "UseEcn", "true"),
                ("CoDelQueueDisc", "CeThreshold", ce_threshold),
            ),
        )
