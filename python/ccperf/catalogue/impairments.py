"""What the experiments on links with an impairment have in common: one flow, the path, the link's
state as a schedule drawn from the seed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from ccperf import _native

if TYPE_CHECKING:
    from ccperf.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

RATE, RTT, QLEN = "16Mbps", "30ms", "40p"
#: What is left of the one-way delay for the bottleneck itself.
DELAY_NS = 13_000_000


def numbers(setup: Setup) -> random.Random:
    """Random numbers that depend on the seed only, not on who is under test."""
    return random.Random(f"{setup.seed}/link")


def length(setup: Setup) -> int:
    """Of the run, in ns."""
    return _native.parse_time(setup.stop_time)


def one_flow(setup: Setup, label: str, schedule: dict[str, Any]) -> Scenario:
    """A flow over 16 Mbps and 30 ms, with a buffer of one bandwidth-delay product."""
    from ccperf.topologies import Bottleneck, DumbbellFlow, dumbbell

    return dumbbell(
        Bottleneck(RATE, QLEN, schedules=[schedule] if schedule["times_ns"] else []),
        [DumbbellFlow(setup.cc, RTT, recovery=setup.recovery)],
        stop_time=setup.stop_time,
        seed=setup.seed,
        label=label,
    )
