"""The comparison with ns-3 that the page on fidelity reports: `ccperf verify ns3 --record FILE`.

A record says which scenarios were compared, each by its name and by what it is. So it can be told
which of today's matrix it holds, and nothing is claimed for one that was changed since.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf import data
from ccperf.algorithms import releases
from ccperf.base.outputs import Kind, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ccperf.runs.backends.ns3.release import Release
    from ccperf.scenario import Scenario
    from ccperf.verify.compare import Comparison

KIND = Kind("record of `ccperf verify ns3`", (b'{\n "ns3": "',), (b'"scenarios": {',))


@dataclass(frozen=True)
class End:
    """A random scenario that did not get to its end on ns-3."""

    #: `SEED/NUMBER`.
    scenario: str
    #: Who ended it: `ns-3`, an assertion, a crash or an endless loop of its own, or `driver`.
    by: str
    how: str
    #: Packet-trace rows that were the same until then.
    rows: int


@dataclass(frozen=True)
class Random:
    """Random scenarios that were compared besides the matrix."""

    #: Of these seeds, so many each.
    seeds: tuple[int, ...] = ()
    scenarios: int = 0
    identical: int = 0
    rows: int = 0
    #: `SEED/NUMBER` of those that differ, those that the driver ended among them.
    different: tuple[str, ...] = ()
    ended: tuple[End, ...] = ()


@dataclass(frozen=True)
class Judge:
    """The ns-3 that a record is of, as far as its version does not say it."""

    #: The profile of the engine's TCP.
    profile: str = ""
    #: ns-3's build profile; `wheel` for that.
    build: str = ""
    #: What its checkout is, if it is one.
    commit: str = ""


@dataclass(frozen=True)
class Record:
    """What a comparison of many scenarios found."""

    #: Versions of the backends: release, and a hash of the sources of the driver or the engine.
    ns3: str
    ccperf: str
    #: Packet-trace rows compared, of all scenarios together.
    rows: int
    #: Names of those that were not packet-identical.
    different: tuple[str, ...]
    #: By name, the fingerprint of each scenario.
    scenarios: Mapping[str, str]
    judge: Judge = field(default_factory=Judge)
    random: Random = field(default_factory=Random)

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Record:
        """The record that JSON says."""
        random: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in data.get("random", {}).items()
        }
        random["ended"] = tuple(End(**end) for end in random.get("ended", ()))
        return cls(**{**data, "judge": Judge(**data.get("judge", {})), "random": Random(**random)})

    def of_group(self, group: str) -> tuple[int, int]:
        """How many scenarios of a group were identical, and how many were compared."""
        names = [name for name in self.scenarios if name.partition("/")[0] == group]
        return len(names) - len(set(names) & set(self.different)), len(names)

    def holds(self, scenario: Scenario) -> bool:
        """Whether this very scenario was compared."""
        return self.scenarios.get(scenario.label) == fingerprint(scenario)


def fingerprint(scenario: Scenario) -> str:
    """The beginning of a hash of what a scenario says.

    What it leaves at the default does not count: a new field makes no other scenario of it.
    """
    text = scenario.model_dump_json(exclude={"label"}, exclude_defaults=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def of_comparisons(
    found: Iterable[Comparison], ours: str, theirs: str, judge: Judge, random: Random
) -> Record:
    """The record of comparisons; `ours` and `theirs` are the versions of the backends."""
    found = list(found)
    return Record(
        ns3=theirs,
        ccperf=ours,
        rows=sum(comparison.rows for comparison in found),
        different=tuple(c.scenario.label for c in found if not c.identical),
        scenarios={c.scenario.label: fingerprint(c.scenario) for c in found},
        judge=judge,
        random=random,
    )


def judge(ns3: Release, profile: str | None) -> Judge:
    """What the engine is compared with, and as what."""
    return Judge(profile or releases.default(), ns3.profile, ns3.commit)


def random(seeds: Iterable[int], found: Iterable[tuple[int, Comparison]]) -> Random:
    """What came of random scenarios; `found` has each with its seed."""
    found = list(found)

    def name(seed: int, comparison: Comparison) -> str:
        return f"{seed}/{comparison.scenario.label.rpartition('/')[2]}"

    return Random(
        seeds=tuple(seeds),
        scenarios=len(found),
        identical=sum(c.identical for _, c in found),
        rows=sum(c.rows for _, c in found),
        different=tuple(name(seed, c) for seed, c in found if c.different),
        ended=tuple(
            End(name(seed, c), "driver" if c.ended.is_own else "ns-3", str(c.ended), c.rows)
            for seed, c in found
            if c.ended
        ),
    )


def file(profile: str | None) -> str:
    """The name of the file that has a release's record."""
    if profile in (None, releases.default()):
        return "verified.json"
    return f"verified-{profile.removeprefix(releases.PREFIX)}.json"


def write(record: Record, path: Path) -> None:
    """Write a record as JSON."""
    with whole(path) as draft:
        draft.write_text(json.dumps(asdict(record), indent=1) + "\n", encoding="utf-8")


@cache
def last() -> Record:
    """The record that this release carries."""
    return Record.from_data(_data(file(None)))


@cache
def of_release(name: str) -> Record | None:
    """The record of a release of ns-3 under its profile; None if there is none."""
    if name == releases.default():
        return last()
    return Record.from_data(_data(file(name))) if data.exists(file(name)) else None


@cache
def coverage() -> Mapping[str, Any]:
    """What `tools/coverage.py --record` wrote: regions of code, reached and not, with reasons."""
    return _data("coverage.json")


@cache
def mutants() -> Mapping[str, Any]:
    """What `tools/mutants.py --record` wrote: mistakes planted, and what noticed them."""
    return _data("mutants.json")


def _data(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(data.text(name))
    return found
