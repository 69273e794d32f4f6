"""What the matrix compares, in numbers: scenarios by group, by algorithm and by feature.

They are counted when the documents are made (`make docs`, :mod:`ccperf.verify.counting`) and come
with the package: nobody who reads a page waits for a thousand scenarios to be made.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING

from ccperf import data
from ccperf.algorithms import judges
from ccperf.experiments.programs import attributes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ccperf.algorithms import registry

NS3_RELEASE = "3.44"
FILE = "matrix.json"


@dataclass(frozen=True)
class Group:
    """The cases of one name before the slash."""

    name: str
    scenarios: int
    #: One of them.
    example: str
    #: What they vary.
    about: str


@dataclass(frozen=True)
class Count:
    """Scenarios of today's matrix."""

    scenarios: int
    #: Of these, in the last record.
    recorded: int
    #: Of these, packet-identical.
    identical: int


@dataclass(frozen=True)
class Counted:
    """The matrix in numbers."""

    total: Count
    groups: tuple[Group, ...]
    #: By kind and name: the scenarios that an algorithm runs in.
    algorithms: Mapping[registry.Kind, Mapping[str, Count]]
    #: What scenarios have besides one greedy flow of TCP's defaults over one drop-tail queue.
    features: Mapping[str, Count]

    def json(self) -> str:
        """The text of the file."""
        return json.dumps(asdict(self), indent=1) + "\n"


@cache
def last() -> Counted:
    """What was counted for this release."""
    found = json.loads(data.text(FILE))
    return Counted(
        Count(**found["total"]),
        tuple(Group(**group) for group in found["groups"]),
        {kind: _counts(counts) for kind, counts in found["algorithms"].items()},
        _counts(found["features"]),
    )


def _counts(data: Mapping[str, Mapping[str, int]]) -> Mapping[str, Count]:
    return {name: Count(**count) for name, count in data.items()}


def counterpart(name: str) -> str:
    """What an algorithm is compared with, packet by packet."""
    if judges.kind(name) == judges.NS3 and name in attributes.ns3_classes():
        return f"ns-3 {NS3_RELEASE}'s {name}"
    return f"a class that the driver adds to ns-3 {NS3_RELEASE}"


def judged_by(name: str) -> str:
    """Who judged an algorithm."""
    found = judges.judges(name)
    return "; ".join(f"{judge.kind} ({judge.where})" for judge in found) or judges.NONE


def status(kind: registry.Kind, name: str) -> str:
    """How far an algorithm is validated, in a sentence or two."""
    count = last().algorithms[kind].get(name)
    if count is None:
        return f"judged by {judged_by(name)}; `make docs` counts what compares it with ns-3"
    if not count.scenarios:
        return f"judged by {judged_by(name)}; ns-3 and the driver have none"
    text = (
        f"judged by {judges.kind(name)}: compared with {counterpart(name)}, packet by packet, in "
        f"{count.scenarios} scenarios of `ccperf verify ns3 --full`"
    )
    if not count.recorded:
        return f"{text}; the last record has none of them"
    here = "all" if count.recorded == count.scenarios else str(count.recorded)
    verdict = "identical" if count.identical == count.recorded else f"{count.identical} identical"
    return f"{text}; the last record has {here} of them, {verdict}"
