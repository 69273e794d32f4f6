"""What is sent in random scenarios, when, and over which transport."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, Any

from ccperf.verify.draw import now_and_then

if TYPE_CHECKING:
    import random

#: What a drawn path carries at most: six packet-hops each, data and ACK.
PACKETS = 8_000


def application(rng: random.Random) -> dict[str, Any]:
    """Draw what an application writes."""
    source: dict[str, Any] = {
        "type": rng.choice(["Greedy", "Greedy", "CBR", "Poisson", "OnOff"]),
        "write": f"{rng.choice([512, 1448, 4000])}B",
    }
    if source["type"] == "Greedy" or now_and_then(rng):
        source["bytes"] = f"{round(10 ** rng.uniform(0, 6))}B"
    if source["type"] == "Greedy" and now_and_then(rng, 0.3):
        source["eager"] = True
    if source["type"] != "Greedy":
        rate = round(10 ** rng.uniform(5, 7.5))
        source["rate"] = f"{rng.choice([rate, rate // 1_000_000 * 1_000_000 or rate])}bps"
    if source["type"] == "OnOff":
        source |= {"on_time": _length(rng), "off_time": _length(rng)}
    return source


def _length(rng: random.Random) -> str:
    time = f"{round(10 ** rng.uniform(3, 6))}us"
    return rng.choice([time, f"Exponential(mean={time})", f"Uniform(max={time})"])


def datagrams(rng: random.Random, flow: dict[str, Any], stop_ms: int) -> dict[str, Any]:
    """Make a flow over TCP one over UDP: with a rate, and datagrams that mostly fit the MTU."""
    source = application(rng)
    while source["type"] == "Greedy":
        source = application(rng)
    write = rng.choice([1, 512, 1472, 1472, 1473, 4000, 20_000])
    # Nothing holds it back: so many at most, however long the run is.
    count = round(10 ** rng.uniform(1, log10(PACKETS / 4)))
    rate = max(1000, count * write * 8_000 // stop_ms)
    source |= {"write": f"{write}B", "rate": f"{rate}bps"}
    kept = {name: value for name, value in flow.items() if name in _DATAGRAMS}
    if now_and_then(rng):
        # The receiver closes, or has never listened.
        kept["receiver_stops"] = rng.choice(["0s", f"{rng.randint(1, stop_ms)}ms"])
    return {**kept, "transports": "UDP", "cc": None, "applications": source}


#: What a flow over UDP has.
_DATAGRAMS = ("rtts", "starts", "stops", "tos", "dscps")


def start(rng: random.Random, stop_ms: int) -> str:
    """Draw a time in the first half: whole ms, where ties are, or any ns, also soon after 0."""
    start_ns = rng.randrange(stop_ms // 2 + 1) * 1_000_000
    if now_and_then(rng, 0.5):
        start_ns = round(10 ** rng.uniform(0, log10(stop_ms * 500_000)))
    return f"{start_ns}ns"


def ping(rng: random.Random, flow: int, room: int) -> dict[str, Any]:
    """Draw echo requests between the ends of a flow of a dumbbell, of `room` bytes at most."""
    ends = [f"src_{flow}", f"dst_{flow}"]
    rng.shuffle(ends)
    return {
        "source": ends[0],
        "destination": ends[1],
        "interval": f"{round(10 ** rng.uniform(3.5, 6))}us",
        "size": f"{min(rng.choice([16, 56, 500, 1472]), room)}B",
    }
