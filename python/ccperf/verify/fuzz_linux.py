"""Random dumbbells that both the engine's profile `linux` and the kernel can be told.

They are those of `fuzz`, in which TCP is what Linux has: its congestion controls, but those that
draw numbers, PRR, SACK, the ACKs of tcp_input.c, and sizes that leave no host without memory.

One kernel stands for all hosts. What several of them do at one nanosecond, as their timers end on
one tick, has an order there that the engine's hosts cannot know. So each flow starts at a time of
its own, and each host's link has a length of its own: what two hosts send at once comes to a router
one after the other.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from itertools import count, repeat
from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.scenario import profiles
from ccperf.verify import fuzz
from ccperf.verify.draw import now_and_then
from ccperf.verify.shrinking import valid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ccperf.scenario import Scenario
    from ccperf.verify.fuzz import Draw

#: Linux's congestion controls that draw no numbers.
CONTROLS = (
    "TcpCubic", "TcpLinuxReno", "TcpDctcp", "TcpVegas", "TcpVeno", "TcpYeah", "TcpHtcp", "TcpBic",
    "TcpHighSpeed", "TcpScalable", "TcpHybla", "TcpIllinois", "TcpWestwoodPlus",
)  # fmt: skip
#: What a flow has whose algorithm does not matter. `fuzz` says NewReno, which is not Linux's Reno.
_PLAIN = "TcpLinuxReno"
#: Attributes of sockets that `fuzz` draws, and both sides have.
_SETTINGS = ("UseEcn", "Timestamp", "WindowScaling")
#: What is drawn anew here, or taken in part.
_OF_SOCKETS = ("mss", "buffer", "delayed_ack_count", "tcp")
#: What ends a connection before its data does, which Linux has no time for.
_ENDS = ("stops", "receiver_stops")
_LEAST_SEGMENT, _MOST_SEGMENT = 536, 1460
#: Timestamps, padded, which an MTU of 1500 bytes has to hold, too.
_OPTIONS = 12
#: Of both sides' buffers, in bytes. Smaller ones hold few segments, and little would be compared.
_BUFFERS = (131_072, 262_144, 1_000_000, 4_000_000, 4_000_000, 16_000_000)
#: Samples of a run, and the time between them at least.
_SAMPLES, _LEAST_INTERVAL_NS = 200, 100_000
#: How far apart flows start, and how much longer each host's link is than the last one's: not so
#: much that it is a segment's time on such a link.
_APART_NS, _WAY_NS = 1_731_171, 137


@dataclass(frozen=True)
class LinuxDraw:
    """A random dumbbell with the TCP of the profile `linux`."""

    drawn: Draw

    def scenario(self, label: str = "") -> Scenario:
        """Return the scenario, for both sides."""
        return profiles.with_tcp(_sampled(_on_own_ways(self.drawn.scenario(label))), "linux")

    def smaller(self) -> Iterator[LinuxDraw]:
        """Yield those that are one step smaller, as far as no two flows start at once."""
        for smaller in map(_with_controls, self.drawn.smaller()):
            if smaller != self.drawn and _start_apart(smaller):
                yield LinuxDraw(smaller)


def draws(seed: int) -> Iterator[LinuxDraw]:
    """Yield random dumbbells without end; the same ones for the same seed."""
    return (draw(seed, number) for number in count())


def draw(seed: int, number: int) -> LinuxDraw:
    """Return one of them: each has a stream of its own, so that it does not depend on others."""
    rng = random.Random(f"{seed}/{number}/linux")
    drawn = (LinuxDraw(_restricted(fuzz.draw(each), each)) for each in repeat(rng))
    return next(one for one in drawn if _start_apart(one.drawn) and valid(one))


def _restricted(drawn: Draw, rng: random.Random) -> Draw:
    """The draw with sockets that the kernel can be told."""
    path = {name: value for name, value in drawn.path.items() if name not in _OF_SOCKETS}
    for way in ("forward", "reverse"):
        if way in path:
            # Segments that routers cut are none of the kernel's.
            path[way] = {name: value for name, value in path[way].items() if name != "mtu"}
    path |= _socket(rng, drawn.path.get("tcp", {}))
    first = rng.choice(CONTROLS)
    flows = []
    for number, flow in enumerate(drawn.flows):
        if flow.get("transports") == "UDP":
            flows.append(flow)
            continue
        kept = {name: value for name, value in flow.items() if name not in _ENDS}
        cc = rng.choice(CONTROLS) if now_and_then(rng) else first
        start_ns = _native.parse_time(flow.get("starts", "0s"))
        if number:
            start_ns += number * _APART_NS + rng.randrange(1_000_000)
        own = {"starts": f"{start_ns}ns", "cc": cc, "recovery": "TcpPrrRecovery"}
        flows.append({**kept, **own})
    return replace(drawn, path=path, flows=tuple(flows))


def _socket(rng: random.Random, tcp: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    kept = {name: value for name, value in tcp.items() if name in _SETTINGS}
    most = _MOST_SEGMENT - (_OPTIONS if kept.get("Timestamp", "true") == "true" else 0)
    sizes = [_LEAST_SEGMENT, 1000, 1400, most, rng.randint(_LEAST_SEGMENT, most)]
    yield "mss", rng.choice(sizes) if now_and_then(rng, 0.3) else 1448
    yield "delayed_ack_count", 1 if now_and_then(rng, 0.25) else 2
    yield "buffer", rng.choice(_BUFFERS)
    if kept:
        yield "tcp", kept


def _on_own_ways(scenario: Scenario) -> Scenario:
    """The scenario with another length of each host's link."""
    hosts = {end for flow in scenario.flows for end in (flow.source, flow.destination)}
    links = [
        link.model_copy(update={"delay": _longer(link.delay, number * _WAY_NS)})
        if link.name in hosts
        else link
        for number, link in enumerate(scenario.links)
    ]
    return scenario.model_copy(update={"links": tuple(links)})


def _sampled(scenario: Scenario) -> Scenario:
    """The scenario with samples so often that they tell what senders were before a difference."""
    interval_ns = max(_LEAST_INTERVAL_NS, _native.parse_time(scenario.stop_time) // _SAMPLES)
    recording = {"interval": _native.format_time(interval_ns)}
    return scenario.model_copy(
        update={"recording": scenario.recording.model_copy(update=recording)}
    )


def _longer(delay: str, ns: int) -> str:
    return _native.format_time(_native.parse_time(delay) + ns)


def _with_controls(drawn: Draw) -> Draw:
    """The draw with an algorithm of Linux's where a flow has lost its own."""
    flows = tuple(flow if "cc" in flow else {**flow, "cc": _PLAIN} for flow in drawn.flows)
    return replace(drawn, flows=flows)


def _start_apart(drawn: Draw) -> bool:
    """Whether each flow over TCP starts at a time of its own."""
    starts = [
        _native.parse_time(flow.get("starts", "0s"))
        for flow in drawn.flows
        if flow.get("transports") != "UDP"
    ]
    return len(set(starts)) == len(starts)
