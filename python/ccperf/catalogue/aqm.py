"""Active queue management."""

from __future__ import annotations

from typing import Any

from ccperf.catalogue.experiment import STOP_TIME, Experiment, Parameter, greedy_flows
from ccperf.commandline.run import DumbbellRun


class Aqm(Experiment):
    name = "aqm"
    title = "Active queue management"
    group = "Network variation"
    description = (
        "k flows share a bottleneck of 16 Mbps for each of them under different queue "
        "disciplines; the buffer is one bandwidth-delay product. A good algorithm profits from "
        "early drops: less queueing delay than under drop-tail at the same throughput, shared "
        "equally."
    )
    parameters = (
        Parameter("k", "count", (1, 2, 5, 10), 5, "Number of flows."),
        Parameter(
            "qdisc",
            "qdisc",
            ("FifoQueueDisc", "CoDelQueueDisc", "FqCoDelQueueDisc"),
            "FqCoDelQueueDisc",
            "Queue discipline of the bottleneck.",
        ),
    )
    leading = ("qdisc",)

    def setup(self, cc: str, **values: Any) -> DumbbellRun:
        k, qdisc = values["k"], values["qdisc"]
        return DumbbellRun(
            bw=f"{16 * k}Mbps",
            qlen=f"{20 * k}p",
            qdisc=qdisc,
            flows=greedy_flows(cc, k),
            stop_time=STOP_TIME,
        )
