"""Counts what the matrix compares, for :mod:`ccperf.verify.fidelity`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.experiments.topologies.dumbbell import BOTTLENECK
from ccperf.verify import matrix
from ccperf.verify.fidelity import Count, Counted, Group

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ccperf.verify.record import Record


@dataclass(frozen=True)
class _Compared:
    """A case of the matrix, read once."""

    #: The scenario's canonical form.
    facts: Mapping[str, Any]
    recorded: bool
    identical: bool


def counted(last: Record) -> Counted:
    """Today's matrix, and what the record `last` holds of it."""
    compared = [
        _Compared(
            case.scenario.canonical(),
            recorded := last.holds(case.scenario),
            recorded and case.name not in last.different,
        )
        for case in matrix.cases()
    ]
    return Counted(
        _count(compared),
        _groups(),
        {kind: _algorithms(kind, compared) for kind in _USED},
        {name: _count(list(filter(_of(has), compared))) for name, has in _FEATURES.items()},
    )


def _of(has: Callable[[Mapping[str, Any]], Any]) -> Callable[[_Compared], bool]:
    return lambda case: bool(has(case.facts))


def _groups() -> tuple[Group, ...]:
    """The groups of the matrix, in its order."""
    names: dict[str, list[str]] = {}
    abouts: dict[str, dict[str, None]] = {}
    for function, cases in matrix.by_function():
        about = " ".join((function.__doc__ or "").split("\n\n")[0].split())
        for case in cases:
            names.setdefault(case.group, []).append(case.name)
            abouts.setdefault(case.group, {})[about] = None
    return tuple(
        Group(name, len(members), members[-1], " ".join(abouts[name]))
        for name, members in names.items()
    )


def _algorithms(kind: registry.Kind, compared: Sequence[_Compared]) -> Mapping[str, Count]:
    used: dict[str, list[_Compared]] = {name: [] for name in registry.algorithms(kind)}
    for case in compared:
        for name in set(_USED[kind](case.facts)):
            used[name].append(case)
    return {name: _count(cases) for name, cases in used.items()}


def _count(cases: Sequence[_Compared]) -> Count:
    return Count(
        len(cases), sum(case.recorded for case in cases), sum(case.identical for case in cases)
    )


def _directions(facts: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for link in facts["links"]:
        yield link["forward"]
        yield link["reverse"]


def _disciplines(facts: Mapping[str, Any]) -> Iterator[str]:
    for direction in _directions(facts):
        if direction["qdisc"]:
            yield from _with_children(direction["qdisc"])


def _with_children(qdisc: Mapping[str, Any]) -> Iterator[str]:
    yield qdisc["type"]
    for child in qdisc.get("children", ()):
        yield from _with_children(child)


_USED: Mapping[registry.Kind, Callable[[Mapping[str, Any]], Iterable[str]]] = {
    "cc": lambda facts: (flow["cc"]["type"] for flow in facts["flows"] if "cc" in flow),
    "qdisc": _disciplines,
    "recovery": lambda facts: (flow["recovery"] for flow in facts["flows"] if "cc" in flow),
    "routing": lambda facts: [facts["routing"]["type"] if "routing" in facts else "static"],
    # ns-3 has neither RoCE nor switches that cut packets.
    "rate_control": lambda _facts: (),
    "trimming": lambda _facts: (),
}


def parts(facts: Mapping[str, Any]) -> Iterator[str]:
    """What a scenario, in its canonical form, has: algorithms, attributes of sockets, features."""
    for kind, used in _USED.items():
        yield from (f"{kind} {name}" for name in used(facts))
    for flow in facts["flows"]:
        yield from (f"socket {name}" for name in flow.get("tcp", ()))
    yield from (f"feature {name}" for name, has in _FEATURES.items() if has(facts))


def _is_dumbbell(facts: Mapping[str, Any]) -> bool:
    return bool(facts["links"][0]["name"] == BOTTLENECK)


def _flow(has: Callable[[Mapping[str, Any]], Any]) -> Callable[[Mapping[str, Any]], bool]:
    """Whether there is such a flow."""
    return lambda facts: any(map(has, facts["flows"]))


def _tcp(name: str, *values: str) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a flow's socket has one of these values."""
    return _flow(lambda flow: flow["tcp"].get(name) in values)


def _direction(has: Callable[[Mapping[str, Any]], Any]) -> Callable[[Mapping[str, Any]], bool]:
    """Whether there is such a direction of a link."""
    return lambda facts: any(map(has, _directions(facts)))


def _largest(flow: Mapping[str, Any]) -> int:
    """Bytes of the largest packet of a flow, with the headers of IP."""
    if flow.get("transport") == "UDP":
        return int(_native.parse_size(flow["application"]["write"])) + 28
    options = 0 if flow["tcp"].get("Timestamp") == "false" else 12
    return int(flow["tcp"].get("SegmentSize", 536)) + options + 40


def _least_mtu(facts: Mapping[str, Any]) -> int:
    return min(_native.parse_size(direction["mtu"]) for direction in _directions(facts))


_FEATURES: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "several flows": lambda facts: len(facts["flows"]) > 1,
    "ten flows or more": lambda facts: len(facts["flows"]) >= 10,
    "unequal round trips": lambda facts: (
        _is_dumbbell(facts) and len({link["delay"] for link in facts["links"][1:]}) > 1
    ),
    "another network than a dumbbell": lambda facts: not _is_dumbbell(facts),
    "flows of several congestion controls": lambda facts: len(set(_USED["cc"](facts))) > 1,
    "flows that share a host": lambda facts: (
        len({flow["source"] for flow in facts["flows"]}) < len(facts["flows"])
    ),
    "flows that start later": _flow(lambda flow: flow["start"] != "0s"),
    "finite transfers": _flow(lambda flow: flow["application"]["bytes"] != "0B"),
    "constant, Poisson or on-off sources": _flow(
        lambda flow: flow["application"]["type"] != "Greedy"
    ),
    "UDP": _flow(lambda flow: flow.get("transport") == "UDP"),
    "packets in fragments": lambda facts: any(
        _largest(flow) > _least_mtu(facts) for flow in facts["flows"]
    ),
    "receivers that close": _flow(lambda flow: flow["receiver_stop"]),
    "pings beside TCP": lambda facts: bool(facts["pings"]),
    "types of service": _flow(lambda flow: flow["tos"] or flow["return_tos"]),
    "ECN": _tcp("UseEcn", "On"),
    "delayed ACKs": _flow(lambda flow: int(flow["tcp"].get("DelAckCount", 2)) > 1),
    "no SACK": _tcp("Sack", "false"),
    "no timestamps": _tcp("Timestamp", "false"),
    "no window scaling": _tcp("WindowScaling", "false"),
    "pacing": _tcp("EnablePacing", "true"),
    "random loss": _direction(lambda direction: direction["loss"] > 0),
    "chosen packets lost": _direction(lambda direction: direction["drop"]),
    "rates or delays that change": lambda facts: bool(facts["changes"]),
    "several transmit queues": _direction(lambda direction: direction["device_queues"] > 1),
    "byte queue limits": _direction(lambda direction: direction["queue_limits"]),
    "no queue discipline": _direction(lambda direction: direction["qdisc"] is None),
}
