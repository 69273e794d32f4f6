"""Ways to speak TCP by a name: what a stack of a scenario may start from."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ccperf.errors import ScenarioError, unknown

#: Fields of a stack by the profile's name; attributes of `tcp` that a stack gives itself go before.
PROFILES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
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


def tcp(name: str, **own: Any) -> dict[str, Any]:
    """The attributes of `tcp` of the profile `name`, but for those that are given."""
    return {**PROFILES[name]["tcp"], **own}


def applied(stack: Any, path: str) -> Any:
    """A stack as it is written, with its profile's fields where it has none of its own.

    Raises:
        ScenarioError: for a profile that there is not.
    """
    if not isinstance(stack, Mapping) or "profile" not in stack:
        return stack
    own = {name: value for name, value in stack.items() if name != "profile"}
    name = str(stack["profile"])
    if name not in PROFILES:
        raise ScenarioError([(f"{path}.profile", unknown("profile", name, PROFILES))])
    profile = PROFILES[name]
    tcp = own.get("tcp", {})
    if not isinstance(tcp, Mapping):
        return {**profile, **own}
    return {**profile, **own, "tcp": {**profile["tcp"], **tcp}}
