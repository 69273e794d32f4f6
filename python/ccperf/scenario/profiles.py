"""Ways to speak TCP by a name: what a scenario, a stack or a flow may start from.

A profile is a preset of fields, or a release of ns-3 (`ns3-3.48`): whose TCP it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ccperf.algorithms import releases
from ccperf.errors import ScenarioError, unknown

if TYPE_CHECKING:
    from ccperf.scenario.flows import Flow
    from ccperf.scenario.whole import Scenario
    from ccperf.scenario.workload import Stack

#: What releases of ns-3 take for loss recovery, if a scenario does not say.
RECOVERY = "TcpPrrRecovery"
#: Fields of a stack by the profile's name; attributes of `tcp` that a stack gives itself go before.
PROFILES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        # Sockets of the catalogue, with buffers that limit no path up to 10 Gbps and 10 ms: what a
        # scenario of one's own is best begun with.
        "catalogue": {
            "recovery": "PrrRfc6937",
            "tcp": {
                "SegmentSize": 1448,
                "InitialCwnd": 10,
                "DelAckCount": 1,
                "SndBufSize": 16_000_000,
                "RcvBufSize": 16_000_000,
            },
        },
        # The engine's TCP made of Linux's parts, with what a kernel boots with; buffers as in
        # "catalogue", since they are not autotuned.
        "linux": {
            "recovery": "TcpPrrRecovery",
            "tcp": {
                "Profile": "linux",
                "SegmentSize": 1448,
                "InitialCwnd": 10,
                "DelAckCount": 2,
                "MinRto": "200ms",
                "ConnTimeout": "1s",
                "SndBufSize": 16_000_000,
                "RcvBufSize": 16_000_000,
            },
        },
        # Hosts of a data centre: a round trip is a hundred microseconds.
        "datacentre": {
            "cc": "TcpDctcp",
            # With PRR, ns-3's default, the window falls below what DCTCP's law says.
            "recovery": "TcpClassicRecovery",
            "tcp": {
                "SegmentSize": 1448,
                "InitialCwnd": 10,
                "DelAckCount": 1,
                "ConnTimeout": "5ms",
                "MinRto": "5ms",
                "ClockGranularity": "100us",
                "SndBufSize": 16_000_000,
                "RcvBufSize": 16_000_000,
                "UseEcn": "On",
                "Sack": True,
            },
        },
        # What the simulator of ECN# says (its README and its programs): its congestion control
        # with ECT(1), NewReno's recovery without SACK, and an initial window of 10 of which it
        # lets two segments leave for each ACK, so that it sends 2, 4, 8, ... at first.
        "ns3-ecn-sharp": {
            "cc": {"type": "TcpDctcpReno", "attributes": {"UseEct0": "false"}},
            "recovery": "TcpClassicRecovery",
            "tcp": {
                "SegmentSize": 1400,
                "InitialCwnd": 2,
                "DelAckCount": 1,
                "ConnTimeout": "5ms",
                "ConnCount": 6,
                "DataRetries": 6,
                "MinRto": "5ms",
                "ClockGranularity": "100us",
                "SndBufSize": 160_000_000,
                "RcvBufSize": 160_000_000,
                "UseEcn": "On",
                "Sack": False,
            },
        },
    }
)

#: TCPs of another kind than ns-3's, which all flows of any scenario may be given: whose parts they
#: are made of, and the timeouts that go with them. Sizes stay the scenario's; loss recovery is the
#: profile's, if none is asked for.
TCPS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "linux": {
            name: PROFILES["linux"]["tcp"][name] for name in ("Profile", "MinRto", "ConnTimeout")
        }
    }
)

#: Those that say the congestion control, too, so that a stack needs nothing else.
WHOLE = tuple(name for name, fields in PROFILES.items() if "cc" in fields)


def tcp(name: str, **own: Any) -> dict[str, Any]:
    """The attributes of `tcp` of the profile `name`, but for those that are given."""
    return {**PROFILES[name]["tcp"], **own}


def names() -> list[str]:
    """Every profile that may be named."""
    return [*releases.releases(), *PROFILES]


def fields(name: str) -> Mapping[str, Any]:
    """The fields of a profile. Raises :class:`ValueError` with the nearest name."""
    if name in PROFILES:
        return PROFILES[name]
    try:
        return {"tcp": {releases.ATTRIBUTE: releases.resolve(name)}}
    except ValueError:
        raise ValueError(unknown("profile", name, names())) from None


def has_routers(name: str) -> bool:
    """Whether a profile is more than TCP's: a release of ns-3 after the one that needs no name."""
    return name not in PROFILES and fields(name) != fields(releases.default())


def resolve_tcp(name: str) -> str:
    """The name of a release of ns-3, or of one of `TCPS`.

    Raises :class:`ValueError` with the nearest name for one that is unknown.
    """
    if name in TCPS:
        return name
    try:
        return releases.resolve(name)
    except ValueError:
        raise ValueError(unknown("profile", name, [*releases.releases(), *TCPS])) from None


def applied(thing: Any, path: str) -> Any:
    """A stack or a flow as it is written, with its profile's fields where it has none of its own.

    Raises:
        ScenarioError: for a profile that there is not.
    """
    if not isinstance(thing, Mapping) or "profile" not in thing:
        return thing
    own = {name: value for name, value in thing.items() if name != "profile"}
    return over(own, str(thing["profile"]), f"{path}.profile")


def over(own: Mapping[str, Any], name: str, path: str) -> dict[str, Any]:
    """These fields over those of a profile.

    Raises:
        ScenarioError: for a profile that there is not, with the path of the field that names it.
    """
    try:
        profile = fields(name)
    except ValueError as error:
        raise ScenarioError([(path, str(error))]) from None
    tcp = own.get("tcp", {})
    if not isinstance(tcp, Mapping):
        return {**profile, **own}
    return {**profile, **own, "tcp": {**profile["tcp"], **tcp}}


def with_tcp(scenario: Scenario, name: str, recovery: str | None = None) -> Scenario:
    """The scenario as a release of ns-3, or one of `TCPS`, where it does not name another.

    `recovery` is the loss recovery that was asked for, in place of that of one of `TCPS`.
    """
    has_udp = has_routers(name)
    attributes = TCPS.get(name, {releases.ATTRIBUTE: name})

    def of(part: Flow | Stack) -> dict[str, Any]:
        changed: dict[str, Any] = {"tcp": {**attributes, **part.tcp}}
        if name in TCPS and part.cc and releases.ATTRIBUTE not in part.tcp:
            changed["recovery"] = recovery or PROFILES[name]["recovery"]
        return changed

    return scenario.model_copy(
        update={
            "flows": tuple(
                flow.model_copy(update=of(flow)) if flow.cc or has_udp else flow
                for flow in scenario.flows
            ),
            "stacks": tuple(stack.model_copy(update=of(stack)) for stack in scenario.stacks),
        }
    )


def named(scenario: Scenario) -> set[str]:
    """The releases, or other TCPs, of a scenario's flows and stacks."""
    settings = [flow.tcp for flow in scenario.flows if flow.cc]
    settings += [stack.tcp for stack in scenario.stacks]
    return {str(tcp.get(releases.ATTRIBUTE, releases.default())) for tcp in settings}
