"""The parking lot: bottlenecks in a row, one flow over all of them and one over each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ccperf import _native
from ccperf.base.wording import counted
from ccperf.errors import ScenarioError
from ccperf.experiments.bounds import few_enough
from ccperf.experiments.topologies.dumbbell import (
    SOCKET,
    Access,
    AnyAlgorithm,
    has_own_limit,
    time_ns,
)
from ccperf.scenario import Scenario

_ROOM = {"qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": "10000p"}}}


def parking_lot(
    *,
    rate: str,
    rtt: str,
    qlen: str | None,
    hops: int,
    cc: AnyAlgorithm,
    qdisc: str = "FifoQueueDisc",
    recovery: str = "TcpPrrRecovery",
    starts: Sequence[str] = (),
    stop_time: str = "15s",
    seed: int = 42,
    label: str = "",
    linux: Mapping[str, object] | None = None,
) -> Scenario:
    """A flow over `hops` bottlenecks in a row, and one over each of them, all with the same RTT.

    ``src_0 - r_0 - r_1 - ... - r_n - dst_0``; the link ``btl_i`` leads from ``r_(i-1)`` to ``r_i``,
    and ``src_i`` and ``dst_i`` stand at its ends. The first flow goes all the way, the others
    over one bottleneck; what their way lacks in delay, their access links have on top.

    Args:
        rate: of each bottleneck.
        rtt: two-way propagation delay of every flow.
        qlen: ``MaxSize`` of each bottleneck's `qdisc`, which stands over a device queue of one;
            None: the discipline's own.
        hops: how many bottlenecks.
        starts: when each flow starts; at once, if not given.
        linux: sysctls of all hosts, for the backend `linux`.

    Raises:
        ScenarioError: for no bottleneck, a `qdisc` that has a limit, too, a round trip that is too
            short, and another number of starts; mistakes of meaning otherwise come out when the
            scenario is lowered.
    """
    if hops < 1:
        raise ScenarioError([("hops", f"{hops} makes no network; at least 1")])
    has_own_limit(qdisc, qlen)
    few_enough("links", 3 * hops + 2, hops=hops)
    begin = list(starts) or ["0s"] * (hops + 1)
    if len(begin) != hops + 1:
        raise ScenarioError(
            [("starts", f"has {counted(len(begin), 'entry')} for {hops + 1} flows")]
        )
    access = Access()
    one_way, least = time_ns("rtt", rtt) // 2, _native.parse_time(access.delay)
    hop = (one_way - 2 * least) // hops
    if hop < 1:
        bottlenecks = counted(hops, "bottleneck")
        message = f"{rtt} is less than the access links and {bottlenecks} take; lengthen it"
        raise ScenarioError([("rtt", message)])
    #: The long flow's access links are the shortest ones, up to what does not divide by the hops.
    delays = [one_way - least - hops * hop, *[one_way - least - hop] * hops]
    links: list[dict[str, Any]] = [
        {
            "name": f"btl_{i}",
            "ends": (f"r_{i - 1}", f"r_{i}"),
            "rate": rate,
            "delay": _native.format_time(hop),
            "forward": {
                "qdisc": {"type": qdisc, "attributes": {} if qlen is None else {"MaxSize": qlen}},
                "device_queue": "1p",
            },
            "reverse": {**_ROOM, "device_queue": "1p"},
        }
        for i in range(1, hops + 1)
    ]
    for i, delay in enumerate(delays):
        first, last = (f"r_{i - 1}", f"r_{i}") if i else ("r_0", f"r_{hops}")
        for name, ends, time in (
            (f"src_{i}", (f"src_{i}", first), access.delay),
            (f"dst_{i}", (last, f"dst_{i}"), _native.format_time(delay)),
        ):
            link = {"name": name, "ends": ends, "rate": access.rate, "delay": time}
            links.append({**link, "forward": _ROOM, "reverse": _ROOM})
    flows = range(hops + 1)
    return Scenario.model_validate(
        {
            "label": label,
            "stop_time": stop_time,
            "seed": seed,
            "nodes": [
                *(f"src_{i}" for i in flows),
                *(f"dst_{i}" for i in flows),
                *(f"r_{i}" for i in flows),
            ],
            "links": links,
            "flows": [
                {
                    "source": f"src_{i}",
                    "destination": f"dst_{i}",
                    "start": start,
                    "stop": stop_time,
                    "cc": cc,
                    "recovery": recovery,
                    "tcp": SOCKET,
                }
                for i, start in enumerate(begin)
            ],
            "linux": linux or {},
        }
    )
