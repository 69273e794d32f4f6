"""Queue disciplines of the kernel's, in the words and units of tc(8): ``linux:fq_codel``.

A scenario says `qdisc = "linux:fq_codel limit 1000 target 5ms ecn"`, or a table of the same words.
What is here makes of it the attributes that `tc` would send; what a word stands for is in the
manual of the discipline, tc-fq_codel(8).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.algorithms.user_code import names
from ccperf.errors import UsageError, unknown
from ccperf.runs.backends.linux import tc
from ccperf.runs.backends.linux.tc import alone, attribute, u8, u32, word

#: The device in front of which a discipline stands.
PORT = Path(__file__).with_name("ccperf_port.c")

#: Of a direction that does not say it.
_MTU = 1500
_ECN = {"ecn": 1, "noecn": 0}


def _cake_rtt(text: str) -> bytes:
    """As tc does: the target is a twentieth of it."""
    rtt = tc.us(text)
    return u32(7, rtt) + u32(8, max(1, rtt // 20))


def _dualpi2_step(text: str) -> bytes:
    """In packets or in time."""
    return u32(7, tc.packets(text)) if text.endswith("p") else u32(8, tc.us(text))


def _in_256ths(text: str) -> int:
    return round(tc.real(text) * 256)


def _percent(text: str) -> int:
    return round(tc.share(text) * 100)


def _log2(text: str) -> int:
    value = tc.number(text)
    if value & (value - 1) or not value:
        raise ValueError(f"`{text}` is no power of 2")
    return value.bit_length() - 1


#: Disciplines whose options are attributes, one for each word.
_WORDS: Mapping[str, Mapping[str, tc.Word]] = {
    "codel": {
        "target": word(1, tc.us),
        "limit": word(2, tc.packets),
        "interval": word(3, tc.us),
        **{name: alone(4, value) for name, value in _ECN.items()},
        "ce_threshold": word(5, tc.us),
    },
    "fq_codel": {
        "target": word(1, tc.us),
        "limit": word(2, tc.packets),
        "interval": word(3, tc.us),
        **{name: alone(4, value) for name, value in _ECN.items()},
        "flows": word(5, tc.number),
        "quantum": word(6, tc.size),
        "ce_threshold": word(7, tc.us),
        "drop_batch": word(8, tc.packets),
        "memory_limit": word(9, tc.size),
    },
    "pie": {
        "target": word(1, tc.us),
        "limit": word(2, tc.packets),
        "tupdate": word(3, tc.us),
        "alpha": word(4, tc.number),
        "beta": word(5, tc.number),
        **{name: alone(6, value) for name, value in _ECN.items()},
        "bytemode": alone(7, 1),
        "nobytemode": alone(7, 0),
        "dq_rate_estimator": alone(8, 1),
        "no_dq_rate_estimator": alone(8, 0),
    },
    "fq": {
        "limit": word(1, tc.packets),
        "flow_limit": word(2, tc.packets),
        "quantum": word(3, tc.size),
        "initial_quantum": word(4, tc.size),
        "pacing": alone(5, 1),
        "nopacing": alone(5, 0),
        "maxrate": word(7, tc.rate),
        "buckets": word(8, _log2),
        "refill_delay": word(9, tc.us),
        "low_rate_threshold": word(11, tc.rate),
        "ce_threshold": word(12, tc.us),
        "timer_slack": word(13, tc.ns),
        "horizon": word(14, tc.us),
        "horizon_drop": alone(15, 1, u8),
        "horizon_cap": alone(15, 0, u8),
    },
    "dualpi2": {
        "limit": word(1, tc.packets),
        "memlimit": word(2, tc.size),
        "target": word(3, tc.us),
        "tupdate": word(4, tc.us),
        "alpha": word(5, _in_256ths),
        "beta": word(6, _in_256ths),
        "step_thresh": _dualpi2_step,
        "min_qlen_step": word(9, tc.packets),
        "coupling_factor": word(10, tc.number, u8),
        "drop_on_overload": alone(11, 1, u8),
        "overflow": alone(11, 0, u8),
        "drop_enqueue": alone(12, 1, u8),
        "drop_dequeue": alone(12, 0, u8),
        "classic_protection": word(13, _percent, u8),
        "l4s_ect": alone(14, 1, u8),
        "any_ect": alone(14, 3, u8),
    },
    "cake": {
        "bandwidth": word(2, tc.rate, tc.u64),
        "unlimited": alone(2, 0, tc.u64),
        "diffserv3": alone(3, 0),
        "diffserv4": alone(3, 1),
        "diffserv8": alone(3, 2),
        "besteffort": alone(3, 3),
        "precedence": alone(3, 4),
        "flowblind": alone(5, 0),
        "srchost": alone(5, 1),
        "dsthost": alone(5, 2),
        "hosts": alone(5, 3),
        "flows": alone(5, 4),
        "dual-srchost": alone(5, 5),
        "dual-dsthost": alone(5, 6),
        "triple-isolate": alone(5, 7),
        "overhead": word(6, tc.number),
        "rtt": _cake_rtt,
        "memlimit": word(10, tc.size),
        "wash": alone(13, 1),
        "nowash": alone(13, 0),
        "mpu": word(14, tc.number),
        "ingress": alone(15, 1),
        "egress": alone(15, 0),
        "no-ack-filter": alone(16, 0),
        "ack-filter": alone(16, 1),
        "ack-filter-aggressive": alone(16, 2),
    },
    "hhf": {
        "limit": word(1, tc.packets),
        "quantum": word(2, tc.size),
        "hh_limit": word(3, tc.number),
        "reset_timeout": word(4, tc.us),
        "admit_bytes": word(5, tc.size),
        "evict_timeout": word(6, tc.us),
        "non_hh_weight": word(7, tc.number),
    },
    "pfifo": {"limit": lambda text: struct.pack("=I", tc.packets(text))},
    "pfifo_head_drop": {"limit": lambda text: struct.pack("=I", tc.packets(text))},
    "bfifo": {"limit": lambda text: struct.pack("=I", tc.size(text))},
    "pfifo_fast": {},
}

_Values = dict[str, Any]


def _sfq(given: _Values) -> bytes:
    """`struct tc_sfq_qopt_v1`; what is 0 stays as it is."""
    numbers = [given.get(name, 0) for name in ("quantum", "perturb", "limit", "divisor", "flows")]
    own = struct.pack("=IiIII", *numbers)
    own += struct.pack("=II", given.get("depth", 0), given.get("headdrop", 0))
    return own + bytes(12 + 4 + 4 + 24)


def _ratespec(rate: int) -> bytes:
    """`struct tc_ratespec` of a link layer without cells."""
    return struct.pack("=BBHhHI", 0, 1, 0, 0, 0, min(rate, tc.MOST))


def _tbf(given: _Values) -> bytes:
    for needed in ("rate", "burst"):
        if needed not in given:
            raise ValueError(f"it needs `{needed}`: rate 10Mbit burst 3000 latency 50ms")
    if ("limit" in given) == ("latency" in given):
        raise ValueError("it needs either `limit` or `latency`")
    rate, burst, peak = given["rate"], given["burst"], given.get("peakrate", 0)
    if peak and "mtu" not in given:
        raise ValueError("`peakrate` needs `mtu` as well: peakrate 20Mbit mtu 1540")
    limit = given.get("limit")
    if limit is None:
        limit = int(rate * given["latency"] / 1e9) + burst
        if peak:
            limit = min(limit, int(peak * given["latency"] / 1e9) + given["mtu"])
    parameters = _ratespec(rate) + _ratespec(peak) + struct.pack("=III", limit, 0, 0)
    options = attribute(1, parameters) + tc.u64(4, rate) + u32(6, burst)
    return options + (tc.u64(5, peak) + u32(7, given["mtu"]) if peak else b"")


def _red(given: _Values) -> bytes:
    """The weight from the burst, and a table of what idle times do to the average."""
    for needed in ("limit", "avpkt"):
        if needed not in given:
            raise ValueError(f"it needs `{needed}`: limit 400000 min 30000 max 90000 avpkt 1000")
    limit, mean = given["limit"], given["avpkt"]
    most = given.get("max") or (3 * given["min"] if given.get("min") else limit // 4)
    least = given.get("min") or most // 3
    if not 0 < least < most <= limit:
        raise ValueError(f"min {least}, max {most} and limit {limit} are not in this order")
    burst = given.get("burst") or (2 * least + most) // (3 * mean)
    weight = _red_weight(least, burst, mean)
    probability = given.get("probability", 0.02)
    cells, table = _red_idle(weight, mean, given.get("bandwidth", 10_000_000 // 8))
    flags = given.get("ecn", 0) | given.get("harddrop", 0) << 1 | given.get("adaptive", 0) << 2
    slope = next(i for i in range(64) if probability / (most - least) * 2**i > 1)
    if slope >= 32:
        raise ValueError(f"probability {probability} is too small for the kernel")
    parameters = struct.pack("=IIIBBBB", limit, least, most, weight, slope, cells, flags)
    high = u32(3, round(probability * tc.MOST))
    return attribute(1, parameters) + attribute(2, table) + high


def _red_weight(least: int, burst: int, mean: int) -> int:
    """The log of 1 / w with which `burst` packets may pass (Floyd and Jacobson, section 5)."""
    wanted = burst + 1 - least / mean
    for log in range(1, 32):
        weight = 2.0**-log
        if wanted >= 1 and wanted <= (1 - (1 - weight) ** burst) / weight:
            return log
    raise ValueError(f"burst {burst} is too small for min {least} and avpkt {mean}")


def _red_idle(weight: int, mean: int, rate: int) -> tuple[int, bytes]:
    """By how many bits the average shrinks in so many cells of idle time, and the log of a cell.

    As tc computes both: with a natural logarithm, and in ticks of 64 ns, where the kernel has
    powers of two and microseconds. So the average shrinks more slowly than RED's law says.
    """
    decay = -math.log(1 - 2.0**-weight) / (1e9 / 64 * mean / rate)
    log = next(log for log in range(64) if 31 / decay / 2**log < 512)
    return log, bytes(min(31, int((cell << log) * decay)) for cell in range(255)) + b"\x1f"


def _prio(given: _Values) -> bytes:
    """`struct tc_prio_qopt` with the map of priorities that Linux has."""
    return struct.pack("=i16B", given.get("bands", 3), *(1, 2, 2, 2, 1, 2, 0, 0), *([1] * 8))


def _share32(text: str) -> int:
    return round(tc.share(text) * tc.MOST)


def _parts(*reads: Callable[[str], Any]) -> Callable[[str], tuple[Any, ...]]:
    """Several values of one word, of which the last may be missing."""

    def read(text: str) -> tuple[Any, ...]:
        parts = text.split()
        if not 1 <= len(parts) <= len(reads):
            raise ValueError(f"`{text}`: that are {len(parts)} values for at most {len(reads)}")
        found = tuple(each(part) for each, part in zip(reads, parts, strict=False))
        return found + (0,) * (len(reads) - len(found))

    return read


def _netem(given: _Values) -> bytes:
    """`struct tc_netem_qopt`, and attributes behind it."""
    delay, jitter, delay_again = given.get("delay", (0, 0, 0))
    loss, loss_again = given.get("loss", (0, 0))
    reorder, reorder_again = given.get("reorder", (0, 0))
    gap = given.get("gap", 1 if reorder else 0)
    if reorder and not delay:
        raise ValueError("`reorder` needs a `delay` that some packets do not have")
    own = struct.pack("=IIIIII", 0, given.get("limit", 1000), loss, gap, 0, 0)
    own += tc.u64(10, delay) + tc.u64(11, jitter)
    own += attribute(1, struct.pack("=III", delay_again, loss_again, 0))
    if reorder:
        own += attribute(3, struct.pack("=II", reorder, reorder_again))
    if rate := given.get("rate", 0):
        own += attribute(6, struct.pack("=IiIi", min(rate, tc.MOST), 0, 0, 0)) + tc.u64(8, rate)
    if given.get("ecn"):
        own += u32(7, 1)
    return own


#: Disciplines whose options are computed of all words together: how each is read, and by whom.
_TOGETHER: Mapping[str, tuple[Callable[[_Values], bytes], Mapping[str, Callable[[str], Any]]]] = {
    "sfq": (
        _sfq,
        {
            "limit": tc.packets,
            "perturb": tc.number,
            "quantum": tc.size,
            "divisor": tc.number,
            "flows": tc.number,
            "depth": tc.packets,
            "headdrop": tc.flag,
        },
    ),
    "tbf": (
        _tbf,
        {
            "rate": tc.rate,
            "burst": tc.size,
            "limit": tc.size,
            "latency": tc.ns,
            "peakrate": tc.rate,
            "mtu": tc.size,
        },
    ),
    "red": (
        _red,
        {
            "limit": tc.size,
            "min": tc.size,
            "max": tc.size,
            "avpkt": tc.size,
            "burst": tc.packets,
            "bandwidth": tc.rate,
            "probability": tc.probability,
            "ecn": tc.flag,
            "harddrop": tc.flag,
            "adaptive": tc.flag,
        },
    ),
    "prio": (_prio, {"bands": tc.number}),
    "netem": (
        _netem,
        {
            "limit": tc.packets,
            "delay": _parts(tc.ns, tc.ns, _share32),
            "loss": _parts(_share32, _share32),
            "reorder": _parts(_share32, _share32),
            "gap": tc.number,
            "rate": tc.rate,
            "ecn": tc.flag,
        },
    ),
}

#: What tc can do and a link here cannot be told, by discipline and word.
_NOT_HERE = {
    ("netem", "duplicate"): "packets of the engine have one number each",
    ("netem", "corrupt"): "packets of the engine have no bits that could be wrong",
    ("netem", "distribution"): "jitter is uniform here",
    ("netem", "slot"): "it is not translated yet",
}

#: Those whose limit is in bytes, and those that have that of their device.
_IN_BYTES = ("bfifo", "red", "tbf")
_BY_DEVICE = ("pfifo_fast", "prio")
#: Packets of a device's queue where nothing else is said, as Linux has it.
_DEVICE_QUEUE = 1000
#: Memory of a packet of full size in the kernel (`skb->truesize`): 2 KiB, and what describes it.
_MEMORY = 2304
#: By name, all that can be used.
DISCIPLINES = tuple(sorted((*_WORDS, *_TOGETHER)))


def told(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the guest is told of the disciplines of a lowered scenario, in the order of links.

    Raises:
        UsageError: with the field that cannot be used, and its value.
    """
    found = []
    for link in scenario["links"]:
        for word_of_side, direction in zip(("forward", "reverse"), link["directions"], strict=True):
            root = direction.get("qdisc")
            if root is None or not names.is_of_kernel(root["type"]):
                continue
            path = f"{link['name']}.{word_of_side}.qdisc"
            if direction.get("device_queues", 1) > 1:
                raise UsageError(path, f"{root['type']} needs a device with one queue")
            if root.get("children"):
                raise UsageError(path, f"{root['type']} cannot have children here: leave them out")
            kind = kind_of(root["type"], path)
            mtu = direction.get("mtu_bytes", _MTU)
            given, queue = _with_limit(kind, root.get("attributes", {}), mtu, path)
            options = options_of(kind, given, path)
            found.append({"kind": kind, "options": [*options], "mtu": mtu, "queue": queue})
    return found


def _with_limit(
    kind: str, given: Mapping[str, str], mtu: int, path: str
) -> tuple[dict[str, str], int]:
    """The words of a discipline, with the limit that every backend calls `MaxSize` as one of them.

    Experiments set it, and a limit in tc's words counts more. It is in packets or bytes; packets
    have full size where Linux counts bytes. Beside them the packets of the device's queue, which
    is the limit of those that have none.
    """
    words, queue = dict(given), _DEVICE_QUEUE
    if (text := words.pop(registry.LIMIT, None)) is None or {*registry.LINUX_LIMITS} & {*words}:
        return words, queue
    try:
        amount, unit = _native.parse_queue_size(str(text))
    except ValueError as error:
        raise UsageError(f"{path}.{registry.LIMIT}", str(error)) from None
    if kind in _IN_BYTES:
        words["limit"] = str(amount if unit == "B" else amount * mtu)
    elif unit == "B":
        message = f"{text}: {kind} counts packets: give it in packets"
        raise UsageError(f"{path}.{registry.LIMIT}", message)
    elif kind in _BY_DEVICE:
        queue = amount
    elif kind == "cake":
        words["memlimit"] = str(amount * _MEMORY)
    else:
        words["limit"] = str(amount)
    return words, queue


def kind_of(name: str, path: str) -> str:
    """What tc calls a discipline. Raises :class:`UsageError` for one that is not known."""
    place, _, kind = names.split(name)
    if names.is_path(place):
        raise UsageError(path, f"{name} is a congestion control: a discipline is linux:fq_codel")
    if kind not in DISCIPLINES:
        raise UsageError(path, unknown("queue discipline of Linux", kind, DISCIPLINES))
    return kind


def options_of(kind: str, given: Mapping[str, str], path: str) -> bytes:
    """The netlink attributes of a discipline's options.

    Raises:
        UsageError: for a word that is not known, or a value that means nothing there.
    """
    compute, known = _TOGETHER[kind] if kind in _TOGETHER else (None, _WORDS[kind])
    values: dict[str, Any] = {}
    for name, text in given.items():
        if (reason := _NOT_HERE.get((kind, name))) is not None:
            raise UsageError(f"{path}.{name}", f"{text}: {reason}: leave it out")
        if name not in known:
            raise UsageError(f"{path}.{name}", unknown(f"word of {kind}", name, known))
        try:
            values[name] = known[name](str(text))
        except ValueError as error:
            raise UsageError(f"{path}.{name}", str(error)) from None
    if compute is None:
        return b"".join(values.values())
    try:
        return compute(values)
    except ValueError as error:
        raise UsageError(path, str(error)) from None
