"""The comparison with ns-3 that the page on fidelity reports: `ccperf verify ns3 --record FILE`.

A record says which scenarios were compared, each by its name and by what it is. So it can be told
which of today's matrix it holds, and nothing is claimed for one that was changed since.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf import data
from ccperf.algorithms import releases
from ccperf.base.outputs import Kind, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ccperf.scenario import Scenario
    from ccperf.verify.compare import Comparison

KIND = Kind("record of `ccperf verify ns3`", (b'{\n "ns3": "',), (b'"scenarios": {',))


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


def of(found: Iterable[Comparison], ours: str, theirs: str) -> Record:
    """The record of comparisons; `ours` and `theirs` are the versions of the backends."""
    found = list(found)
    return Record(
        ns3=theirs,
        ccperf=ours,
        rows=sum(comparison.rows for comparison in found),
        different=tuple(c.scenario.label for c in found if not c.identical),
        scenarios={c.scenario.label: fingerprint(c.scenario) for c in found},
    )


def write(record: Record, path: Path) -> None:
    """Write a record as JSON."""
    with whole(path) as draft:
        draft.write_text(json.dumps(asdict(record), indent=1) + "\n", encoding="utf-8")


@cache
def last() -> Record:
    """The record that this release carries."""
    return Record(**_data("verified.json"))


@cache
def of_release(name: str) -> Record | None:
    """The record of a release of ns-3 under its profile; None if there is none."""
    if name == releases.default():
        return last()
    file = f"verified-{name.removeprefix(releases.PREFIX)}.json"
    return Record(**_data(file)) if data.exists(file) else None


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
