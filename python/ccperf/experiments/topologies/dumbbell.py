"""The dumbbell: sources and destinations on both sides of one bottleneck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import IPv4Address
from typing import Any, Literal, NamedTuple, TypeAlias

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.algorithms.user_code import names
from ccperf.errors import ScenarioError
from ccperf.experiments.bounds import few_enough
from ccperf.scenario import (
    Algorithm,
    Application,
    Change,
    Direction,
    Ping,
    Scenario,
    Schedule,
)

LEFT, RIGHT, BOTTLENECK = "left", "right", "btl"

#: Sockets as the published experiments have them: Linux's segments and initial window, an ACK for
#: every segment, buffers (in bytes) that never limit.
SOCKET: Mapping[str, Any] = {
    "SegmentSize": 1448,
    "InitialCwnd": 10,
    "DelAckCount": 1,
    "SndBufSize": 4_000_000,
    "RcvBufSize": 4_000_000,
}

_SOURCE_NETWORKS = IPv4Address("10.0.0.0")
_DESTINATION_NETWORKS = IPv4Address("20.0.0.0")

AnyAlgorithm: TypeAlias = str | Algorithm | Mapping[str, Any]
AnyDirection: TypeAlias = Direction | Mapping[str, Any]


@dataclass(frozen=True)
class Bottleneck:
    """The link that all flows share."""

    #: In both directions, unless `reverse` has its own.
    rate: str
    #: ``MaxSize`` of `qdisc`, which stands over a device queue of `device_queue`; None: its own.
    #: What the discipline's parameters say comes before it.
    qlen: str | None
    qdisc: str = "FifoQueueDisc"
    qdisc_attributes: Mapping[str, Any] = field(default_factory=dict)
    device_queue: str = "1p"
    #: Probability that a packet is lost on the way forward.
    loss: float = 0.0
    #: Packets lost there, by their number.
    drop: Sequence[int] = ()
    #: Further fields of the scenario's forward direction, over those.
    forward: Mapping[str, Any] = field(default_factory=dict)
    #: The way back; a FIFO of 10,000 packets over a device queue of one, if not given.
    reverse: AnyDirection | None = None
    #: New rates, delays and losses from given times on.
    schedules: Sequence[Schedule | Mapping[str, Any]] = ()


class Access(NamedTuple):
    """The links between the end systems and the bottleneck, all alike."""

    rate: str = "8Gbps"
    #: One way; the destination of a flow with a longer round trip has the rest on its link, too.
    delay: str = "1ms"
    #: Of the FIFO in both directions, over a device queue of `device_queue`.
    queue: str = "100000p"
    device_queue: str = "100p"


@dataclass(frozen=True)
class DumbbellFlow:
    """A flow from left to right; what is not explained here is as in the scenario's ``Flow``."""

    #: None over UDP.
    cc: AnyAlgorithm | None
    #: Two-way propagation delay.
    rtt: str
    recovery: str = "TcpPrrRecovery"
    start: str = "0s"
    #: The scenario's end, if not given.
    stop: str | None = None
    receiver_stop: str | None = None
    application: str | Application | Mapping[str, Any] = "Greedy"
    tos: int = 0
    return_tos: int = 0
    dscp: int = 0
    return_dscp: int = 0
    transport: Literal["TCP", "UDP"] = "TCP"
    #: Names of its ends, which flows may share; ``src_0`` and ``dst_0``, ... if not given.
    source: str | None = None
    destination: str | None = None
    group: str | None = None
    #: Attributes of its sockets, over those of `SOCKET`; none over UDP.
    tcp: Mapping[str, Any] = field(default_factory=dict)


def dumbbell(
    bottleneck: Bottleneck,
    flows: Sequence[DumbbellFlow],
    access: Access | None = None,
    *,
    stop_time: str = "15s",
    seed: int = 42,
    label: str = "",
    changes: Sequence[Change | Mapping[str, Any]] = (),
    pings: Sequence[Ping | Mapping[str, Any]] = (),
    linux: Mapping[str, object] | None = None,
    recording: Mapping[str, Any] | None = None,
) -> Scenario:
    """Sources and destinations on both sides of one bottleneck, as in the published experiments.

    ``src_i - left - right - dst_i``: the link ``btl`` from ``left`` to ``right``, and one named
    after each source and each destination; data travels forward on all of them.

    The flow with the shortest round trip has the access links' delay on both sides and the rest on
    the bottleneck; what another one has on top, the access link of its destination takes. Round
    trips are propagation only.

    Args:
        bottleneck: what all flows share.
        flows: at least one.
        access: the links at the ends; as in the published experiments, if not given.
        changes: of the bottleneck, if they name no other link.
        pings: beside the flows.
        linux: sysctls of all hosts, for the backend `linux`.
        recording: ``interval`` of the samples, ``changes``.

    Raises:
        ScenarioError: for ends of the same name on both sides, and for round trips that are shorter
            than the access links; mistakes of meaning otherwise come out when the scenario is
            lowered.
    """
    access = access or Access()
    if not flows:
        raise ScenarioError([("flows", "asks for no flow; give at least one")])
    senders = [flow.source or f"src_{i}" for i, flow in enumerate(flows)]
    receivers = [flow.destination or f"dst_{i}" for i, flow in enumerate(flows)]
    for i, name in enumerate(receivers):
        if name in senders:
            message = f"`{name}` is a source, too; name the two sides differently"
            raise ScenarioError([(f"flows[{i}].destination", message)])
    few_enough("links", len({*senders, *receivers}) + 1, flows=len(flows))
    bottleneck_delay, receiver_delays = _delays([f.rtt for f in flows], receivers, access.delay)
    ends = [
        end
        for sender, receiver in zip(senders, receivers, strict=True)
        for end in (
            (sender, (sender, LEFT), access.delay),
            (receiver, (RIGHT, receiver), receiver_delays[receiver]),
        )
    ]
    addresses = _addresses(senders, receivers)
    # One of each for all: a thousand flows have four thousand of these queues.
    queue = Direction.model_validate(_fifo(access.queue, access.device_queue))
    algorithms = {flow.cc: _named(flow.cc) for flow in flows if isinstance(flow.cc, str)}
    links = {
        name: {
            "name": name,
            "ends": nodes,
            "rate": access.rate,
            "delay": delay,
            "addresses": addresses[name],
            "forward": queue,
            "reverse": queue,
        }
        for name, nodes, delay in ends
    }
    return Scenario.model_validate(
        {
            "label": label,
            "stop_time": stop_time,
            "seed": seed,
            "nodes": [*dict.fromkeys(senders), *dict.fromkeys(receivers), LEFT, RIGHT],
            "links": [_bottleneck(bottleneck, bottleneck_delay), *links.values()],
            "changes": [
                change if isinstance(change, Change) else {"link": BOTTLENECK, **change}
                for change in changes
            ],
            "flows": [
                {
                    "source": source,
                    "destination": destination,
                    "start": flow.start,
                    "stop": stop_time if flow.stop is None else flow.stop,
                    "receiver_stop": flow.receiver_stop,
                    "application": flow.application,
                    "cc": algorithms[flow.cc] if isinstance(flow.cc, str) else flow.cc,
                    "recovery": flow.recovery,
                    "tos": flow.tos,
                    "return_tos": flow.return_tos,
                    "dscp": flow.dscp,
                    "return_dscp": flow.return_dscp,
                    "transport": flow.transport,
                    "group": flow.group,
                    "tcp": {**SOCKET, **flow.tcp} if flow.transport == "TCP" else flow.tcp,
                }
                for flow, source, destination in zip(flows, senders, receivers, strict=True)
            ],
            "pings": pings,
            "linux": linux or {},
            "recording": recording or {},
        }
    )


def _named(name: str) -> AnyAlgorithm:
    """A congestion control; one of a user's is left as a name, to be looked for."""
    is_own = names.is_user_code(names.declared("cc", name))
    return name if is_own else Algorithm(type=name)


def has_own_limit(
    qdisc: str, qlen: str | None, attributes: Mapping[str, Any] | None = None
) -> bool:
    """Whether a discipline's parameters have a limit, which then is the queue's only one.

    Raises:
        ScenarioError: names `qlen`, if that is given, too.
    """
    try:
        limit = registry.own_limit(qdisc, attributes)
    except (ValueError, TypeError, AttributeError):  # the scenario says what is wrong with it
        return False
    if qlen is not None and limit:
        message = f"`{qlen}`, and {qdisc} has a limit, too, {limit}; leave out the discipline's"
        raise ScenarioError([("qlen", message)])
    return limit is not None


def _limit(of: Bottleneck) -> dict[str, str]:
    if of.qlen is None:
        return {}
    name = names.declared("qdisc", of.qdisc)
    if not names.is_user_code(name):
        with suppress(ValueError):  # the scenario says what there is
            name = registry.resolve("qdisc", of.qdisc)
            if "MaxSize" not in registry.parameters("qdisc", name):
                message = f"{name} has no limit of its own, which the buffer sets; take another"
                raise ScenarioError([("links[0].forward.qdisc", message)])
    return {"MaxSize": of.qlen}


def _bottleneck(of: Bottleneck, delay: str) -> dict[str, Any]:
    return {
        "name": BOTTLENECK,
        "ends": (LEFT, RIGHT),
        "rate": of.rate,
        "delay": delay,
        "addresses": ("10.255.255.1", "10.255.255.2"),
        "forward": {
            "qdisc": {"type": of.qdisc, "attributes": {**_limit(of), **of.qdisc_attributes}},
            "device_queue": of.device_queue,
            "loss": of.loss,
            "drop": tuple(of.drop),
            **of.forward,
        },
        "reverse": _fifo("10000p", "1p") if of.reverse is None else of.reverse,
        "schedules": tuple(of.schedules),
    }


def _fifo(limit: str, device_queue: str) -> dict[str, Any]:
    qdisc = {"type": "FifoQueueDisc", "attributes": {"MaxSize": limit}}
    return {"qdisc": qdisc, "device_queue": device_queue}


def _addresses(senders: Sequence[str], receivers: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Of both ends of each access link: a /30 each, in which the end system has the first address,
    the gateway the second."""
    sources = {name: _hosts(_SOURCE_NETWORKS, i) for i, name in enumerate(dict.fromkeys(senders))}
    destinations = {
        name: _hosts(_DESTINATION_NETWORKS, i)[::-1]
        for i, name in enumerate(dict.fromkeys(receivers))
    }
    return {**sources, **destinations}


@lru_cache(maxsize=4096)  # each point of a campaign has the same
def _hosts(networks: IPv4Address, i: int) -> tuple[str, str]:
    """Both hosts of one of the /30."""
    network = networks + 4 * i
    return str(network + 1), str(network + 2)


def _delays(
    rtts: Sequence[str], receivers: Sequence[str], access_delay: str
) -> tuple[str, dict[str, str]]:
    """The one-way delay of the bottleneck, and of each destination's access link."""
    access = time_ns("access.delay", access_delay)
    times = [time_ns(f"flows[{i}].rtt", rtt) for i, rtt in enumerate(rtts)]
    least = 4 * access
    for i, time in enumerate(times):
        if time < least:
            least_text = _native.format_time(least)
            message = f"{rtts[i]} is less than the {least_text} of the access links; lengthen it"
            raise ScenarioError([(f"flows[{i}].rtt", message)])
        if time % 2:
            message = f"{rtts[i]} does not split into two ways of whole ns; add 1ns"
            raise ScenarioError([(f"flows[{i}].rtt", message)])
    shortest = min(times)
    delays: dict[str, str] = {}
    for i, (time, receiver) in enumerate(zip(times, receivers, strict=True)):
        delay = _native.format_time(access + (time - shortest) // 2)
        if delays.setdefault(receiver, delay) != delay:
            message = f"{rtts[i]} is not the round trip of an earlier flow to `{receiver}`"
            raise ScenarioError([(f"flows[{i}].rtt", f"{message}; give each its own destination")])
    return _native.format_time(shortest // 2 - 2 * access), delays


def time_ns(field: str, value: object) -> int:
    """A time of a setting, in ns; a number is taken as its text, which lacks a unit.

    Raises:
        ScenarioError: with the name of the field.
    """
    try:
        return _native.parse_time(str(value))
    except ValueError as error:
        raise ScenarioError([(field, str(error))]) from None
