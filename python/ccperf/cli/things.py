"""What ``list`` lists: one function for each kind of thing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ccperf.algorithms import registry


@dataclass(frozen=True)
class Thing:
    """One line of a list."""

    name: str
    #: One sentence.
    summary: str
    #: Further columns, the same for all of a kind.
    facts: dict[str, Any] = field(default_factory=dict)
    #: What `show` says besides.
    caption: str = ""


def experiments() -> list[Thing]:
    from ccperf.experiments.catalogue import NAMED

    return [
        Thing(
            experiment.name,
            experiment.title,
            {
                "tests": experiment.kind,
                "parameters": [parameter.name for parameter in experiment.parameters],
                "points": sum(1 for _ in experiment.grid()),
                "published": len(experiment.published),
            },
        )
        for experiment in NAMED.values()
    ]


def algorithms(kind: registry.Kind) -> Callable[[], list[Thing]]:
    def entries() -> list[Thing]:
        from ccperf.algorithms import registry

        return [
            Thing(name, spec["doc"], {"short name": spec["linux"]})
            for name, spec in registry.algorithms(kind).items()
        ]

    return entries


def topologies() -> list[Thing]:
    import inspect

    from ccperf.experiments.topologies import TOPOLOGIES

    return [
        Thing(name, (inspect.getdoc(build) or "").split("\n\n")[0].replace("\n", " "))
        for name, build in TOPOLOGIES.items()
    ]


def workloads() -> list[Thing]:
    from ccperf.scenario import APPLICATIONS

    return [
        Thing(
            cls.__name__,
            (cls.__doc__ or "").split("\n\n")[0],
            {"fields": [name for name in cls.model_fields if name != "type"]},
        )
        for cls in APPLICATIONS
    ]


def metrics() -> list[Thing]:
    from ccperf.runs.metrics import METRICS

    return [
        Thing(
            name,
            metric.definition.split("\n\n")[0].replace("\n", " "),
            {"scope": metric.scope, "unit": metric.unit, "better": metric.better or "neither"},
        )
        for name, metric in METRICS.items()
    ]


def figures() -> list[Thing]:
    from ccperf.present.figures import FIGURES, OF_RECORDINGS

    found = [Thing(name, kind.title, caption=kind.caption) for name, kind in FIGURES.items()]
    others = OF_RECORDINGS.items()
    return [*found, *(Thing(name, kind.title, caption=kind.caption) for name, kind in others)]


def profiles() -> list[Thing]:
    from ccperf.algorithms.releases import releases
    from ccperf.scenario.profiles import PROFILES

    found = [
        Thing(release.name, release.doc, {"changes since 3.44": len(release.changes)})
        for release in releases().values()
    ]
    return found + [
        Thing(name, f"For stacks: {', '.join(fields)}.", {"changes since 3.44": ""})
        for name, fields in PROFILES.items()
    ]


def backends() -> list[Thing]:
    from ccperf.runs import backends as module

    entries = []
    for name in module.known():
        backend = module.get(name)
        state = backend.available() or "usable"
        entries.append(Thing(name, f"{backend.abilities.summary}: {state}"))
    return entries


KINDS: dict[str, Callable[[], list[Thing]]] = {
    "experiments": experiments,
    "cc": algorithms("cc"),
    "qdisc": algorithms("qdisc"),
    "recovery": algorithms("recovery"),
    "routing": algorithms("routing"),
    "rate_control": algorithms("rate_control"),
    "trimming": algorithms("trimming"),
    "topologies": topologies,
    "workloads": workloads,
    "metrics": metrics,
    "figures": figures,
    "backends": backends,
    "profiles": profiles,
}
