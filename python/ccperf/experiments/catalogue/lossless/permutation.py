"""Each host sends to one other host: what a fabric without oversubscription carries of that."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.experiments.catalogue import trimming
from ccperf.experiments.catalogue.answer import JAIN_OF_TOTALS, RETRANSMITTED, Answer
from ccperf.experiments.catalogue.lossless.experiment import (
    FAR,
    PFC,
    RATE,
    TRANSPORT,
    Lossless,
    far_flow,
    host_port,
    link,
    port,
)
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario


AUTO = "auto"
#: 9000 B and headers of any transport.
MTU = "9100B"


class Permutation(Lossless):
    name = "permutation"
    title = "A permutation over leaf and spine"
    description = (
        "Each host sends all the time to another one, and each gets from one, over a leaf-spine "
        "whose uplinks carry as much as its hosts: whoever uses all paths alike fills all links. "
        "After the permutation of NDP's paper. NDP and Ultra Ethernet spray their packets; flows "
        "of RoCE and TCP are hashed, and collide."
    )
    answer = Answer(("mean_goodput_l4", JAIN_OF_TOTALS, RETRANSMITTED), "transport")
    parameters = (
        Parameter("leaves", "count", (4,), 4, "Number of leaves, at least 2.", least=2),
        Parameter("servers", "count", (4,), 4, "Hosts of each leaf, and spines."),
        Parameter("packet", "size", ("9000B",), "9000B", "Payload of a packet, at most 9000 B."),
        Parameter(
            "routing",
            "routing",
            (AUTO,),
            AUTO,
            "How packets or flows choose their paths; auto: drb where switches cut packets, else "
            "ecmp.",
            words=(AUTO,),
        ),
        replace(TRANSPORT, grid=("dcqcn", trimming.NDP)),
        PFC,
        RATE,
    )
    draws_more = None
    draws_flows = True
    seeded = "who sends to whom, and all choices at random"
    stop_time = "10ms"

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import leaf_spine

        wire = link(setup)
        payload = _native.parse_size(setup["packet"])
        network = leaf_spine(
            setup["leaves"],
            setup["servers"],
            setup["servers"],
            host_link_of=wire,
            fabric_link_of=wire,
            port=port(setup, FAR, payload),
            host_port=host_port(),
        )
        network = replace(network, links=tuple(map(_jumbo, network.links)))
        hosts = list(network.hosts)
        random.Random(setup.seed).shuffle(hosts)
        # Around a ring in random order, so that nobody sends to itself.
        flows = [
            far_flow(setup, ends, payload)
            for ends in zip(hosts, [*hosts[1:], hosts[0]], strict=True)
        ]
        return self.scenario_over(
            network,
            setup,
            flows,
            sampled=[f"{hosts[0]}_reverse"],
            interval="1ms",
            routing={"type": _routing(setup)},
        )


def _routing(setup: Setup) -> str:
    if setup["routing"] != AUTO:
        return str(setup["routing"])
    return "drb" if setup["transport"] in trimming.CONTROLS else "ecmp"


def _jumbo(link: Mapping[str, Any]) -> dict[str, Any]:
    """With room for the largest packets."""
    ways = {way: {**link[way], "mtu": MTU} for way in ("forward", "reverse")}
    return {**link, **ways}
