"""Whether a run draws random numbers: where it draws none, another seed changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ccperf.algorithms import registry

#: Congestion controls and queue disciplines that draw; a test runs all of them with two seeds.
DRAWING = frozenset(
    {
        "TcpBbr",
        "TcpBbr3",
        "CobaltQueueDisc",
        "DualPi2QueueDisc",
        "FqCobaltQueueDisc",
        "FqPieQueueDisc",
        "MarkingPieQueueDisc",
        "MarkingRedQueueDisc",
        "NdpQueueDisc",
        "PieQueueDisc",
        "RedQueueDisc",
    }
)


def draws(scenario: Mapping[str, Any]) -> bool:
    """Whether a run of a scenario in canonical form depends on its seed; of user code nobody knows,
    so it does."""
    known = {*registry.algorithms("cc"), *registry.algorithms("qdisc")}
    return surely_draws(scenario) or not known.issuperset(_algorithms(scenario))


def surely_draws(scenario: Mapping[str, Any]) -> bool:
    """Whether something in a run is known to draw, whatever user code does."""
    if scenario.get("workloads") or scenario.get("routing"):
        return True
    if not DRAWING.isdisjoint(_algorithms(scenario)):
        return True
    flows = scenario["flows"]
    if any(_is_random(flow["application"]) or flow.get("added_delay") for flow in flows):
        return True
    changes = [*scenario.get("changes", ()), *scenario["links"]]
    if any(change.get("loss") for change in changes):
        return True
    if any(0 < fault["loss"] < 1 for fault in scenario.get("faults", ())):
        return True
    return any(map(_impairs, scenario["links"]))


def _algorithms(scenario: Mapping[str, Any]) -> Iterator[str]:
    for flow in scenario["flows"]:
        if flow.get("cc"):
            yield flow["cc"]["type"]
    for link in scenario["links"]:
        for word in ("forward", "reverse"):
            if link[word].get("qdisc"):
                yield from _types(link[word]["qdisc"])


def _types(qdisc: Mapping[str, Any]) -> Iterator[str]:
    yield qdisc["type"]
    for child in qdisc.get("children", ()):
        yield from _types(child)


def _is_random(application: Mapping[str, Any]) -> bool:
    times = (application.get(name, "") for name in ("on_time", "off_time"))
    return application["type"] == "Poisson" or any("(" in time for time in times)


def _impairs(link: Mapping[str, Any]) -> bool:
    """Whether a link draws for its packets."""
    directions = (link["forward"], link["reverse"])
    names = ("loss", "gilbert_elliott", "jitter", "reordering")
    return any(direction.get(name) for direction in directions for name in names) or any(
        any(schedule.get("losses") or ()) for schedule in link.get("schedules", ())
    )
