"""Marking schemes: a queue discipline with the thresholds that a network's round trips ask of it.

A scheme is named by its discipline, one's own included, and then has the threshold for the tail of
the base RTTs. ``RED-tail``, ``RED-average`` and ``TCN-average`` name what the paper on ECN# names
so: DCTCP's marking and TCN with the threshold for the tail or for the average of the base RTTs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.algorithms.user_code import signature
from ccperf.base import expression
from ccperf.errors import UsageError
from ccperf.experiments.catalogue.experiment import resolved

#: What stands beside disciplines' names, and the discipline of each.
NAMED: Mapping[str, str] = {
    "RED-tail": "StepRedQueueDisc",
    "RED-average": "StepRedQueueDisc",
    "TCN-average": "TcnQueueDisc",
}
#: What is compared unless something else is asked for.
USUAL = ("ECNSharpQueueDisc", "RED-tail", "RED-average", "MarkingCoDelQueueDisc")

PACKET_BITS = 8 * 1500


@dataclass(frozen=True)
class Thresholds:
    """What a port's rate and the base RTTs of its flows ask of marking; times as texts."""

    rate: str
    #: What a discipline holds.
    limit: str
    #: The sojourn time above which to mark, for the tail of the base RTTs and for their average.
    tail: str
    average: str
    #: Above which a queue counts as standing, and for how long it may, for ECN# and CoDel.
    target: str
    interval: str
    codel_target: str
    codel_interval: str

    def packets(self, time: str) -> int:
        """The packets of 1500 B that the port sends in this time: K = C T."""
        bits = _native.parse_rate(self.rate) * _native.parse_time(time) / 1e9
        return max(1, round(bits / PACKET_BITS))


def resolve(name: str) -> str:
    """The scheme that is called so. Raises :class:`~ccperf.errors.UsageError`."""
    for known, discipline in NAMED.items():
        if name[: len(known)].lower() == known.lower():
            return known + expression.cut(resolved("qdisc", discipline + name[len(known) :]))[1]
    try:
        return resolved("qdisc", name)
    except UsageError as error:
        message = registry.with_words(error.message, name, NAMED)
        raise UsageError(error.field, message) from None


def discipline(scheme: str, at: Thresholds) -> dict[str, Any]:
    """The scheme as a discipline of a scenario.

    Attributes are those of :data:`_ATTRIBUTES`. A discipline of one's own gets the thresholds that
    its class has attributes for, by these names: ``tail``, ``average``, ``target``, ``interval``
    (times), ``rate``, and its limit.
    """
    scheme, parameters = expression.cut(scheme)
    name = NAMED.get(scheme, scheme)
    average = scheme.endswith("-average")
    make = _ATTRIBUTES.get(name)
    own = make(at, at.average if average else at.tail) if make else _asked_for(name, at)
    known = registry.algorithms("qdisc").get(name)
    takes_limit = known is None or any(p["ns3"] == "MaxSize" for p in known["params"])
    limit = {"MaxSize": at.limit} if takes_limit else {}
    return {"type": name + parameters, "attributes": {**limit, **own}}


#: What a discipline of one's own can ask for, by the name of its attribute.
_FOR_ALL = ("tail", "average", "target", "interval", "rate")


def _asked_for(name: str, at: Thresholds) -> dict[str, Any]:
    """The thresholds that the class of a user's discipline has attributes for."""
    asked = signature.attributes_of(name)
    return {each: getattr(at, each) for each in _FOR_ALL if each in asked}


def _ecn_sharp(at: Thresholds, mark: str) -> dict[str, Any]:
    return {
        "InstantaneousMarkingThreshold": mark,
        "PersistentMarkingTarget": at.target,
        "PersistentMarkingInterval": at.interval,
        "Law": "paper",
    }


def _red(at: Thresholds, mark: str) -> dict[str, Any]:
    """As DCTCP sets it: one threshold on the queue itself, and marks in place of drops."""
    k = at.packets(mark)
    return {
        "MinTh": k,
        "MaxTh": k,
        "QW": 1,
        "Gentle": False,
        "UseEcn": True,
        "UseHardDrop": False,
        "LinkBandwidth": at.rate,
        "MeanPktSize": 1500,
    }


def _codel(at: Thresholds, _mark: str) -> dict[str, Any]:
    return {"Target": at.codel_target, "Interval": at.codel_interval}


def _codel_with_ecn(at: Thresholds, mark: str) -> dict[str, Any]:
    return {**_codel(at, mark), "UseEcn": True}


def _controller(
    name: str, target: str, times: Sequence[str], gains: Sequence[str]
) -> Callable[[Thresholds, str], dict[str, Any]]:
    """A controller of the delay with the threshold for its target, as fast as the round trips.

    Its defaults are for round trips of up to 100 ms: its other times are as many times the target
    as there, and its gains, which are in 1/s, as many times the target's inverse.
    """

    def made(_at: Thresholds, mark: str) -> dict[str, Any]:
        default = {
            each["ns3"]: each["default"] for each in registry.algorithms("qdisc")[name]["params"]
        }
        factor = _native.parse_time(mark) / _native.parse_time(default[target])
        scaled = {each: _native.parse_time(default[each]) * factor for each in times}
        return {
            target: mark,
            **{each: _native.format_time(round(time)) for each, time in scaled.items()},
            **{each: round(float(default[each]) / factor, 6) for each in gains},
        }

    return made


_pie = _controller(
    "PieQueueDisc", "QueueDelayReference", ("Tupdate", "MaxBurstAllowance"), ("A", "B")
)
_marking_pie = _controller("MarkingPieQueueDisc", "QueueDelayReference", ("Tupdate",), ("A", "B"))
_pi2 = _controller("DualPi2QueueDisc", "Target", ("Tupdate",), ("Alpha", "Beta"))


def _marking_red(at: Thresholds, mark: str) -> dict[str, Any]:
    k = f"{at.packets(mark)}p"
    return {"KMin": k, "KMax": k}


#: Of the port's thresholds and the one for marking: what each discipline is set to.
_ATTRIBUTES: Mapping[str, Callable[[Thresholds, str], dict[str, Any]]] = {
    "ECNSharpQueueDisc": _ecn_sharp,
    "TcnQueueDisc": lambda _at, mark: {"Threshold": mark},
    "StepRedQueueDisc": lambda at, mark: {"MarkingThreshold": f"{at.packets(mark)}p"},
    "RedQueueDisc": _red,
    "MarkingCoDelQueueDisc": _codel,
    "CoDelQueueDisc": _codel_with_ecn,
    "FqCoDelQueueDisc": _codel_with_ecn,
    "CobaltQueueDisc": _codel_with_ecn,
    "FqCobaltQueueDisc": _codel_with_ecn,
    "MarkingPieQueueDisc": _marking_pie,
    "PieQueueDisc": lambda at, mark: {**_pie(at, mark), "UseEcn": True, "MarkEcnThreshold": 1},
    "FqPieQueueDisc": lambda at, mark: {**_pie(at, mark), "UseEcn": True},
    "DualPi2QueueDisc": lambda at, mark: {**_pi2(at, mark), "StepThreshold": mark},
    "MarkingRedQueueDisc": _marking_red,
}
