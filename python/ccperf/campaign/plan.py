"""Plans: TOML files that name experiments of the catalogue with the grid to run.

A plan looks like this; only ``experiment`` and ``cc`` are needed (``qdisc`` for an experiment on
queue disciplines, ``routing`` for one on load balancers), and a parameter that is left out takes
the whole grid of the catalogue::

    experiment = "aqm"
    cc = ["TcpNewReno"]
    seed = "1..3"
    recovery = "PrrRfc6937"
    stop_time = "15s"

    [parameters]
    k = [1, 5]
    qdisc = "codel"

Several experiments, or one with several grids, stand in ``[[experiments]]``; each has these keys,
and takes what it does not give from the file's head::

    cc = ["TcpNewReno", "TcpBbr"]
    seed = "1..10"

    [[experiments]]
    experiment = "aqm"
    parameters = { k = [1, 2], qdisc = "codel" }

    [[experiments]]
    experiment = "competition"
    cc = "TcpBbr"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ccperf.base import expression
from ccperf.errors import ScenarioError, UsageError, unknown
from ccperf.experiments import catalogue
from ccperf.experiments.grid import seeds

if TYPE_CHECKING:
    from ccperf.campaign import Point, Repeated
    from ccperf.experiments.catalogue import Experiment
    from ccperf.experiments.catalogue.parameter import Value
    from ccperf.scenario.toml import Document

#: What may be given beside the parameters, and holds for all points.
SETTINGS = ("recovery", "stop_time", "jitter", "profile", "sysctl")
_SEVERAL = "experiments"
_KEYS = (
    "experiment",
    "cc",
    "qdisc",
    "routing",
    "seed",
    *SETTINGS,
    "parameters",
)


@dataclass(frozen=True)
class Plan:
    """Points of one experiment for several algorithms and seeds."""

    experiment: str | Experiment
    #: Empty: the experiment's usual ones.
    cc: Sequence[str]
    #: Values of each parameter; the catalogue's grid for those not named.
    parameters: Mapping[str, Sequence[object]] = field(default_factory=dict)
    #: None: the experiment's own seed.
    seeds: Sequence[int] | None = None
    #: None: the experiment's own.
    recovery: str | None = None
    stop_time: str | None = None
    jitter: str | None = None
    #: A release of ns-3 whose TCP it is.
    profile: str | None = None
    #: Sysctls of all hosts, e.g. ``tcp_sack=0``, for the backend `linux`.
    sysctl: str | None = None
    #: Of `tested` only these; None: all.
    only: Sequence[str] | None = None

    @property
    def settings(self) -> dict[str, str]:
        """What is given beside the parameters and holds for all points."""
        given = {name: getattr(self, name) for name in SETTINGS}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def length(self) -> dict[str, str]:
        """The length of the runs, if it is not the experiment's own."""
        return {} if self.stop_time is None else {"stop_time": self.stop_time}

    def grid(self) -> Iterator[dict[str, Value]]:
        """The points, each with every parameter in canonical form, the last varying fastest."""
        return catalogue.get(self.experiment).product(self.parameters, **self.length)

    def tested(self) -> list[str]:
        """Who is under test, and an empty name if nobody is at some points.

        Raises :class:`~ccperf.errors.UsageError` if none that is given takes part anywhere.
        """
        found = catalogue.get(self.experiment).tested(self.cc, self.grid())
        return [cc for cc in found if self.only is None or cc in self.only]

    def of(self, cc: str) -> Iterator[dict[str, Value]]:
        """The points where this one of `tested` is under test."""
        experiment = catalogue.get(self.experiment)
        return (point for point in self.grid() if experiment.is_tested(point) == bool(cc))

    def repeats(self) -> Iterator[Repeated]:
        """The points for each algorithm, each with the seeds that change something there."""
        from ccperf.campaign import repeats

        experiment = catalogue.get(self.experiment)
        seeds = self.seeds or (None,)
        for cc in self.tested():
            yield from repeats(experiment, cc, grid=self.of(cc), seeds=seeds, **self.settings)

    def points(self) -> Iterator[Point]:
        """What a campaign runs."""
        for repeated in self.repeats():
            yield from repeated.points()

    @property
    def asked(self) -> int:
        """How many runs would be made if every seed changed something everywhere."""
        return self.count * len(self.seeds or (None,))

    @property
    def count(self) -> int:
        """How many points there are, those of each algorithm counted."""
        return sum(1 for cc in self.tested() for _ in self.of(cc))


def is_plan(data: Mapping[str, Any]) -> bool:
    """Whether a TOML file is a plan over the catalogue, and no scenario."""
    return ("experiment" in data or _SEVERAL in data) and "flows" not in data


def from_document(document: Document) -> list[Plan]:
    """The plans in a TOML file. Raises :class:`~ccperf.errors.ScenarioError` with file and line."""
    several = document.data.get(_SEVERAL)
    common = {key: value for key, value in document.data.items() if key != _SEVERAL}
    with document.placing_errors():
        if several is None:
            return [_plan_at("", common)]
        if "experiment" in common or "parameters" in common:
            key = "experiment" if "experiment" in common else "parameters"
            raise ScenarioError([(key, f"belongs to one of [[{_SEVERAL}]]")])
        if not isinstance(several, list) or not all(isinstance(one, Mapping) for one in several):
            raise ScenarioError([(_SEVERAL, f"must be tables: [[{_SEVERAL}]]")])
        if not several:
            raise ScenarioError([(_SEVERAL, "is empty")])
        return [_plan_at(f"{_SEVERAL}[{i}]", {**common, **one}) for i, one in enumerate(several)]


def _plan_at(place: str, data: Mapping[str, Any]) -> Plan:
    try:
        return _plan(data)
    except UsageError as error:
        field = f"{place}.{error.field}".strip(".")
        raise ScenarioError([(field, error.message)]) from None


def _plan(data: Mapping[str, Any]) -> Plan:
    for key in data:
        if key not in _KEYS:
            raise UsageError(key, unknown("key of a plan", key, _KEYS))
    if "experiment" not in data:
        raise UsageError("experiment", "is missing")
    experiment = catalogue.get(_text("experiment", data["experiment"]))
    kind = experiment.kind
    if kind not in data and experiment.tested_at is None:
        example = f'{kind} = ["{experiment.usual[0]}"]'
        raise UsageError(kind, f"is missing; name an algorithm, e.g. {example}")
    for other in {"cc", "qdisc", "routing"} & data.keys() - {kind}:
        raise UsageError(other, f"{experiment.name} tests what {kind} names; leave it out")
    tested = _filled(kind, data[kind], "name an algorithm") if kind in data else []
    parameters = data.get("parameters", {})
    if not isinstance(parameters, Mapping):
        raise UsageError("parameters", "must be a table: [parameters]")
    plan = Plan(
        experiment=experiment.name,
        cc=[experiment.resolve(_text(kind, word)) for word in tested],
        parameters={
            name: _filled(f"parameters.{name}", value, "leave it out for the whole grid")
            for name, value in parameters.items()
        },
        seeds=_seeds(data["seed"]) if "seed" in data else None,
        **{name: _text(name, data[name]) for name in SETTINGS if name in data},
    )
    try:
        for cc in plan.tested():  # every value is checked before anything runs
            for point in plan.of(cc):
                chosen: dict[str, Any] = {**plan.settings, **point}
                experiment.setup(cc, **chosen)
    except UsageError as error:
        table = "parameters." if error.field in parameters else ""
        raise UsageError(f"{table}{error.field}", error.message) from None
    return plan


def _list(value: object) -> list[object]:
    """One value or several; of an algorithm's parameters, too: `cubic(Beta=0.5|0.7)`."""
    given = value if isinstance(value, list) else [value]
    return [
        one
        for each in given
        for one in (expression.each(each) if isinstance(each, str) else [each])
    ]


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise UsageError(name, f"`{value}` must be a text")
    return value


def _filled(name: str, value: object, instead: str) -> list[object]:
    values = _list(value)
    if not values:
        raise UsageError(name, f"is empty; {instead}")
    return values


def _seeds(value: object) -> list[int]:
    words = _filled("seed", value, "leave it out for the experiment's own")
    return [number for word in words for number in seeds(str(word))]
