"""ACK compression."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue.answer import SRTT, USED, Answer
from ccperf.experiments.catalogue.parameter import Parameter
from ccperf.experiments.catalogue.published import PublishedExperiment, greedy_flows
from ccperf.experiments.programs.published.options import ACK_COMPRESSION
from ccperf.experiments.programs.published.run import DumbbellRun

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup


class AckCompression(PublishedExperiment):
    name = "ack_compression"
    title = "ACK compression"
    group = "Network variation"
    description = (
        "One flow over a bottleneck of 16 Mbps whose return path sends packets in bursts only, as "
        "a shared medium with time slots does: every interval at most quota acknowledgments, at 1 "
        "Gbps. A good algorithm keeps its operating point: it neither takes the bursts for "
        "bandwidth nor answers each of them with a burst that overflows the queue."
    )
    answer = Answer((USED, SRTT), "interval")
    parameters = (
        Parameter(
            "interval", "time", ("1ms", "5ms", "10ms", "20ms"), "5ms", "Time between two slots."
        ),
        Parameter("quota", "count", (1, 5, 10, 20), 10, "Most packets that leave in a slot."),
    )

    def line(self, setup: Setup) -> DumbbellRun:
        interval, quota = setup["interval"], setup["quota"]
        return DumbbellRun(
            program=ACK_COMPRESSION,
            interval=interval,
            quota=quota,
            bw="16Mbps",
            qlen="20p",
            qdisc="FifoQueueDisc",
            flows=greedy_flows(setup),
            stop_time=setup.stop_time,
        )
