"""Words and units of tc(8), and the numbers that the kernel takes for them.

Times are `5ms`, and microseconds without a unit; rates are in bits (`10Mbit`); sizes are bytes,
with `kb` and `mb` for 1024 and 1024 x 1024, and `kbit` and `mbit` for an eighth of these; shares
are `2%`, RED's probability is `0.02`. What tc reads otherwise than it looks is refused.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z%]*)")
_TIMES = {"": 1e3, "s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0, "sec": 1e9, "msec": 1e6, "usec": 1e3}
_STEPS = ("", "k", "m", "g", "t")
_RATES = {"": 1.0} | {f"{step}bit": 1e3**i for i, step in enumerate(_STEPS)}
_RATES |= {f"{step}ibit": 1024.0**i for i, step in enumerate(_STEPS) if step}
_SIZES = {"": 1.0, "b": 1.0} | {
    f"{step}{unit}": size * 1024.0**i
    for i, step in enumerate(_STEPS[:4])
    if step
    for unit, size in (("", 1), ("b", 1), ("bit", 1 / 8))
}
_PACKETS = {"": 1, "p": 1, "packets": 1}
MOST = 2**32 - 1


def _scaled(text: str, units: Mapping[str, float], example: str) -> float:
    found = _NUMBER.fullmatch(text)
    if found is None or found[2].lower() not in units:
        raise ValueError(f"`{text}` is nothing that tc reads here: {example}")
    return float(found[1]) * units[found[2].lower()]


def _whole(value: float, text: str, most: int = MOST) -> int:
    if value != int(value) or value > most:
        raise ValueError(f"`{text}` is no whole number up to {most} of what the kernel counts")
    return int(value)


def ns(text: str) -> int:
    """Nanoseconds, with a unit: without one tc reads some of these times as ns, others as us."""
    units = {unit: length for unit, length in _TIMES.items() if unit}
    return _whole(round(_scaled(text, units, "5ms, with its unit"), 3), text, 2**63 - 1)


def us(text: str) -> int:
    """Microseconds."""
    return _whole(round(_scaled(text, _TIMES, "5ms") / 1e3, 6), text)


def rate(text: str) -> int:
    """Bytes per second."""
    example = "10Mbit (Mbps are megabytes to tc, and left out here)"
    return _whole(_scaled(text, _RATES, example) / 8, text, 2**63 - 1)


def size(text: str) -> int:
    """Bytes."""
    return _whole(_scaled(text, _SIZES, "a number of bytes, or 10kb"), text)


def packets(text: str) -> int:
    """A number of packets."""
    return _whole(_scaled(text, _PACKETS, "a number of packets, 1000"), text)


def number(text: str) -> int:
    """A number of anything."""
    return _whole(_scaled(text, {"": 1}, "a whole number"), text)


def real(text: str) -> float:
    """Any number that is not negative."""
    return _scaled(text, {"": 1.0}, "a number")


def share(text: str) -> float:
    """From 0 to 1, in per cent: tc reads `0.02` as 0.02 %."""
    found = _scaled(text, {"%": 0.01}, "2%, with the sign")
    if found > 1:
        raise ValueError(f"`{text}` is more than all: 100% is the most")
    return found


def probability(text: str) -> float:
    """From 0 to 1, as a fraction: tc reads `2%` as 2."""
    found = _scaled(text, {"": 1.0}, "0.02, without a sign")
    if found > 1:
        raise ValueError(f"`{text}` is more than certain: 1 is the most")
    return found


def flag(text: str) -> int:
    """A word that stands alone."""
    if text != "true":
        raise ValueError(f"`{text}`: this word has no value: leave it, or take it out")
    return 1


def attribute(kind: int, value: bytes) -> bytes:
    """Length, type and value, padded to a multiple of four: netlink(7)."""
    return struct.pack("=HH", len(value) + 4, kind) + value + bytes(-len(value) % 4)


def u8(kind: int, value: int) -> bytes:
    if value > 255:
        raise ValueError(f"{value} is above 255, the most that the kernel takes")
    return attribute(kind, struct.pack("=B", value))


def u32(kind: int, value: int) -> bytes:
    if value > MOST:
        raise ValueError(f"{value} is above {MOST}, the most that the kernel takes")
    return attribute(kind, struct.pack("=I", value))


def u64(kind: int, value: int) -> bytes:
    return attribute(kind, struct.pack("=Q", value))


#: Bytes of netlink for the text of a value.
Word = Callable[[str], bytes]


def word(kind: int, read: Callable[[str], int], width: Callable[[int, int], bytes] = u32) -> Word:
    """A word whose value is a number of the kernel's."""
    return lambda text: width(kind, read(text))


def alone(kind: int, value: int, width: Callable[[int, int], bytes] = u32) -> Word:
    """A word without a value that stands for one."""
    return lambda text: width(kind, value * flag(text))
