"""What a campaign runs: the points of an experiment's grid, each with every seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ccperf.chance import draws
from ccperf.result import title
from ccperf.user_code.names import label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ccperf.catalogue import Experiment
    from ccperf.scenario import Scenario


@dataclass(frozen=True)
class Point:
    """One run to make: a scenario, and the point of an experiment that it is, if it is one."""

    scenario: Scenario
    experiment: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Call users' algorithms by their labels: parameters are stored and published."""
        shown = {name: label(v) if isinstance(v, str) else v for name, v in self.parameters.items()}
        object.__setattr__(self, "parameters", shown)

    @property
    def title(self) -> str:
        """The experiment with its parameters, or the scenario's label."""
        return title(self.experiment, self.parameters) or self.scenario.label or "scenario"


def seeds_at(
    experiment: Experiment,
    cc: str,
    parameters: Mapping[str, Any],
    seeds: Sequence[int | None],
    **settings: Any,
) -> Sequence[int | None]:
    """Those of `seeds` that are worth a run at a point: where nothing is drawn, the first one."""
    if len(seeds) < 2:
        return seeds
    one, other = (
        experiment.scenario(cc, **{**parameters, **settings, "seed": seed}) for seed in seeds[:2]
    )
    same = one.model_copy(update={"seed": other.seed}).hash == other.hash
    return seeds[:1] if same and not draws(one.canonical()) else seeds


def expand(
    experiment: Experiment,
    cc: str,
    *,
    grid: Iterable[Mapping[str, Any]] | None = None,
    seeds: Iterable[int | None] = (None,),
    **settings: Any,
) -> Iterator[Point]:
    """Yield the points of `experiment` for the algorithm under test `cc`, each with every seed
    that changes something there (see :func:`seeds_at`).

    `grid` is the experiment's own by default; seed None stands for the experiment's own.
    `settings` (recovery, stop_time) hold for all.  Raises `UsageError` for a wrong value.
    """
    seeds = list(seeds)
    length = {name: settings[name] for name in ("stop_time",) if name in settings}
    for parameters in experiment.product({}, **length) if grid is None else grid:
        for seed in seeds_at(experiment, cc, parameters, seeds, **settings):
            chosen = {**parameters, **settings, **({} if seed is None else {"seed": seed})}
            labels = experiment.setup(cc, **chosen).labels
            yield Point(experiment.scenario(cc, **chosen), experiment.name, labels)
