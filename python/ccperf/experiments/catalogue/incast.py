"""Answers that come all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.bounds import MOST
from ccperf.experiments.catalogue import shared
from ccperf.experiments.catalogue.answer import FCT, FCT_P99, TIMEOUTS, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

#: How far apart the senders hear the question.
SPREAD = "20us"


class Incast(Experiment):
    name = "incast"
    title = "Incast"
    group = "Scale"
    description = (
        "n hosts of a rack answer a question at once, within 20 us, over 10 Gbps and a switch with "
        "250 packets for each port; the one who asked waits for the last answer. The first windows "
        "alone may overflow the port, and a timeout of a second is an eternity there. A good "
        "algorithm finishes them all in about the time that the bytes take (V. Vasudevan et al., "
        '"Safe and effective fine-grained TCP retransmissions for datacenter communication", '
        "SIGCOMM 2009). The metrics of classes have the completion times."
    )
    answer = Answer((FCT, FCT_P99, TIMEOUTS), "n")
    parameters = (
        Parameter(
            "n", "count", (8, 32, 128), 32, "Number of hosts that answer.", most=MOST["links"] - 1
        ),
        Parameter("size", "size", ("20kB", "200kB"), "20kB", "Bytes of each answer."),
        shared.SAMPLES,
    )
    draws_starts = True
    seeded = "when each host begins to answer, within 20 us"

    def starts(self, setup: Setup) -> list[str]:
        return shared.starts(setup, setup["n"], SPREAD)

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import FabricLink, SwitchPort, star
        from ccperf.experiments.topologies.dumbbell import SOCKET

        n = setup["n"]
        fabric = star(n + 1, FabricLink("10Gbps", "10us"), port=SwitchPort())
        asker, *answering = fabric.hosts
        flows = [
            {
                "source": host,
                "destination": asker,
                "start": start,
                "application": {"type": "Greedy", "bytes": setup["size"]},
                "cc": setup.cc,
                "recovery": setup.recovery,
                "tcp": SOCKET,
            }
            for host, start in zip(answering, self.starts(setup), strict=True)
        ]
        return fabric.scenario(
            flows,
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
            recording=shared.recording(setup, n, f"{asker}_reverse"),
        )
