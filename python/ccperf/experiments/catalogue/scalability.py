"""Scalability to long fat pipes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue.answer import RETRANSMITTED, SRTT, USED, Answer
from ccperf.experiments.catalogue.parameter import Parameter
from ccperf.experiments.catalogue.published import PublishedExperiment, greedy_flows
from ccperf.experiments.programs.published.options import RESPONSIVENESS, SERIES
from ccperf.experiments.programs.published.run import DumbbellRun, Step

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup

START_RATE = "16Mbps"
STEP_TIME = "3.75s"
PACKET_BITS = 8 * 1500


class Scalability(PublishedExperiment):
    name = "scalability"
    title = "Scalability"
    group = "Network variation"
    description = (
        "One flow meets a bottleneck of 16 Mbps that widens to bw after a quarter of the run, "
        "under CoDel with a buffer of one bandwidth-delay product of the wide link. A good "
        "algorithm fills the new capacity within a few round trips, whatever the bandwidth-delay "
        "product."
    )
    answer = Answer((USED, SRTT, RETRANSMITTED), "bw")
    parameters = (
        Parameter(
            "bw",
            "rate",
            ("32Mbps", "64Mbps", "128Mbps", "256Mbps", "512Mbps"),
            "256Mbps",
            "Rate of the bottleneck from 3.75 s on.",
        ),
        Parameter("rtt", "time", ("15ms", "60ms"), "15ms", "Two-way propagation delay."),
    )
    leading = ("bw", *SERIES, "loss")

    def line(self, setup: Setup) -> DumbbellRun:
        bw, rtt = setup["bw"], setup["rtt"]
        return DumbbellRun(
            program=RESPONSIVENESS,
            bw=bw,
            series=(Step("0s", START_RATE, rtt, loss=0.0), Step(STEP_TIME, bw, rtt, loss=0.0)),
            qlen=f"{bandwidth_delay_product(bw, rtt)}p",
            qdisc="CoDelQueueDisc",
            flows=greedy_flows(setup, rtt=rtt),
            stop_time=setup.stop_time,
        )


def bandwidth_delay_product(bw: str, rtt: str) -> int:
    """In packets of 1500 B, rounded down, at least 1."""
    from ccperf import _native

    return max(1, _native.parse_rate(bw) * _native.parse_time(rtt) // (PACKET_BITS * 10**9))
