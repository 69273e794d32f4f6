"""The testbed of the paper on ECN#: seven senders to one receiver, round trips that vary."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.experiments.catalogue.datacentre import schemes
from ccperf.experiments.catalogue.datacentre.experiment import (
    RATE,
    SEGMENT,
    SIZES,
    DataCentreExperiment,
    in_proportion,
    kept_open,
    stack,
)

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

SENDERS, LIMIT = 7, "600p"
BASE_RTT_US = 70
#: One way, of each of the two links: four times that is the shortest round trip.
LINK_DELAY = "17.5us"
#: How much of the variation flows have on top: long-tailed, (share of the variation, probability).
#: With a variation of 3 the base RTTs are 70 to 210 us, 102 us on average, 200 us at the 90th
#: percentile; the paper gives the range, the percentile and the thresholds, not the distribution.
TAIL = ((0.0, 0.0), (10 / 140, 0.5), (40 / 140, 0.8), (130 / 140, 0.9), (1.0, 1.0))
_P90 = 130 / 140
_MEAN = sum((b - a) * (x + y) / 2 for (x, a), (y, b) in itertools.pairwise(TAIL))
#: Mean sizes in bytes, and how long after the last arrivals the last flows take, in s.
_MEAN_BYTES = {"web_search": 1_711_250.0, "data_mining": 12_658_198.6}
_SLACK = {"web_search": 0.3, "data_mining": 3.0}


def thresholds(variation: float, rate: str = RATE) -> schemes.Thresholds:
    """The paper's thresholds at a variation of 3, and in proportion to the base RTTs at others.

    At 3: 200 us (250 kB) for the tail, 64 us (80 kB) for the average; ECN# 200, 85 and 200 us,
    CoDel 85 and 200 us.
    """
    spread = BASE_RTT_US * (variation - 1)
    tail = BASE_RTT_US + _P90 * spread
    mean = (BASE_RTT_US + _MEAN * spread) / (BASE_RTT_US + _MEAN * 2 * BASE_RTT_US)
    return schemes.Thresholds(
        rate=rate,
        limit=in_proportion(LIMIT, rate),
        tail=_microseconds(tail),
        average=_microseconds(64 * mean),
        target=_microseconds(85 * mean),
        interval=_microseconds(tail),
        codel_target=_microseconds(85 * mean),
        codel_interval=_microseconds(tail),
    )


class ManyToOneExperiment(DataCentreExperiment):
    """An experiment on the testbed: a run ends when its flows have."""

    seeded = "when flows begin, their ends, sizes and base RTTs"
    stop_time = "200s"

    def length(self, setup: Setup) -> str:
        """Until the last flows have ended, but at most the stop time."""
        return _native.format_time(_length_ns(setup))


def build(
    setup: Setup, label: str, variation: float, at: schemes.Thresholds | None = None
) -> Scenario:
    """Flows of a workload at a load of the receiver's link, in the number that is asked for."""
    from ccperf.experiments.topologies import FabricLink, SwitchPort, fair_host_port, star

    fabric = star(
        SENDERS + 1,
        FabricLink(setup["rate"], LINK_DELAY),
        port=SwitchPort(schemes.discipline(setup.cc, at or thresholds(variation, setup["rate"]))),
        host_port=fair_host_port(),
    )
    *senders, receiver = fabric.hosts
    bottleneck = {**fabric.links[-1], "name": "bottleneck"}
    spread = BASE_RTT_US * (variation - 1)
    length = _length_ns(setup)
    flows: dict[str, Any] = {
        "name": "flow",
        "stack": "dc",
        "sources": senders,
        "destinations": [receiver],
        "write": f"{SEGMENT}B",
        "added_delay": {
            "type": "Cdf",
            "points": [(_microseconds(share * spread), p) for share, p in TAIL],
        },
        **kept_open(setup),
        "sizes": SIZES[setup["workload"]],
        "arrivals": {
            "type": "Poisson",
            "load": setup["load"],
            "capacity": setup["rate"],
            "count": setup["flows"],
        },
    }
    return replace(fabric, links=(*fabric.links[:-1], bottleneck)).scenario(
        [],
        stop_time=_native.format_time(length),
        seed=setup.seed,
        label=label,
        stacks=[stack(setup)],
        workloads=[flows],
        recording={
            "interval": f"{max(100, length // 2_000_000)}us",
            "flows": "none",
            "links": ["bottleneck_reverse"],
        },
    )


def _length_ns(setup: Setup) -> int:
    workload = setup["workload"]
    rate = _native.parse_rate(setup["rate"]) * setup["load"] / (8 * _MEAN_BYTES[workload])
    seconds: float = 1.1 * setup["flows"] / rate + _SLACK[workload]
    return min(round(seconds * 1e9), _native.parse_time(setup.stop_time))


def _microseconds(value: float) -> str:
    return f"{round(1000 * value)}ns"
