"""A dumbbell in one line of settings, for those who write hundreds of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ccperf.base.wording import counted
from ccperf.errors import ScenarioError, UsageError, unknown
from ccperf.experiments.topologies.dumbbell import (
    Access,
    Bottleneck,
    DumbbellFlow,
    has_own_limit,
)
from ccperf.experiments.topologies.dumbbell import dumbbell as built_of

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

#: What may differ between flows, and the field of a flow that it sets.
_FLOW = {
    "cc": "cc",
    "rtts": "rtt",
    "recovery": "recovery",
    "starts": "start",
    "stops": "stop",
    "receiver_stops": "receiver_stop",
    "applications": "application",
    "transports": "transport",
    "tos": "tos",
    "return_tos": "return_tos",
    "dscps": "dscp",
    "return_dscps": "return_dscp",
    "sources": "source",
    "destinations": "destination",
}
#: Attributes of all sockets.
_SOCKET = {
    "mss": ("SegmentSize",),
    "initial_cwnd": ("InitialCwnd",),
    "delayed_ack_count": ("DelAckCount",),
    "buffer": ("SndBufSize", "RcvBufSize"),
}
_ACCESS = {f"access_{name}": name for name in Access._fields}
_BOTTLENECK = [field.name for field in fields(Bottleneck)]
#: Fields of the scenario that are no part of its network.
SCENARIO = ("stop_time", "seed", "label", "changes", "pings", "linux", "recording")


def dumbbell(
    *, flows: int | None = None, tcp: Mapping[str, Any] | None = None, **settings: Any
) -> Scenario:
    """A dumbbell of settings without their parts: ``dumbbell(rate="16Mbps", qlen="20p",
    rtts=["15ms", "30ms"], cc="cubic", access_delay="250us", mss=536)``.

    One value holds for all flows, a sequence has one for each; there are as many flows as the
    sequences are long, or `flows`. `tcp` has further attributes of all sockets.

    Raises:
        ScenarioError: for sequences of unequal length, and as
            :func:`ccperf.experiments.topologies.dumbbell` does.
        UsageError: for a setting that there is not.
    """
    known = [*_BOTTLENECK, *_FLOW, *_ACCESS, *_SOCKET, *SCENARIO]
    for name in settings:
        if name not in known:
            raise UsageError(name, unknown("setting of a dumbbell", name, known))
    qdisc, of_qdisc = settings.get("qdisc", Bottleneck.qdisc), settings.get("qdisc_attributes")
    if has_own_limit(qdisc, settings.get("qlen"), of_qdisc):
        settings["qlen"] = None
    socket = {
        attribute: settings[name]
        for name, attributes in _SOCKET.items()
        if name in settings
        for attribute in attributes
    }
    return built_of(
        Bottleneck(**_chosen(settings, {name: name for name in _BOTTLENECK})),
        [_flow(flow, {**socket, **(tcp or {})}) for flow in _each(_chosen(settings, _FLOW), flows)],
        Access(**_chosen(settings, _ACCESS)),
        **_chosen(settings, {name: name for name in SCENARIO}),
    )


def _flow(fields: dict[str, Any], tcp: Mapping[str, Any]) -> DumbbellFlow:
    """What holds for all flows of a dumbbell and is TCP's holds for those over TCP."""
    if fields.get("transport") != "UDP":
        return DumbbellFlow(**fields, tcp=tcp)
    return DumbbellFlow(**{**fields, "cc": None})


def _chosen(settings: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {field: settings[name] for name, field in names.items() if name in settings}


def _each(values: Mapping[str, Any], flows: int | None) -> list[dict[str, Any]]:
    """The fields of each flow."""
    names = {field: name for name, field in _FLOW.items()}
    sequences = {
        field: value
        for field, value in values.items()
        if isinstance(value, Sequence) and not isinstance(value, str)
    }
    count, given = (1, "") if flows is None else (flows, "flows")
    for field, entries in sequences.items():
        if not given:
            count, given = len(entries), names[field]
        elif len(entries) != count:
            message = (
                f"has {counted(len(entries), 'entry')} where {given} asks for {count}; "
                "give one per flow"
            )
            raise ScenarioError([(names[field], message)])
    return [
        {
            field: sequences[field][i] if field in sequences else value
            for field, value in values.items()
        }
        for i in range(count)
    ]
