"""A sender that often has nothing to send."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.catalogue import shared
from ccperf.experiments.catalogue.answer import RETRANSMITTED, SRTT, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

RATE, RTT = "20Mbps", "40ms"
#: What the application writes while it is on: faster than the link.
WRITING = "30Mbps"


class ApplicationLimited(Experiment):
    name = "application_limited"
    title = "Application limited"
    group = "Applications"
    description = (
        "One flow whose application writes a chunk of video now and then and is silent in between: "
        "30 Mbps while it is on, over a link of 20 Mbps. A good algorithm does not take the pauses "
        "for a slow path, nor its last window for a licence to send a burst after them (RFC 7661)."
    )
    answer = Answer((SRTT, USED, RETRANSMITTED), "on")
    parameters = (
        Parameter("on", "time", ("200ms", "1s"), "1s", "How long it writes."),
        Parameter("off", "time", ("500ms", "2s"), "2s", "How long it is silent."),
    )

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import Bottleneck, DumbbellFlow, dumbbell

        source = {
            "type": "OnOff",
            "rate": WRITING,
            "write": "1448B",
            "on_time": setup["on"],
            "off_time": setup["off"],
        }
        return dumbbell(
            Bottleneck(RATE, shared.buffer(RATE, RTT)),
            [DumbbellFlow(setup.cc, RTT, recovery=setup.recovery, application=source)],
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
        )
