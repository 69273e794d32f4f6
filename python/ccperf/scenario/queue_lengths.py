"""Buckets, limits and thresholds that leave a queue discipline nothing to send, or to do."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.base import expression

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ccperf.scenario.fields import Algorithm
    from ccperf.scenario.whole import Scenario

#: What becomes of a packet that the bucket never holds, by discipline, as in ns-3 and RFC 2697.
_FATE = {"TbfQueueDisc": "wait without end", "PolicerQueueDisc": "are dropped"}
#: The length from which each discipline marks.
_MARKS_FROM = {"StepRedQueueDisc": "MarkingThreshold", "MarkingRedQueueDisc": "KMin"}
#: The delay that each controls, of those that have one queue.
_TARGETS = {
    "CoDelQueueDisc": "Target",
    "CobaltQueueDisc": "Target",
    "MarkingCoDelQueueDisc": "Target",
    "PieQueueDisc": "QueueDelayReference",
    "MarkingPieQueueDisc": "QueueDelayReference",
    "TcnQueueDisc": "Threshold",
}
#: A queue this many times as long as the target is above it for moments only.
_HARDLY_LONGER = 1.05
_PPP_HEADER = 2
#: Those of which ns-3's classes mark nothing else by a CE threshold.
_MARK_L4S_ONLY = ("PieQueueDisc", "FqPieQueueDisc")
_BYTES = "B"


class _Length(NamedTuple):
    number: int
    unit: str

    def __str__(self) -> str:
        return f"{self.number}{self.unit}"


class _Port(NamedTuple):
    """What a discipline sends over."""

    mtu: int
    #: Empty if it varies, or if others share it.
    rate: str


def unfit_lengths(scenario: Scenario) -> list[str]:
    """A sentence for each length that makes a discipline drop nearly all, or do nothing."""
    found: dict[str, list[str]] = {}
    # Of a fabric's thousands of links most are alike.
    known: dict[object, list[tuple[str, str]]] = {}
    changing = {change.link for change in scenario.changes if change.rate is not None}
    for i, link in enumerate(scenario.links):
        for word in ("forward", "reverse"):
            direction = getattr(link, word)
            mtu = _native.parse_size(direction.mtu)
            is_steady = not link.schedules and link.name not in changing
            rate = (direction.rate or link.rate) if is_steady else ""
            for path, qdisc in _within(f"links[{i}].{word}.qdisc", direction.qdisc):
                of = _Port(mtu, "" if qdisc is not direction.qdisc else rate)
                key = (qdisc.type, *qdisc.attributes.items(), of)
                if key not in known:
                    known[key] = list(_unfit(qdisc, of))
                for name, text in known[key]:
                    found.setdefault(f"{name}: {text}", []).append(f"{path}.attributes")
    return [
        f"{paths[0]}.{text}{f' (as in {len(paths) - 1} more)' if len(paths) > 1 else ''}"
        for text, paths in found.items()
    ]


def _within(path: str, qdisc: Algorithm | None) -> Iterator[tuple[str, Algorithm]]:
    """A discipline and all inside of it, each with its path."""
    if qdisc is not None:
        yield path, qdisc
        for i, child in enumerate(qdisc.children):
            yield from _within(f"{path}.children[{i}]", child)


def _unfit(qdisc: Algorithm, port: _Port) -> Iterator[tuple[str, str]]:
    """What is unfit in a discipline: the attribute as it is written, and why."""
    if _native.is_user_code(qdisc.type):
        return
    with suppress(ValueError):  # of a database that another engine made
        name = expression.write(qdisc.type, {k: str(v) for k, v in qdisc.attributes.items()})
        kind, given = expression.parse(registry.resolve("qdisc", name))
        params = registry.algorithms("qdisc")[kind]["params"]
        values = {param["ns3"]: param["default"] for param in params} | given
        short = {param["ns3"]: (param["linux"] or "").lower() for param in params}
        for ns3, text in _reasons(kind, values, given, port):
            names = (ns3.lower(), short[ns3])
            yield next((as_is for as_is in qdisc.attributes if as_is.lower() in names), ns3), text


def _reasons(
    kind: str, values: Mapping[str, str], given: Collection[str], port: _Port
) -> Iterator[tuple[str, str]]:
    mtu = port.mtu
    if "CeThreshold" in given and values["UseL4s"] != "true":
        if kind in _MARK_L4S_ONLY:
            yield "CeThreshold", "marks L4S packets only, and these with UseL4s = true only"
        elif values["UseEcn"] != "true":
            yield "CeThreshold", "marks nothing without UseEcn = true"
    if kind in _FATE and int(values["Burst"]) < mtu:
        bucket = values["Burst"]
        yield "Burst", f"{_larger(bucket, _FATE[kind], mtu)}; write {mtu} or more"
    if "MaxSize" not in values:
        return
    limit = _Length(*_native.parse_queue_size(values["MaxSize"]))
    if limit.unit == _BYTES and limit.number < mtu:
        yield "MaxSize", f"{_larger(limit.number, 'are dropped', mtu)}; write {mtu}B or more"
    elif kind in _TARGETS and port.rate and "MaxSize" in given:
        target = values[_TARGETS[kind]]
        bits = 8 * limit.number * (1 if limit.unit == _BYTES else mtu + _PPP_HEADER)
        lasts = bits * 1e9 / _native.parse_rate(port.rate)
        if lasts < _HARDLY_LONGER * _native.parse_time(target):
            yield (
                _TARGETS[kind],
                f"{target} is about as long as a full queue lasts ({limit} at {port.rate}: "
                f"{lasts / 1e6:.3g} ms), or longer: it acts as a FIFO; write a larger MaxSize, or "
                "a shorter time",
            )
    elif kind == "RedQueueDisc":
        yield from _reasons_of_red(values, limit, mtu)
    elif name := _MARKS_FROM.get(kind):
        least = _Length(*_native.parse_queue_size(values[name]))
        if least.unit == limit.unit and least.number >= limit.number:
            yield (
                name,
                f"{least} is not below MaxSize, {limit}: the queue is full before, and nothing is "
                "marked; write a smaller one",
            )


def _larger(size: object, fate: str, mtu: int) -> str:
    return f"packets of more than {size} B {fate}, and the link takes {mtu} B"


def _reasons_of_red(
    values: Mapping[str, str], limit: _Length, mtu: int
) -> Iterator[tuple[str, str]]:
    least, most = float(values["MinTh"]), float(values["MaxTh"])
    if values["ARED"] == "true" or least == most == 0:
        return  # it chooses its thresholds by itself
    if limit.unit == _BYTES and most < mtu:
        yield (
            "MaxTh",
            f"{most:g} is in bytes, as MaxSize is, {limit}, and less than a packet: nearly all "
            "that has to wait is dropped; write MinTh and MaxTh in bytes, or MaxSize in packets",
        )
    elif least >= limit.number:
        unit = "bytes" if limit.unit == _BYTES else "packets"
        yield (
            "MinTh",
            f"{least:g} is in {unit}, as MaxSize is, and not below it, {limit}: nothing is dropped "
            "or marked early; write a smaller one",
        )
