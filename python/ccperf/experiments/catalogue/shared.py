"""What experiments of our own have in common: buffers in bandwidth-delay products, starts drawn
from the seed, flows that send all the time, and what is recorded where flows are many."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.experiments.topologies import DumbbellFlow

PACKET_BITS = 8 * 1500
#: Of so many flows samples are taken where they are more and nobody asks for all.
SAMPLED = 100
SAMPLES = Parameter(
    "samples",
    "word",
    ("some",),
    "some",
    f"Whose samples are recorded: the bottleneck's and those of {SAMPLED} flows at most (`some`), "
    "or those of every link and flow (`all`). What became of each flow is recorded in any case.",
    words=("some", "all"),
)


def buffer(rate: str, rtt: str, bdp: float = 1.0) -> str:
    """A queue of so many bandwidth-delay products, in packets of 1500 B, at least one."""
    bits = _native.parse_rate(rate) * _native.parse_time(rtt) / 1e9
    return f"{max(1, round(bdp * bits / PACKET_BITS))}p"


def starts(setup: Setup, count: int, spread: str) -> list[str]:
    """When flows start: drawn from the seed, evenly between 0 and the jitter,
    `spread` unless another is asked for, whoever is under test.

    Flows that start at once meet in the same nanosecond at every link, which nothing outside of a
    simulator does; so one round trip is enough to make seeds differ.
    """
    rng = random.Random(f"{setup.seed}/starts")
    latest = min(
        _native.parse_time(setup.jitter or spread), _native.parse_time(setup.stop_time) - 1
    )
    return [_native.format_time(rng.randint(0, latest)) for _ in range(count)]


def greedy(
    setup: Setup, algorithms: Sequence[str], rtts: Sequence[str], begin: Sequence[str]
) -> list[DumbbellFlow]:
    """A flow that sends all the time for each algorithm, from `begin` on."""
    from ccperf.experiments.topologies import DumbbellFlow

    return [
        DumbbellFlow(cc, rtt, recovery=setup.recovery, start=start)
        for cc, rtt, start in zip(algorithms, rtts, begin, strict=True)
    ]


def recording(setup: Setup, flows: int, bottleneck: str) -> dict[str, Any]:
    """What is recorded of so many flows, called ``flow_1`` and so on, as `SAMPLES` says.

    `bottleneck` is a direction of a link. Of more than `SAMPLED` flows those sampled are spread
    evenly over all.
    """
    always = {"completions": True}
    if setup["samples"] == "all":
        return always
    sampled = [f"flow_{1 + i * flows // SAMPLED}" for i in range(SAMPLED)]
    chosen = {"flows": sampled} if flows > SAMPLED else {}
    return {**always, "links": [bottleneck], **chosen}


SEEDED_STARTS = "when the flows start, within one round trip"
