"""Topologies that are tedious to write out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address
from typing import Any, TypeAlias

from ccperf import _native
from ccperf.errors import ScenarioError
from ccperf.scenario import Algorithm, Application, Change, Direction, Scenario

#: One value for all flows, or a sequence with one for each.
PerFlow: TypeAlias = str | Sequence[str]
AnyApplication: TypeAlias = str | Application | Mapping[str, Any]

LEFT, RIGHT, BOTTLENECK = "left", "right", "btl"

_SOURCE_NETWORKS = IPv4Address("10.0.0.0")
_DESTINATION_NETWORKS = IPv4Address("20.0.0.0")


def dumbbell(
    *,
    rate: str,
    rtts: PerFlow,
    qlen: str | None,
    cc: str | Algorithm | Sequence[str | Algorithm],
    flows: int | None = None,
    qdisc: str = "FifoQueueDisc",
    qdisc_attributes: Mapping[str, Any] | None = None,
    recovery: PerFlow = "TcpPrrRecovery",
    starts: PerFlow = "0s",
    stops: PerFlow | None = None,
    applications: AnyApplication | Sequence[AnyApplication] = "Greedy",
    tos: int | Sequence[int] = 0,
    return_tos: int | Sequence[int] = 0,
    sources: Sequence[str] | None = None,
    destinations: Sequence[str] | None = None,
    stop_time: str = "15s",
    seed: int = 42,
    label: str = "",
    loss: float = 0.0,
    drop: Sequence[int] = (),
    changes: Sequence[Change | Mapping[str, Any]] = (),
    device_queue: str = "1p",
    access_rate: str = "8Gbps",
    access_delay: str = "1ms",
    access_queue: str = "100000p",
    access_device_queue: str = "100p",
    forward: Mapping[str, Any] | None = None,
    reverse: Direction | Mapping[str, Any] | None = None,
    mss: int = 1448,
    initial_cwnd: int = 10,
    delayed_ack_count: int = 1,
    buffer: int = 4_000_000,
    tcp: Mapping[str, Any] | None = None,
    recording: Mapping[str, Any] | None = None,
) -> Scenario:
    """Sources and destinations on both sides of one bottleneck, as in the published experiments.

    ``src_i - left - right - dst_i``: the link ``btl`` from ``left`` to ``right``, and one named
    after each source and each destination; data travels forward on all of them. There are as many
    flows as the sequences are long, or ``flows``; one value in place of a sequence holds for all.

    The flow with the shortest round trip has ``access_delay`` on both its access links and the
    rest on the bottleneck; what another one has on top, the access link of its destination takes.
    Round trips are propagation only.

    Args:
        rate: of the bottleneck, in both directions unless ``reverse`` has its own.
        rtts: two-way propagation delays.
        qlen: ``MaxSize`` of the bottleneck's ``qdisc``, which stands over a device queue of
            ``device_queue``.
        cc: congestion control, by name or with attributes.
        stops: ``stop_time``, if not given.
        tos: type of service of the data, a multiple of 4.
        return_tos: of the acknowledgements.
        sources: names of the senders, which flows may share; ``src_0``, ... if not given.
        destinations: likewise; ``dst_0``, ...
        loss: random loss on the bottleneck's forward direction.
        drop: packets lost there by number.
        changes: of the bottleneck, if they name no other link.
        access_queue: of the FIFO on every access link, over ``access_device_queue``.
        forward: further fields of the bottleneck's forward direction, over those.
        reverse: the bottleneck's way back; a FIFO of 10,000 packets over a device queue of one, if
            not given.
        mss: segment size in bytes.
        initial_cwnd: in segments.
        delayed_ack_count: segments per ACK.
        buffer: send and receive buffer in bytes.
        tcp: further attributes of the sockets, over those.
        recording: ``interval`` of the samples, ``changes``.

    Raises:
        ScenarioError: for sequences of unequal length, and for round trips that are shorter than
            the access links; mistakes of meaning otherwise come out when the scenario is lowered.
    """
    values: dict[str, Any] = {
        "rtts": rtts,
        "cc": cc,
        "recovery": recovery,
        "starts": starts,
        "stops": stop_time if stops is None else stops,
        "applications": applications,
        "tos": tos,
        "return_tos": return_tos,
        "sources": sources,
        "destinations": destinations,
    }
    each = _per_flow({name: value for name, value in values.items() if value is not None}, flows)
    count = len(each["rtts"])
    senders = each.get("sources") or [f"src_{i}" for i in range(count)]
    receivers = each.get("destinations") or [f"dst_{i}" for i in range(count)]
    if both := set(senders) & set(receivers):
        message = f"`{min(both)}` is a source, too; name the two sides differently"
        raise ScenarioError([("destinations", message)])
    bottleneck_delay, receiver_delays = _delays(each["rtts"], receivers, access_delay)

    def fifo(limit: str, device_queue: str) -> dict[str, Any]:
        qdisc = {"type": "FifoQueueDisc", "attributes": {"MaxSize": limit}}
        return {"qdisc": qdisc, "device_queue": device_queue}

    access = fifo(access_queue, access_device_queue)
    links: list[dict[str, Any]] = [
        {
            "name": BOTTLENECK,
            "ends": (LEFT, RIGHT),
            "rate": rate,
            "delay": bottleneck_delay,
            "addresses": ("10.255.255.1", "10.255.255.2"),
            "forward": {
                "qdisc": {
                    "type": qdisc,
                    "attributes": {
                        **({} if qlen is None else {"MaxSize": qlen}),
                        **(qdisc_attributes or {}),
                    },
                },
                "device_queue": device_queue,
                "loss": loss,
                "drop": tuple(drop),
                **(forward or {}),
            },
            "reverse": fifo("10000p", "1p") if reverse is None else reverse,
        }
    ]
    # The end system has the first address of its network, the gateway the second.
    common = {"rate": access_rate, "forward": access, "reverse": access}
    networks = {
        **_networks(_SOURCE_NETWORKS, senders),
        **_networks(_DESTINATION_NETWORKS, receivers),
    }
    for i in range(count):
        for ends, delay in (
            ((senders[i], LEFT), access_delay),
            ((RIGHT, receivers[i]), receiver_delays[receivers[i]]),
        ):
            end = ends[0] if ends[1] == LEFT else ends[1]
            if network := networks.pop(end, None):
                hosts = (str(network + 1), str(network + 2))
                addresses = hosts if end == ends[0] else hosts[::-1]
                links.append(
                    {"name": end, "ends": ends, "delay": delay, "addresses": addresses, **common}
                )

    socket = {
        "SegmentSize": mss,
        "InitialCwnd": initial_cwnd,
        "DelAckCount": delayed_ack_count,
        "SndBufSize": buffer,
        "RcvBufSize": buffer,
        **(tcp or {}),
    }
    return Scenario.model_validate(
        {
            "label": label,
            "stop_time": stop_time,
            "seed": seed,
            "nodes": [*dict.fromkeys(senders), *dict.fromkeys(receivers), LEFT, RIGHT],
            "links": links,
            "changes": [
                change if isinstance(change, Change) else {"link": BOTTLENECK, **change}
                for change in changes
            ],
            "flows": [
                {
                    "source": senders[i],
                    "destination": receivers[i],
                    "start": each["starts"][i],
                    "stop": each["stops"][i],
                    "application": each["applications"][i],
                    "cc": each["cc"][i],
                    "recovery": each["recovery"][i],
                    "tos": each["tos"][i],
                    "return_tos": each["return_tos"][i],
                    "tcp": socket,
                }
                for i in range(count)
            ],
            "recording": recording or {},
        }
    )


def _per_flow(values: Mapping[str, Any], flows: int | None) -> dict[str, list[Any]]:
    """Each value as a list with one entry per flow."""
    lists = {
        name: list(value)
        for name, value in values.items()
        if isinstance(value, Sequence) and not isinstance(value, str)
    }
    count, given = (flows, "flows") if flows is not None else (1, "")
    for name, entries in lists.items():
        if not given:
            count, given = len(entries), name
        elif len(entries) != count:
            message = (
                f"has {len(entries)} entries where {given} asks for {count}; give one per flow"
            )
            raise ScenarioError([(name, message)])
    if count < 1:
        raise ScenarioError([(given, "asks for no flow; give at least one")])
    return {name: lists.get(name, [value] * count) for name, value in values.items()}


def _delays(
    rtts: Sequence[str], receivers: Sequence[str], access_delay: str
) -> tuple[str, dict[str, str]]:
    """The one-way delay of the bottleneck, and of each destination's access link."""
    access = _time("access_delay", access_delay)
    times = [_time(f"rtts[{i}]", rtt) for i, rtt in enumerate(rtts)]
    least = 4 * access
    for i, time in enumerate(times):
        if time < least:
            least_text = _native.format_time(least)
            message = f"{rtts[i]} is less than the {least_text} of the access links; lengthen it"
            raise ScenarioError([(f"rtts[{i}]", message)])
        if time % 2:
            message = f"{rtts[i]} does not split into two ways of whole ns; add 1ns"
            raise ScenarioError([(f"rtts[{i}]", message)])
    shortest = min(times)
    delays: dict[str, str] = {}
    for i, (time, receiver) in enumerate(zip(times, receivers, strict=True)):
        delay = _native.format_time(access + (time - shortest) // 2)
        if delays.setdefault(receiver, delay) != delay:
            message = f"{rtts[i]} is not the round trip of an earlier flow to `{receiver}`"
            raise ScenarioError([(f"rtts[{i}]", f"{message}; give each its own destination")])
    return _native.format_time(shortest // 2 - 2 * access), delays


def _time(field: str, text: str) -> int:
    try:
        return _native.parse_time(text)
    except (TypeError, ValueError) as error:
        raise ScenarioError([(field, str(error))]) from None


def _networks(first: IPv4Address, names: Sequence[str]) -> dict[str, IPv4Address]:
    """A /30 for each distinct name, in order."""
    return {name: first + 4 * i for i, name in enumerate(dict.fromkeys(names))}
