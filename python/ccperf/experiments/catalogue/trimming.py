"""Switches that cut packets in place of dropping them, and what lets hosts send over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ccperf.algorithms import registry

if TYPE_CHECKING:
    from ccperf.experiments.topologies import SwitchPort

NDP = "ndp"
#: All of them, by their short names.
CONTROLS = tuple(str(control["linux"][0]) for control in registry.tables()["trimming"])
#: Headers of a packet on the wire.
HEADERS = 64
#: Of a round trip: where the switches of Ultra Ethernet begin to mark, and mark all.
MARK_LOW, MARK_HIGH = 0.2, 0.8


def port(control: str, round_trip: float) -> SwitchPort:
    """A switch's, of links that carry `round_trip` bytes in a round trip.

    NDP's is short and marks nothing; with a window the queue is a round trip, as the Ultra Ethernet
    consortium's simulator has it.
    """
    from ccperf.experiments.topologies import SwitchPort

    attributes: dict[str, Any] = {}
    if control != NDP:
        attributes = {
            "DataLimit": f"{round(round_trip)}B",
            "MarkLow": round(MARK_LOW * round_trip),
            "MarkHigh": round(MARK_HIGH * round_trip),
        }
    return SwitchPort({"type": "NdpQueueDisc", "attributes": attributes})


def sender(control: str, window: int) -> dict[str, Any]:
    """What lets a host send; `window`: NDP's first one, in packets."""
    attributes = {"InitialWindow": window} if control == NDP else {}
    return {"transport": "TRIMMING", "cc": {"type": control, "attributes": attributes}}
