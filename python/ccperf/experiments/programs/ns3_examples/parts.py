"""What ns-3's helpers make of a program's words: links, queues, sockets, random streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.errors import UsageError

if TYPE_CHECKING:
    from ccperf.experiments.programs.program import Defaults

#: The first port that ns-3 gives to a socket that asks for none.
FIRST_PORT = 49153
SECOND = 1_000_000_000
#: The type of service of expedited forwarding (RFC 3246).
EXPEDITED_FORWARDING = 0xB8
#: Data in the largest packet of IP beside the headers of IP and TCP and the timestamps.
MOST_DATA = 65_483

_STREAMS_OF_A_STACK = 9


class AutomaticStreams:
    """The random variables that ns-3 numbers by itself, in the order of their creation.

    `InternetStackHelper` creates nine for each node, whatever they are used for.
    """

    def __init__(self, nodes: int) -> None:
        self._made = _STREAMS_OF_A_STACK * nodes

    def next(self) -> int:
        """The stream of one more variable, as a scenario writes it."""
        return self.skip(1)

    def skip(self, variables: int) -> int:
        """Several more; the stream of the last one, to which nothing may belong."""
        self._made += variables
        return -self._made


def begins(option: str, start: int, end: int) -> bool:
    """Whether a flow that stops 1 s before the run's end begins in it; times are ns.

    Raises :class:`UsageError` where it would stop before it begins, which ns-3 takes for never.
    """
    if end - SECOND <= start < end:
        raise UsageError(
            option, f"flows stop 1 s before it, and one starts at {start // SECOND} s; change it"
        )
    return start < end


def direction(qdisc: dict[str, Any], device_queue: str = "100p", **own: Any) -> dict[str, Any]:
    """One direction of a link; the device's queue is that of `PointToPointHelper`."""
    return {"qdisc": qdisc, "device_queue": device_queue, **own}


def usual_queue(defaults: Defaults, device_queue: str = "100p") -> dict[str, Any]:
    """What `Ipv4AddressHelper` puts on a device without a discipline."""
    return direction(defaults.qdisc("FqCoDelQueueDisc"), device_queue)


def link(
    name: str,
    ends: tuple[str, str],
    network: str,
    rate: str,
    delay: str,
    forward: dict[str, Any],
    reverse: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """A point-to-point link with the first two addresses of a network, "10.1.1"."""
    return {
        "name": name,
        "ends": ends,
        "rate": rate,
        "delay": delay,
        "addresses": (f"{network}.1", f"{network}.2"),
        "forward": forward,
        "reverse": forward if reverse is None else reverse,
    }


def usual_socket(defaults: Defaults, **tcp: Any) -> dict[str, Any]:
    """What a flow has of a TCP socket of which a program says no more than these attributes."""
    return {
        "cc": defaults.cc("TcpCubic"),
        "recovery": "TcpPrrRecovery",
        "tcp": defaults.tcp(**tcp),
    }


def on_off(rate: str, packet_bytes: int, off_time: str = "0s") -> dict[str, Any]:
    """An `OnOffApplication` that is on for a second at a time."""
    return {
        "type": "OnOff",
        "rate": rate,
        "write": f"{packet_bytes}B",
        "on_time": "1s",
        "off_time": off_time,
    }
