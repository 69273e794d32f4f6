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
    sockets. What exists in ns-3 and has no effect here becomes a warning.
    """
    targets = Targets()
    known_tcp = set(tcp)
    known = {name: set(names) for name, names in used.items()}
    for class_name, attribute, value in attributes:
        check(class_name, attribute)
        field = f"--ns3::{class_name}::{attribute}"
        if class_name in known and attribute == "MaxSize":
            targets.warnings.append(f"{field} has no effect: --qlen sets the size")
        elif class_name in known and attribute in known[class_name]:
            targets.by_class.setdefault(class_name, {})[attribute] = value
        elif class_name in TCP_CLASSES and attribute in known_tcp:
            targets.tcp[attribute] = value
        else:
            targets.warnings.append(f"{field} exists in ns-3 but has no effect on this run")
    return targets
