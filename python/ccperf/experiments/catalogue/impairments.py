"""What the experiments on links with an impairment have in common: one flow, and the path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

RATE, RTT, QLEN = "16Mbps", "30ms", "40p"


def one_flow(setup: Setup, label: str, **forward: Any) -> Scenario:
    """A flow over 16 Mbps and 30 ms, with a buffer of one bandwidth-delay product.

    `forward` has what the bottleneck does to packets on their way there.
    """
    from ccperf.experiments.topologies import Bottleneck, DumbbellFlow, dumbbell

    return dumbbell(
        Bottleneck(RATE, QLEN, forward=forward),
        [DumbbellFlow(setup.cc, RTT, recovery=setup.recovery)],
        stop_time=setup.stop_time,
        seed=setup.seed,
        label=label,
    )
