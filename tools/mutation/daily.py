"""Chooses the part of the matrix for every day by what it notices."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from ccperf.verify import counting, matrix
from mutation.places import ROOT
from mutation.scenarios import Judge

FILE = ROOT / "python" / "ccperf" / "data" / "slice.json"

#: ns-3 takes some 60 times as long as the engine, and 0.1 s to start.
_START_S = 0.1 / 60

#: Here it takes some hundred times as long, two to eight seconds: it looks for a segment from the
#: beginning of a list of thousands. They notice no mistake that others do not notice.
_DEAR = frozenset(
    {
        "qdisc/DwrrQueueDisc-pauses",
        "qdisc/StrictPriorityQueueDisc-defaults",
        "recovery/TcpPrrRecovery-long",
        "transfer/bytes-TcpNewReno",
        "udp/through-StrictPriorityQueueDisc",
        "wrap/TcpPrrRecovery",
    }
)


def choose(
    judges: Sequence[Judge],
    seconds: Sequence[float],
    by: Mapping[str, str],
    budget_s: float,
) -> list[str]:
    """Names of scenarios: the cheapest with each algorithm and socket attribute, those that notice
    the most for what they take, and others, until `budget_s` of the engine's time is spent.
    """
    heavy = {case.name for case in matrix.cases() if case.heavy} | _DEAR
    costs = {
        judge.name: _START_S + cost
        for judge, cost in zip(judges, seconds, strict=True)
        if judge.name not in heavy
    }
    kills = Counter(name for name in by.values() if name)
    chosen: dict[str, None] = {}
    for names in _features().values():
        usable = [name for name in names if name in costs]
        if usable and not chosen.keys() & set(usable):
            chosen[min(usable, key=lambda name: costs[name] / (1 + kills[name]))] = None
    worth = sorted(kills, key=lambda name: costs.get(name, 1e9) / kills[name])
    spent = sum(costs[name] for name in chosen)
    for name in worth:
        if name in costs and name not in chosen and spent + costs[name] <= budget_s:
            chosen[name] = None
            spent += costs[name]
    # What is left goes to the breadth of the matrix: of each group the first and every fourth.
    order = [judge.name for judge in judges]
    fourths = [case.name for _, group in matrix.by_function() for case in group[::4]]
    for name in sorted((name for name in fourths if name in costs), key=costs.__getitem__):
        if name not in chosen and spent + costs[name] <= budget_s:
            chosen[name] = None
            spent += costs[name]
    return sorted(chosen, key=order.index)


def write(names: Sequence[str]) -> None:
    """Make them the slice."""
    FILE.write_text(json.dumps(names, indent=1) + "\n")


def _features() -> Mapping[str, list[str]]:
    """What must be in the slice, with the scenarios that have it."""
    having: dict[str, list[str]] = {}
    for case in matrix.cases():
        if not case.heavy:
            for feature in counting.parts(case.scenario.canonical()):
                having.setdefault(feature, []).append(case.name)
    return having
