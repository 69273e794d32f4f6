"""``--ns3::Class::Attribute=value``: which attributes exist, and what they set in a run.

The list of all classes of ns-3 3.44 with their attributes is a data file, written by
``tools/ns3_attributes.cc`` from ns-3's own type registry.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache

from ccperf import data
from ccperf.errors import UsageError, suggestion

#: Attributes of these classes belong to a flow's ``tcp``.
TCP_CLASSES = ("TcpSocket", "TcpSocketBase", "TcpSocketState")


@cache
def ns3_classes() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Every class of ns-3 3.44 as ``{class: (parent, names of its own attributes)}``."""
    classes = json.loads(data.text("ns3_attributes.json"))
    return {name: (parent, tuple(own)) for name, (parent, own) in classes.items()}


def check(class_name: str, attribute: str) -> None:
    """Raise :class:`UsageError` unless ns-3 3.44 has this attribute in this very class.

    ns-3 sets a default only through the class that declares it, so an inherited attribute is
    refused with the name of that class.
    """
    field = f"--ns3::{class_name}::{attribute}"
    classes = ns3_classes()
    if class_name not in classes:
        raise UsageError(
            field, f"ns-3 3.44 has no class `{class_name}`{suggestion(class_name, classes)}"
        )
    parent, own = classes[class_name]
    if attribute in own:
        return
    inherited: list[str] = []
    while parent in classes:
        grandparent, attributes = classes[parent]
        if attribute in attributes:
            raise UsageError(field, f"write --ns3::{parent}::{attribute}, the class it belongs to")
        inherited += attributes
        parent = grandparent if grandparent != parent else ""
    near = suggestion(attribute, own) or suggestion(attribute, inherited)
    listed = f"; it has {', '.join(own)}" if own else "; it has none of its own"
    raise UsageError(field, f"`{class_name}` has no such attribute{near}{listed}")


#: Disciplines whose classes have disciplines of these classes, with what their defaults say.
_INNER = {
    "FqCoDelQueueDisc": "CoDelQueueDisc",
    "FqCobaltQueueDisc": "CobaltQueueDisc",
    "FqPieQueueDisc": "PieQueueDisc",
    "PfifoFastQueueDisc": "FifoQueueDisc",
    "PrioQueueDisc": "FifoQueueDisc",
    "TbfQueueDisc": "FifoQueueDisc",
}
#: What algorithms are made of: those that a run does not name, it has not.
_KINDS = ("TcpCongestionOps", "TcpRecoveryOps", "QueueDisc")


def is_of_another_algorithm(class_name: str, present: Iterable[str]) -> bool:
    """Whether a class is an algorithm's, and no algorithm of a run with those `present` has it."""
    made = set()
    for name in present:
        made |= {*_line(name), *_line(_INNER.get(name, name))}
    return not made.isdisjoint(_KINDS) and (
        class_name not in made and not set(_line(class_name)).isdisjoint(_KINDS)
    )


def _line(class_name: str) -> list[str]:
    """A class and what it is derived from."""
    found = []
    classes = ns3_classes()
    while class_name in classes and class_name not in found:
        found.append(class_name)
        class_name = classes[class_name][0]
    return found


def no_effect(class_name: str, attribute: str, present: Iterable[str]) -> str:
    """What to say of an attribute that sets nothing in a run with those algorithms.

    Raises :class:`UsageError` unless it has no effect in ns-3 either: who typed it wants another
    run than that without it.
    """
    field = f"--ns3::{class_name}::{attribute}"
    if is_of_another_algorithm(class_name, present):
        return f"{field} exists in ns-3 but has no effect on this run"
    raise UsageError(field, "exists in ns-3, but cannot be set in a run here; leave it out")


class Targets:
    """What the attributes of a command line set: the sockets, the controllers, the disciplines."""

    def __init__(self) -> None:
        self.tcp: dict[str, str] = {}
        self.by_class: dict[str, dict[str, str]] = {}
        self.warnings: list[str] = []

    def of(self, class_name: str) -> dict[str, str]:
        """The attributes given for a congestion control or a queue discipline."""
        return dict(self.by_class.get(class_name, {}))


def assign(
    attributes: Iterable[tuple[str, str, str]],
    *,
    used: Mapping[str, Iterable[str]],
    tcp: Iterable[str],
) -> Targets:
    """Sort attributes by what they set.

    ``used`` maps each algorithm of the run to the attributes it knows, ``tcp`` lists those of the
    sockets. What exists in ns-3 and has no effect on such a run becomes a warning; what would have
    one and cannot be set here is refused (:class:`UsageError`).
    """
    targets = Targets()
    own = {"TcpL4Protocol::SocketType": "--algs", "TcpL4Protocol::RecoveryType": "--recoveries"}
    known_tcp = set(tcp)
    known = {name: set(names) for name, names in used.items()}
    for class_name, attribute, value in attributes:
        check(class_name, attribute)
        field = f"--ns3::{class_name}::{attribute}"
        if class_name in known and attribute == "MaxSize":
            targets.warnings.append(f"{field} has no effect: --qlen sets the size")
        elif option := own.get(f"{class_name}::{attribute}"):
            targets.warnings.append(f"{field} has no effect: {option} sets it")
        elif class_name in known and attribute in known[class_name]:
            targets.by_class.setdefault(class_name, {})[attribute] = value
        elif class_name in TCP_CLASSES and attribute in known_tcp:
            targets.tcp[attribute] = value
        else:
            targets.warnings.append(no_effect(class_name, attribute, known))
    return targets
