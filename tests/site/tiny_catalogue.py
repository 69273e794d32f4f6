"""Every experiment of the catalogues in small: short runs, few points, small networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.runs.result import Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ccperf.experiments.catalogue import Experiment, Parameter

#: In place of the catalogue's values, where an experiment has such a parameter.
SMALL: dict[str, tuple[str, ...]] = {
    "flows": ("20",),
    "leaves": ("2",),
    "spines": ("2",),
    "servers": ("2",),
    "arrivals": ("20ms",),
    "asked": ("400ms",),
    "workload": ("web_search",),
    "short": ("20",),
    "answers": ("10", "20"),
}
#: Long enough for flows to converge, and for a step of the path.
STOP_TIME = "8s"


def values(experiment: Experiment, parameter: Parameter) -> tuple[object, ...]:
    """The default of a parameter, and another value."""
    if experiment.name == "many_flows" and parameter.name == "k":
        return (10, 20)
    others = [value for value in parameter.grid if value != parameter.default]
    given = SMALL.get(parameter.name, (parameter.default, *others))
    return given[:2] if len(parameter.grid) > 1 else given[:1]


def algorithms_of(experiment: Experiment) -> tuple[str, ...]:
    """Two algorithms; one in an experiment that takes no other."""
    return ("TcpNewReno", "TcpCubic") if experiment.kind == "cc" else experiment.usual[:2]


def tiny_runs() -> Iterator[Result]:
    """Every experiment."""
    for experiment in catalogue.EXPERIMENTS.values():
        length = STOP_TIME if experiment.kind == "cc" else experiment.stop_time
        axes = {each.name: values(experiment, each) for each in experiment.parameters}
        for cc in algorithms_of(experiment):
            for point in experiment.product(axes, length):
                yield run(experiment.name, cc, 1, length, point)


def run(name: str, cc: str, seed: int, length: str, point: Mapping[str, object]) -> Result:
    """One run at a point of an experiment."""
    engine = backends.get("native")
    experiment = catalogue.get(name)
    setup = experiment.setup(cc, seed=seed, stop_time=length, **point)
    scenario = experiment.scenario(cc, seed=seed, stop_time=length, **point)
    return Result.of(
        scenario,
        engine.simulate(scenario),
        engine,
        experiment=name,
        parameters=setup.labels,
    )
