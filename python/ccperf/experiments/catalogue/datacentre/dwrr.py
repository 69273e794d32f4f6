"""Marking inside the classes of a scheduler."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.experiments.bounds import MOST
from ccperf.experiments.catalogue.answer import FCT, FCT_P99, QUEUE, Answer
from ccperf.experiments.catalogue.datacentre import schemes
from ccperf.experiments.catalogue.datacentre.ecn_sharp_figures import DWRR
from ccperf.experiments.catalogue.datacentre.experiment import (
    RATE_OF_LINKS,
    SEGMENT,
    TRANSPORT,
    WINDOW,
    DataCentreExperiment,
    at_rate,
    stack,
)
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

LIMIT = "600p"
#: One way, of the senders' links and of the receiver's: base RTTs of 160 to 240 us.
DELAYS = ("30us", "30us", "40us", "70us", "30us", "50us")
QUANTA, LONG_STARTS = (3000, 1500, 1500), ("0s", "100ms", "200ms")
#: Bytes of a short flow, and from which senders they come in turn.
SHORT, SHORT_SENDERS = (3_000, 60_000), (2, 3)
THRESHOLDS = schemes.Thresholds(
    rate="10Gbps",
    limit=LIMIT,
    tail="150us",
    average="80us",
    target="10us",
    interval="200us",
    codel_target="10us",
    codel_interval="200us",
)


class Dwrr(DataCentreExperiment):
    name = "dwrr"
    title = "Shares of a scheduler"
    description = (
        "Three classes share 10 Gbps by deficit weighted round robin, 2:1:1, each with the scheme "
        "inside: figure 13 of the paper on ECN#. A long flow begins in each class, at 0, 0.1 and "
        "0.2 s; short flows of 3 to 60 kB come at random. A good scheme leaves the classes their "
        "shares and keeps short flows from waiting behind long ones."
    )
    answer = Answer((FCT, FCT_P99, QUEUE), "short", "time")
    printed = DWRR
    parameters = (
        Parameter("short", "count", (100,), 100, "Number of short flows.", most=MOST["flows"] - 3),
        WINDOW,
        RATE_OF_LINKS,
        TRANSPORT,
    )
    draws_more = True
    draws_flows = True
    seeded = "when short flows begin, their sizes and classes"
    stop_time = "400ms"

    def build(self, setup: Setup) -> Scenario:
        inner = schemes.discipline(setup.cc, at_rate(THRESHOLDS, setup["rate"]))
        quanta = {"Quanta": " ".join(map(str, QUANTA))}
        scheduler = {"type": "DwrrQueueDisc", "attributes": quanta, "children": [inner]}
        return build(setup, self.name, inner, scheduler)


def build(
    setup: Setup,
    label: str,
    inner: dict[str, Any],
    scheduler: dict[str, Any],
    long_bytes: int = 0,
    **own: Any,
) -> Scenario:
    """A scheduler before the receiver, `inner` before all others; `own`: of every stack.

    `long_bytes`: of the long flows, which are endless without.
    """
    from ccperf.experiments.topologies import FabricLink, SwitchPort, star

    # Senders mark as well, or a long flow that is alone overflows its own port.
    fabric = star(
        len(DELAYS), FabricLink(setup["rate"]), delays=DELAYS, host_port=SwitchPort(inner)
    )
    *senders, receiver = fabric.hosts
    port = SwitchPort(scheduler).direction()
    bottleneck = {**fabric.links[-1], "name": "bottleneck", "reverse": port}

    def flow(name: str, sender: int, of_class: int, start: str, size: int) -> dict[str, Any]:
        return {
            "name": name,
            "source": senders[sender],
            "destination": receiver,
            "start": start,
            "application": {"type": "Greedy", "bytes": f"{size}B", "write": f"{SEGMENT}B"},
            "group": name.partition("_")[0],
            "stack": f"class_{of_class}",
        }

    rng = random.Random(f"{setup.seed}/short")
    latest = _native.parse_time(setup.stop_time) * 9 // 10
    short = [
        flow(
            f"short_{n}",
            SHORT_SENDERS[n % 2],
            rng.randrange(len(QUANTA)),
            _native.format_time(rng.randrange(latest)),
            rng.randint(*SHORT),
        )
        for n in range(setup["short"])
    ]
    long = [flow(f"long_{i}", i, i, start, long_bytes) for i, start in enumerate(LONG_STARTS)]
    return replace(fabric, links=(*fabric.links[:-1], bottleneck)).scenario(
        [*long, *short],
        stop_time=setup.stop_time,
        seed=setup.seed,
        label=label,
        stacks=[
            {**stack(setup), "name": f"class_{i}", "dscp": i, **own} for i in range(len(QUANTA))
        ],
        recording={
            "interval": "20ms",
            "flows": [each["name"] for each in long],
            "links": ["bottleneck_reverse"],
            "completions": True,
        },
    )
