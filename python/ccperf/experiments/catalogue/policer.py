"""A rate that is enforced by dropping."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.experiments.catalogue.answer import RETRANSMITTED, SRTT, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

LINK, RTT = "100Mbps", "30ms"


class Policer(Experiment):
    name = "policer"
    title = "Policer"
    group = "Impairments"
    description = (
        "One flow over a link of 100 Mbps behind a token bucket that drops what exceeds the rate "
        "it is given: no queue grows before the first loss, and after a burst everything above the "
        "rate is lost at once (T. Flach et al., An internet-wide analysis of traffic policing, "
        "SIGCOMM 2016). A good algorithm finds the rate without losing a window each time."
    )
    answer = Answer((USED, RETRANSMITTED, SRTT), "burst")
    parameters = (
        Parameter("rate", "rate", ("4Mbps", "16Mbps"), "16Mbps", "Rate of the bucket."),
        Parameter(
            "burst",
            "time",
            ("10ms", "30ms", "200ms"),
            "30ms",
            "Size of the bucket: what its rate fills in this time, at least two packets.",
        ),
    )

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import Bottleneck, DumbbellFlow, dumbbell

        bits = _native.parse_rate(setup["rate"]) * _native.parse_time(setup["burst"]) / 1e9
        bucket = {"Rate": setup["rate"], "Burst": max(3000, round(bits / 8))}
        return dumbbell(
            Bottleneck(LINK, "250p", qdisc="PolicerQueueDisc", qdisc_attributes=bucket),
            [DumbbellFlow(setup.cc, RTT, recovery=setup.recovery)],
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
        )
