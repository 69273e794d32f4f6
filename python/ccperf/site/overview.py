"""The front pages, one for each kind of algorithm: what is better, where, by how much."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlencode

from markupsafe import Markup

from ccperf import _native
from ccperf.base.expression import bare
from ccperf.evidence.summary import Summary
from ccperf.runs.metrics import metric_named
from ccperf.site import small
from ccperf.site.differences import DifferenceCell, differences
from ccperf.site.experiment_data import first_view, plane
from ccperf.site.scores import CRITERIA
from ccperf.site.tables import MISSING, figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ccperf.algorithms import registry
    from ccperf.site.inventory import Group
    from ccperf.site.scores import Criterion, Score, Scores

#: Title and file of each kind, in the order of pages; the first one there is the front page.
KINDS: Mapping[registry.Kind, tuple[str, str]] = {
    "cc": ("Congestion control", "congestion-control.html"),
    "qdisc": ("Data centre", "datacentre.html"),
    "routing": ("Load balancing", "loadbalance.html"),
}
#: With more columns, cells of the matrix say how they differ, and the value in their titles only.
_MOST_VALUES = 6


@dataclass(frozen=True)
class Multiple:
    """A small figure, and where a click on it leads."""

    title: str
    href: str
    drawing: Markup
    #: The point that it is of, as far as there is a choice.
    at: str = ""


@dataclass(frozen=True)
class Value:
    """A cell of the matrix: what an algorithm reaches, and how that differs from the baseline's."""

    score: Score | None
    difference: DifferenceCell | None
    #: Points at which what it measures never came, with some seed.
    never: int = 0
    #: Points of the algorithm that has most there.
    most: int = 0


@dataclass(frozen=True, eq=False)
class Overview:
    """One front page."""

    kind: registry.Kind
    title: str
    file: str
    groups: tuple[Group, ...]
    scores: Scores

    #: Whether its rows are points, not experiments.
    is_over_load: ClassVar[bool] = False

    @cached_property
    def algorithms(self) -> list[str]:
        """The columns: the usual baselines first."""
        usual, others = self.scores.inventory.compared(self.kind)
        return [*usual, *others]

    @cached_property
    def looks(self) -> dict[str, int]:
        """How each algorithm looks on all pages; where they are too many, the first have one."""
        found = self.scores.inventory.looks(self.kind)
        return found or {name: i for i, name in enumerate(self.algorithms[: small.MOST])}

    @property
    def undrawn(self) -> list[str]:
        """The algorithms that small figures have no look for."""
        return [name for name in self.algorithms if name not in self.looks]

    @cached_property
    def baselines(self) -> list[str]:
        """The algorithms that the others can be compared with; none if there is one alone."""
        found = self.scores.baselines(self.kind)
        return found if len({name for g in self.groups for name in g.algorithms}) > 1 else []

    def columns(self, criterion: Criterion) -> list[str]:
        """Return the algorithms that have a value, or never had one, for a question."""
        groups = self.rows(criterion)
        return [
            name
            for name in self.algorithms
            if any(
                self.scores.get(group.name, criterion.name, name)
                or self.scores.never(group.name, criterion.name, name)
                for group in groups
            )
        ]

    def is_wide(self, names: Sequence[str]) -> bool:
        """Whether these are so many columns that nothing has room beside them."""
        return len(names) > _MOST_VALUES

    @property
    def is_wide_somewhere(self) -> bool:
        """Whether some question's table is wide, so that nothing stands beside any of them."""
        return any(self.is_wide(self.columns(criterion)) for criterion in self.criteria)

    @cached_property
    def criteria(self) -> list[Criterion]:
        """The questions that some experiment has values for."""
        return [each for each in self.scores.criteria if self.rows(each)]

    def rows(self, criterion: Criterion) -> list[Group]:
        """Return the experiments that have values for a question."""
        return [g for g in self.scores.groups_with(criterion) if g.kind == self.kind]

    def sentences(self, base: str) -> list[tuple[str, str]]:
        """Return what is said of each algorithm against a baseline."""
        said = ((name, self.scores.sentence(base, name, 2)) for name in self.algorithms)
        return [(name, text) for name, text in said if text]

    def open(self, base: str) -> list[str]:
        """Return the algorithms of which one seed tells nothing, as a command line names them."""
        return [
            f"./{name}" if _native.is_user_code(bare(name)) else name
            for name in self.algorithms
            if base and name != base and self.scores.is_open(base, name)
        ]

    def values(self, base: str, criterion: Criterion, group: Group) -> list[Value]:
        """Return the cells of an experiment's row, of each algorithm."""
        against = self._against(base)
        cells = {name: against[name][group.name][criterion.name] for name in against}
        widest = max(cells.values(), key=lambda cell: cell.points, default=DifferenceCell())
        scores = {
            name: score
            for name in self.algorithms
            if (score := self.scores.get(group.name, criterion.name, name))
        }
        most = max((score.of for score in scores.values()), default=0)
        return [
            Value(
                _over_points(
                    scores.get(name),
                    *((widest, 0) if name == base else (cells.get(name, DifferenceCell()), 1)),
                ),
                _said(cells[name]) if name in cells else None,
                self.scores.never(group.name, criterion.name, name),
                most,
            )
            for name in self.columns(criterion)
        ]

    def _against(self, base: str) -> Mapping[str, Mapping[str, Mapping[str, DifferenceCell]]]:
        """Return the difference from a baseline, by algorithm, experiment and question."""
        if base not in self._differences:
            self._differences[base] = {
                name: differences(self.scores, base, name, self.groups)
                for name in self.algorithms
                if base and name != base
            }
        return self._differences[base]

    @cached_property
    def _differences(self) -> dict[str, Mapping[str, Mapping[str, Mapping[str, DifferenceCell]]]]:
        return {}

    def href(self, group: Group, metric: str, point: Mapping[str, str] | None = None) -> str:
        """Return the address of an experiment's page with a metric chosen, and a point."""
        return f"{group.href}#{urlencode({'metric': metric, **(point or {})})}"

    @cached_property
    def multiples(self) -> list[Multiple]:
        """The small figures of the experiments that have two headlines there."""
        return [found for group in self.groups if (found := self._multiple(group))]

    def _multiple(self, group: Group) -> Multiple | None:
        names, view = _plane(group), first_view(group)
        if not names:
            return None
        # With several settings of an algorithm: those that most algorithms have.
        alike: dict[tuple[str, ...], dict[str, tuple[float, float]]] = {}
        for page in group.by_settings(view.pages):
            at = {name: page.point.get(name) for name in view.axes}
            found = [page.cell.summary(name) for name in names]
            if at == view.at and found[0] and found[1]:
                places = alike.setdefault(group.among_several(page), {})
                places.setdefault(page.algorithm, (found[0].mean, found[1].mean))
        settings = max(alike, key=lambda one: len(alike[one]), default=())
        places = alike.get(settings, {})
        shown = {look: name for name, look in self.looks.items() if name in places}
        if not shown:
            return None
        x, y = (metric_named(name) for name in names)
        told = "; ".join(
            f"{name}: {', '.join(map(figures, places[name]))}" for name in shown.values()
        )
        drawing = small.plane(
            {subject: places[name] for subject, name in shown.items()},
            (x.with_unit(x.title), y.with_unit(y.title)),
            f"{x.title} and {y.title} of {told}",
        )
        said = {name: view.at[name] for name, values in view.axes.items() if len(values) > 1}
        said |= dict(zip(group.several, settings, strict=True))
        where = ", ".join(f"{name} = {value}" for name, value in said.items())
        return Multiple(group.title, self.href(group, names[1], view.at), Markup(drawing), where)


def _over_points(score: Score | None, cell: DifferenceCell, side: int) -> Score | None:
    """Return a score over the points of a difference, where it is over others: a value and a
    factor in one cell are of the same.

    The baseline's is over those of the difference that has most.
    """
    mean = cell.means[side]
    if score is None or not cell.points or math.isclose(score.summary.mean, mean, rel_tol=1e-9):
        return score
    return replace(score, summary=Summary(cell.seeds, mean, None, None), points=cell.points)


def _said(cell: DifferenceCell) -> DifferenceCell | None:
    """Return a difference that says something: the baseline may have no runs there."""
    return cell if cell.text != MISSING else None


def _plane(group: Group) -> list[str]:
    """Return what an experiment's small figure has on its axes: delay and throughput.

    Where it does not ask for both, its first two headlines.
    """
    asked = [c.metric_of(group) for c in CRITERIA if c.name in ("delay", "throughput")]
    throughput, delay = asked
    return [delay, throughput] if delay and throughput else plane(group)
