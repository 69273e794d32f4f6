"""What there are pages of: the cells of the databases, and what stands beside each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ccperf.algorithms import registry, roles
from ccperf.base.wording import counted
from ccperf.evidence.cells import NOT_GIVEN, SETTINGS
from ccperf.evidence.values import grid_of, in_order, order_key
from ccperf.experiments.catalogue import NAMED, answer
from ccperf.present.citation import bibliography, of_experiment
from ccperf.present.figures.palette import looks_of
from ccperf.runs.metrics import METRICS
from ccperf.site.naming import slug

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ccperf.evidence.cells import Cell, Record
    from ccperf.experiments.catalogue import Answer, Experiment


#: From so many seeds on a page stays small, and in a site of more than so many pages each does.
MANY_SEEDS = 5
MANY_PAGES = 1000


@dataclass
class Page:
    """A page of runs: one algorithm at one point, with the seeds that it was run with.

    It has the address of its first run, which it shows first.
    """

    cell: Cell
    #: The experiment's name; "" for a scenario that is of none.
    experiment: str
    #: Other pages of the same run, which other experiments share: they have the address of this.
    also: list[Page] = field(default_factory=list)
    #: Whether it has to stay small: it has many seeds, or is one of very many pages. It then leaves
    #: out metrics of the steady state, and digits that nobody reads.
    is_small: bool = False

    @cached_property
    def seeds(self) -> list[int]:
        """In their order."""
        return sorted(self.cell.runs)

    @cached_property
    def record(self) -> Record:
        """The run that is shown first."""
        return self.cell.records[self.seeds[0]]

    @property
    def id(self) -> str:
        """The id of the run that is shown first."""
        return self.record.row.id

    @property
    def runs(self) -> list[str]:
        """The ids of all runs, by seed."""
        return [self.cell.runs[seed] for seed in self.seeds]

    @property
    def folder(self) -> str:
        """Where its files are, from the site's root."""
        return f"runs/{slug(self.id)}"

    @property
    def href(self) -> str:
        """Its address, from the site's root."""
        return f"{self.folder}/index.html"

    @property
    def algorithm(self) -> str:
        """The algorithm under test, or those of the flows."""
        return self.cell.algorithm

    @cached_property
    def point(self) -> dict[str, str]:
        """The parameters without the algorithm under test."""
        return {k: str(v) for k, v in roles.parameters(self.record.row.parameters).items()}

    @cached_property
    def settings(self) -> dict[str, str]:
        """What else tells it from pages at the same point, as comparisons say it: parameters that
        are not the experiment's own (`profile`), then settings that are no parameters."""
        known = {each.name for each in self.described.parameters} if self.described else self.point
        more = {name: value for name, value in self.point.items() if name not in known}
        return {**more, **dict(self.cell.point.told)}

    @property
    def point_text(self) -> str:
        """The parameters in one line, and what else tells it apart."""
        return ", ".join(
            f"{name} = {value}" for name, value in {**self.point, **self.settings}.items()
        )

    @property
    def stamp(self) -> list[Any]:
        """What else its row in the overviews shows."""
        row = self.record.row
        return [
            *(self.cell.backend, self.cell.engine, row.label, str(self.record.database.name)),
            self.settings,
        ]

    def made_of(self, group: Group) -> list[Any]:
        """Return all that its page depends on: what has the same is the same page."""
        return [
            self.runs,
            self.is_small,
            self.stamp,
            self.algorithm,
            self.point,
            [other.experiment + other.point_text for other in self.also],
            [
                [axis.name, [[one.text, one.page.href if one.page else ""] for one in axis.values]]
                for axis in group.beside(self)
            ],
        ]

    @property
    def described(self) -> Experiment | None:
        """The catalogue's description of its experiment."""
        return NAMED.get(self.experiment)

    @property
    def title(self) -> str:
        """The experiment's title, or the scenario's label."""
        return self.described.title if self.described else self.record.row.called


@dataclass(frozen=True)
class Neighbour:
    """A value of a parameter (or an algorithm), and the page that differs by it only."""

    text: str
    page: Page | None
    is_here: bool


@dataclass(frozen=True)
class Axis:
    """What can be changed from a page: a parameter with the values that there are runs of."""

    name: str
    values: tuple[Neighbour, ...]

    @property
    def place(self) -> int:
        """Which value is this page's."""
        return next(index for index, value in enumerate(self.values) if value.is_here)

    @property
    def before(self) -> Page | None:
        """The page of the value before."""
        return self.values[self.place - 1].page if self.place else None

    @property
    def after(self) -> Page | None:
        """The page of the value behind."""
        following = self.values[self.place + 1 :]
        return following[0].page if following else None


@dataclass(frozen=True)
class Group:
    """An experiment with its pages; name "" for scenarios of one's own."""

    name: str
    pages: tuple[Page, ...]

    @property
    def described(self) -> Experiment | None:
        """The catalogue's description."""
        return NAMED.get(self.name)

    @property
    def papers(self) -> list[str]:
        """BibTeX of the papers whose experiment it is."""
        return [bibliography()[key] for key in of_experiment(self.name)]

    @property
    def title(self) -> str:
        """The experiment's title."""
        if self.described:
            return self.described.title
        return self.name or "Scenarios of your own"

    @cached_property
    def answer(self) -> Answer:
        """What its tables and figures show first."""
        return answer(self.name)

    @property
    def kind(self) -> registry.Kind:
        """What is under test; a congestion control unless the catalogue says otherwise."""
        return self.described.kind if self.described else "cc"

    @cached_property
    def measured(self) -> frozenset[str]:
        """The metrics that there are values of, those of classes of transfers among them."""
        return frozenset(
            name for page in self.pages for values in page.cell.metrics.values() for name in values
        )

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics that there are values of: the headlines, then in the order of tables."""
        names = dict.fromkeys((*self.answer.metrics, *METRICS))
        return [name for name in names if name in self.measured]

    @cached_property
    def headlines(self) -> list[str]:
        """The metrics that it is about and that there are values of."""
        return [name for name in self.metrics if name in self.answer.metrics]

    @property
    def href(self) -> str:
        """The experiment's page, from the site's root."""
        return f"experiments/{slug(self.name)}.html" if self.name else "index.html#own"

    @cached_property
    def parameters(self) -> list[str]:
        """The parameters that the experiment is known for, or that its points have."""
        if self.described:
            return [each.name for each in self.described.parameters]
        return list(dict.fromkeys(name for page in self.pages for name in page.point))

    @cached_property
    def settings(self) -> list[str]:
        """In what else pages differ, of what says the same once."""
        names = dict.fromkeys(name for page in self.pages for name in page.settings)
        columns = {
            name: tuple(page.settings.get(name, "") for page in self.pages) for name in names
        }
        last = {values: name for name, values in columns.items() if len(set(values)) > 1}
        return list(last.values())

    def setting(self, page: Page, name: str) -> str:
        """Return the value of one of its settings; "" where nothing is said of it."""
        usual = page.record.stop_time if name == "stop_time" else ""
        return page.settings.get(name, usual)

    @cached_property
    def maker(self) -> tuple[str, str]:
        """The backend and engine that most pages were made with: what of them is compared."""
        made = Counter((page.cell.backend, page.cell.engine) for page in self.pages)
        # Of several that are as frequent, one that does not depend on the order.
        return max(made, key=lambda key: (made[key], key))

    @cached_property
    def compared(self) -> list[Page]:
        """The pages that algorithms are compared by: means are of one backend and engine."""
        return [page for page in self.pages if (page.cell.backend, page.cell.engine) == self.maker]

    @cached_property
    def left_out(self) -> str:
        """Which runs are not among those that are compared; "" if none is."""
        others: Counter[str] = Counter()
        for page in self.pages:
            if (page.cell.backend, page.cell.engine) != self.maker:
                others[f"{page.cell.backend} {page.cell.engine[:8]}"] += len(page.runs)
        if not others:
            return ""
        backend, engine = self.maker
        left = " and ".join(f"{counted(n, 'run')} of {made}" for made, n in sorted(others.items()))
        return f"the values are of the runs of {backend} {engine[:8]}, not of {left}"

    @cached_property
    def several(self) -> dict[str, list[str]]:
        """The settings that differ among what is compared, with their values in order."""
        settings = {
            name: [self.said(page, name) for page in self.compared] for name in self.settings
        }
        return {
            name: in_order(name, filter(None, values), [self.name])
            for name, values in settings.items()
            if len({*values} - {""}) > 1
        }

    @property
    def by(self) -> str:
        """The first of these that `compare --by` takes; "" if there is none."""
        return next((name for name in self.several if name in SETTINGS), "")

    def said(self, page: Page, name: str) -> str:
        """Return the value of a setting as tables say it: a profile may be none."""
        return self.setting(page, name) or (NOT_GIVEN if name in SETTINGS else "")

    def among_several(self, page: Page) -> tuple[str, ...]:
        """Return a page's values of the settings that differ."""
        return tuple(self.said(page, name) for name in self.several)

    def by_settings(self, pages: Iterable[Page]) -> list[Page]:
        """Return pages in the order of those values, then as they were."""

        def places(page: Page) -> list[int]:
            pairs = zip(self.several.values(), self.among_several(page), strict=True)
            # Runs that are not compared may have others.
            return [values.index(value) if value in values else -1 for values, value in pairs]

        return sorted(pages, key=places)

    @cached_property
    def pooled(self) -> str:
        """What settings means over its points pool, as `compare` says; "" if none differs."""
        said = ", ".join(f"{name} ({', '.join(values)})" for name, values in self.several.items())
        return f"its points are of runs with different settings: {said}" if said else ""

    def label(self, page: Page, among: Sequence[Page]) -> str:
        """Return the algorithm of a page with the settings that differ among some."""
        words = (
            f"{name}={value}"
            for name in self.settings
            if (value := self.setting(page, name))
            and len({self.setting(other, name) for other in among}) > 1
        )
        return " ".join((page.algorithm, *words))

    @cached_property
    def algorithms(self) -> list[str]:
        """The algorithms under test, in alphabetical order."""
        return sorted({page.algorithm for page in self.pages}, key=_by_letters)

    @cached_property
    def axes(self) -> dict[str, list[str]]:
        """The values of each parameter that there are runs of, in order."""
        return {
            name: in_order(
                name, (page.point[name] for page in self.pages if name in page.point), [self.name]
            )
            for name in self.parameters
        }

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len({run for page in self.pages for run in page.runs})

    @property
    def grid(self) -> int:
        """How many points the catalogue has."""
        return sum(1 for _ in self.described.grid()) if self.described else 0

    @cached_property
    def _by_place(self) -> dict[tuple[Any, ...], Page]:
        return {_place(page, page.algorithm, page.point): page for page in reversed(self.pages)}

    def page(self, run: str) -> Page:
        """Return the first page that begins with a run."""
        return next(page for page in self.pages if page.id == run)

    def beside(self, page: Page) -> list[Axis]:
        """Return what can be changed from a page: each parameter, then the algorithm."""
        found = []
        for name in page.point:
            neighbours = [
                Neighbour(
                    value,
                    self._by_place.get(_place(page, page.algorithm, {**page.point, name: value})),
                    value == page.point[name],
                )
                for value in self.axes.get(name, [])
            ]
            found.append(Axis(name, tuple(one for one in neighbours if one.page or one.is_here)))
        others = [
            Neighbour(
                name, self._by_place.get(_place(page, name, page.point)), name == page.algorithm
            )
            for name in self.algorithms
        ]
        if self.name:
            found.append(Axis("algorithm", tuple(o for o in others if o.page or o.is_here)))
        return [axis for axis in found if len(axis.values) > 1]


@dataclass(frozen=True)
class Inventory:
    """All that a site shows."""

    groups: tuple[Group, ...]
    databases: tuple[str, ...]

    @cached_property
    def pages(self) -> list[Page]:
        """Every page of runs, once."""
        seen: dict[str, Page] = {}
        for group in self.groups:
            for page in group.pages:
                seen.setdefault(page.id, page)
        return list(seen.values())

    @cached_property
    def algorithms(self) -> list[str]:
        """Every algorithm under test in an experiment, in alphabetical order."""
        names = {name for group in self.groups if group.name for name in group.algorithms}
        return sorted(names, key=_by_letters)

    def compared(self, kind: registry.Kind) -> tuple[list[str], list[str]]:
        """The algorithms of a kind: the usual baselines, and the others in alphabetical order.

        One after the other they are the columns of the front page, and choose the colours.
        """
        groups = [group for group in self.groups if group.name and group.kind == kind]
        there = {name for group in groups for name in group.algorithms}
        declared = (name for g in groups if g.described for name in g.described.usual)
        usual = [name for name in dict.fromkeys((*registry.USUAL, *declared)) if name in there]
        return usual, sorted(there.difference(usual), key=_by_letters)

    def looks(self, kind: registry.Kind) -> dict[str, int]:
        """How each algorithm of a kind looks on all pages; empty where they are too many."""
        names = [name for names in self.compared(kind) for name in names]
        return dict(zip(names, looks_of(names), strict=False))

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return len({run for group in self.groups for page in group.pages for run in page.runs})


def inventory(cells: Iterable[Cell], databases: Sequence[str]) -> Inventory:
    """Arrange cells as pages by experiment: the catalogue's in its order, then others."""
    pages = []
    for cell in cells:
        first = cell.records[min(cell.runs)].row
        pages.append(Page(cell, first.experiment or ""))
    by_id: dict[str, list[Page]] = {}
    for page in pages:
        by_id.setdefault(page.id, []).append(page)
    for alike in by_id.values():
        for page in alike:
            page.also = [other for other in alike if other is not page]
            page.is_small = len(page.seeds) >= MANY_SEEDS or len(by_id) > MANY_PAGES
    names = [*NAMED, *sorted({page.experiment for page in pages} - {*NAMED, ""}), ""]
    grouped: dict[str, list[Page]] = {name: [] for name in names}
    for page in pages:
        grouped[page.experiment].append(page)
    groups = (Group(name, _sorted(name, members)) for name, members in grouped.items() if members)
    return Inventory(tuple(groups), tuple(databases))


def _place(page: Page, algorithm: str, point: dict[str, str]) -> tuple[Any, ...]:
    """Return what a page and its neighbours have in common but for one parameter."""
    cell = page.cell
    engine = (cell.backend, cell.engine, page.record.row.label if not page.experiment else None)
    return (algorithm, tuple(sorted(point.items())), engine, page.record.stop_time)


def _sorted(experiment: str, pages: Iterable[Page]) -> tuple[Page, ...]:
    """Sort the pages of an experiment by its parameters, then by the algorithm."""
    parameters = NAMED[experiment].parameters if experiment in NAMED else ()
    grids = {each.name: grid_of(each.name, [experiment]) for each in parameters}

    def key(page: Page) -> tuple[Any, ...]:
        values = [order_key(page.point.get(name, ""), grid) for name, grid in grids.items()]
        return values, _by_letters(page.algorithm), page.cell.backend, page.id

    return tuple(sorted(pages, key=key))


def _by_letters(name: str) -> tuple[str, str]:
    """What sorts names by their letters, large or small."""
    return name.lower(), name
