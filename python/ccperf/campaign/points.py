"""What a campaign runs: the points of an experiment's grid, each with every seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ccperf.algorithms.user_code.names import labelled
from ccperf.campaign.seeds import Seeds
from ccperf.runs.result import title
from ccperf.scenario.chance import draws

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ccperf.algorithms.user_code.content import Contents
    from ccperf.campaign.seeds import Starts
    from ccperf.experiments.catalogue import Experiment
    from ccperf.runs.backends import Backend
    from ccperf.runs.result import Identity
    from ccperf.scenario import Scenario


@dataclass(frozen=True)
class Point:
    """One run to make: a scenario, and the point of an experiment that it is, if it is one."""

    scenario: Scenario
    experiment: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    #: What it has in common with points of other seeds.
    seeds: Seeds | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Call users' algorithms by their labels: parameters are stored and published."""
        object.__setattr__(self, "parameters", labelled(self.parameters))

    @cached_property
    def alike(self) -> Seeds:
        """What writes its scenario."""
        return self.seeds or Seeds(self.scenario)

    def identity(self, backend: Backend, contents: Contents) -> Identity:
        """Which run it is on a backend."""
        return self.alike.identity(self.scenario, backend, contents)

    @property
    def title(self) -> str:
        """The experiment with its parameters, or the scenario's label."""
        return title(self.experiment, self.parameters, self.scenario.label)


class Repeated(NamedTuple):
    """A point of an experiment, with the seeds that are worth a run there."""

    experiment: Experiment
    cc: str
    #: The parameters, and what of recovery, length and jitter is not the experiment's own.
    chosen: Mapping[str, Any]
    #: None stands for the experiment's own.
    seeds: Sequence[int | None]
    #: With the first seed; None where it is built whenever it is asked for.
    first: Scenario | None
    #: Whether that with another seed differs in the seed alone.
    differs_in_seed_only: bool
    #: With the second seed, if there is one and it is kept.
    second: Scenario | None = None
    #: When flows start with a seed, where that is all else that it changes.
    starts: Starts | None = None
    #: All seeds that were asked for.
    asked: Sequence[int | None] = ()

    @property
    def scenario(self) -> Scenario:
        """With the first seed."""
        return self.first or self.experiment.scenario(self.cc, **self._with(self.seeds[0]))

    def kept_short(self) -> Repeated:
        """The same, without its scenarios: they are built whenever they are asked for."""
        return self._replace(first=None, second=None, starts=None)

    def points(self) -> Iterator[Point]:
        """One for each seed."""
        first = self._with(self.seeds[0])
        labels, name = self._labels, self.experiment.name
        starts = self.starts or self.experiment.drawn_starts(self.cc, **first)
        are_several = len(self.seeds) > 1
        if self.differs_in_seed_only or starts or not are_several:
            # Each point has a copy, so that what a run makes of its scenario goes with it.
            scenario = self.scenario
            alike = Seeds(scenario, starts if are_several else None)
            for seed in self.seeds:
                given = scenario.seed if seed is None else seed
                yield Point(alike.scenario(given), name, labels, alike)
            return
        for seed in self.seeds:
            yield Point(self._scenario(seed), name, labels)

    @property
    def parameters(self) -> dict[str, Any]:
        """What its points are called."""
        return labelled(self._labels)

    @property
    def _labels(self) -> dict[str, str]:
        return self.experiment.setup(self.cc, **self._with(self.seeds[0])).labels

    def commands(self, backend: str) -> Iterator[str]:
        """The command that makes each of the points again."""
        for seed in self.seeds:
            yield self.experiment.reproduce(self.cc, backend, **self._with(seed))

    def _scenario(self, seed: int | None) -> Scenario:
        if seed == self.seeds[0]:
            return self.scenario
        if self.second and seed == self.seeds[1]:
            return self.second
        return self.experiment.scenario(self.cc, **self._with(seed))

    def _with(self, seed: int | None) -> dict[str, Any]:
        return {**self.chosen, **({} if seed is None else {"seed": seed})}


def repeat(
    experiment: Experiment,
    cc: str,
    chosen: Mapping[str, Any],
    seeds: Sequence[int | None],
) -> Repeated:
    """A point with those of `seeds` that change something there; with the first one if none does.

    `chosen` are parameters and settings (recovery, stop_time, jitter, profile, sysctl).  Raises
    `UsageError` for a wrong value.
    """
    own = {} if seeds[0] is None else {"seed": seeds[0]}
    one = experiment.scenario(cc, **{**chosen, **own})
    every = Repeated(experiment, cc, chosen, seeds, one, differs_in_seed_only=True, asked=seeds)
    first = every._replace(seeds=seeds[:1])
    if len(seeds) < 2:
        return first
    if drawn := experiment.drawn_starts(cc, **{**chosen, **own}):
        return every._replace(differs_in_seed_only=False, starts=drawn)
    if experiment.draws_more is False and not experiment.draws(chosen):
        return every if draws(one.canonical()) else first
    other = experiment.scenario(cc, **{**chosen, "seed": seeds[1]})
    same = _differs_in_seed_only(other, one)
    if same and not draws(one.canonical()):
        return first
    starts = None if same else experiment.jittered(cc, **{**chosen, **own})
    if starts:
        alike = one.starting(starts(other.seed)).model_copy(update={"seed": other.seed})
        starts = starts if alike.is_like(other) else None
    second = None if same else other
    return every._replace(differs_in_seed_only=same, second=second, starts=starts)


def is_another(scenario: Scenario, first: Scenario) -> bool:
    """Whether it may run otherwise than the first one, which has another seed."""
    return not _differs_in_seed_only(scenario, first) or draws(first.canonical())


def _differs_in_seed_only(scenario: Scenario, first: Scenario) -> bool:
    return first.model_copy(update={"seed": scenario.seed}).is_like(scenario)


def repeats(
    experiment: Experiment,
    cc: str,
    *,
    grid: Iterable[Mapping[str, Any]] | None = None,
    seeds: Iterable[int | None] = (None,),
    **settings: Any,
) -> Iterator[Repeated]:
    """Yield the points of `experiment` for the algorithm under test `cc`, each with the seeds that
    change something there.

    `grid` is the experiment's own by default; seed None stands for the experiment's own.
    `settings` (recovery, stop_time, jitter, profile, sysctl) hold for all.  Raises `UsageError` for
    a wrong value.
    """
    seeds = list(seeds)
    length = {name: settings[name] for name in ("stop_time",) if name in settings}
    for parameters in experiment.product({}, **length) if grid is None else grid:
        yield repeat(experiment, cc, {**parameters, **settings}, seeds)


def expand(
    experiment: Experiment,
    cc: str,
    *,
    grid: Iterable[Mapping[str, Any]] | None = None,
    seeds: Iterable[int | None] = (None,),
    **settings: Any,
) -> Iterator[Point]:
    """Yield a point for each of these seeds: what :func:`repeats` yields, one by one."""
    for repeated in repeats(experiment, cc, grid=grid, seeds=seeds, **settings):
        yield from repeated.points()
