"""The front page of what serves transfers: completion times of each scheme over load."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from markupsafe import Markup

from ccperf.runs.metrics import metric_named
from ccperf.site import small
from ccperf.site.differences import DifferenceCell, difference_cell
from ccperf.site.experiment_data import first_view
from ccperf.site.overview import Multiple, Overview
from ccperf.site.scores import OF_TRANSFERS
from ccperf.site.tables import MISSING, figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ccperf.evidence.paired import Difference
    from ccperf.evidence.rows import Row
    from ccperf.evidence.summary import Summary
    from ccperf.site.inventory import Group, Page
    from ccperf.site.scores import Criterion


@dataclass(frozen=True)
class Line:
    """The points of an experiment that differ in one parameter only, the load most often."""

    group: Group
    metric: str
    #: The parameter, and its values in their order; no name where there is one point alone.
    over: str
    values: tuple[str, ...]
    #: The other parameters that have several values.
    where: Mapping[str, str]
    #: The settings that differ among what is compared.
    settings: Mapping[str, str]
    #: By value and algorithm.
    pages: Mapping[tuple[str, str], Page]

    @property
    def title(self) -> str:
        """The experiment, and where on its grid."""
        where = (v if v[:1].isalpha() else f"{name} {v}" for name, v in self.where.items())
        settings = (f"{name} = {value}" for name, value in self.settings.items())
        return ", ".join([self.group.title, *where, *settings])


@dataclass(frozen=True)
class LoadCell:
    """What a scheme reaches at a point, and how that differs from the baseline's."""

    summary: Summary | None
    difference: DifferenceCell | None

    @property
    def text(self) -> str:
        """The value as printed."""
        return figures(self.summary.mean) if self.summary else MISSING


@dataclass(frozen=True, eq=False)
class LoadOverview(Overview):
    """A front page whose rows are points, since the point matters: a scheme is good at a load."""

    is_over_load: ClassVar[bool] = True

    @cached_property
    def criteria(self) -> list[Criterion]:
        """The questions about transfers come first."""
        there = [each for each in self.scores.criteria if self.rows(each)]
        return sorted(there, key=lambda each: each.name not in OF_TRANSFERS)

    def lines(self, criterion: Criterion) -> list[Line]:
        """Return the lines that have values for a question."""
        return [line for group in self.rows(criterion) for line in _lines(group, criterion)]

    def cells(self, base: str, line: Line, value: str, names: Sequence[str]) -> list[LoadCell]:
        """Return the cells of a point's row, of each of these algorithms."""
        found = []
        for name in names:
            page = line.pages.get((value, name))
            summary = page.cell.summary(line.metric) if page else None
            row = self._row(base, line, name, page)
            found.append(LoadCell(summary, difference_cell(row) if row else None))
        return found

    def panels(self, base: str, criterion: Criterion) -> list[Multiple]:
        """Return a small figure for each line with several points: ratios to the baseline."""
        if not base:
            return []
        lines = [line for line in self.lines(criterion) if len(line.values) > 1]
        return [found for line in lines if (found := self._panel(base, line))]

    def _panel(self, base: str, line: Line) -> Multiple | None:
        series: dict[int, list[small.Point]] = {}
        for name, look in self.looks.items():
            points = list(self._ratios(base, line, name)) if name != base else []
            if points:
                series[look] = points
        if not series:
            return None
        title = metric_named(line.metric).title
        names = ", ".join(name for name, look in self.looks.items() if look in series)
        drawing = small.lines(
            series,
            line.values,
            (line.over, f"ratio to {base}"),
            f"{title} of {names} over {base}'s, against {line.over}",
        )
        chosen = {"base": base, "over": line.over, **line.where}
        return Multiple(line.title, self.href(line.group, line.metric, chosen), Markup(drawing))

    def _ratios(self, base: str, line: Line, name: str) -> Iterator[small.Point]:
        for place, value in enumerate(line.values):
            row = self._row(base, line, name, line.pages.get((value, name)))
            found = row.differences[0] if row else None
            if found and math.isfinite(found.size) and found.effect == "ratio":
                low, high = found.interval or (found.size, found.size)
                yield small.Point(place, *map(math.exp, (found.size, low, high)))

    def _row(self, base: str, line: Line, name: str, page: Page | None) -> Row | None:
        """Return the comparison at one point; None for the baseline itself."""
        row = self._rows(base).get((line.group.name, line.metric, name))
        found = self._by_point(base).get(
            (line.group.name, line.metric, name, page.cell.point.parameters) if page else ()
        )
        return row.at(found) if row and found else None

    def _rows(self, base: str) -> Mapping[tuple[str, str, str], Row]:
        if base not in self._known:
            rows = self.scores.against(base) if base else []
            self._known[base] = {(row.experiment, row.metric, row.side): row for row in rows}
        return self._known[base]

    def _by_point(self, base: str) -> Mapping[tuple[object, ...], Difference]:
        if base not in self._points:
            self._points[base] = {
                (*key, each.point): each
                for key, row in self._rows(base).items()
                for each in row.differences
            }
        return self._points[base]

    @cached_property
    def _known(self) -> dict[str, Mapping[tuple[str, str, str], Row]]:
        return {}

    @cached_property
    def _points(self) -> dict[str, Mapping[tuple[object, ...], Difference]]:
        return {}


def _lines(group: Group, criterion: Criterion) -> Iterator[Line]:
    """Yield the lines of an experiment, in the order of its points."""
    view, metric = first_view(group), criterion.metric_of(group)
    several = [name for name, values in view.axes.items() if len(values) > 1 and name != view.over]
    found: dict[tuple[tuple[str, ...], ...], dict[tuple[str, str], Page]] = {}
    for page in group.by_settings(group.compared):
        if page.cell.values(metric):
            where = tuple(page.point.get(name, "") for name in several)
            at = (page.point.get(view.over, ""), page.algorithm)
            found.setdefault((where, group.among_several(page)), {}).setdefault(at, page)
    for (where, settings), pages in found.items():
        values = _ordered(view.axes.get(view.over, [""]), pages)
        of_point = dict(zip(several, where, strict=True))
        of_settings = dict(zip(group.several, settings, strict=True))
        yield Line(group, metric, view.over, values, of_point, of_settings, pages)


def _ordered(values: Sequence[str], pages: Mapping[tuple[str, str], Page]) -> tuple[str, ...]:
    there = {value for value, _ in pages}
    return tuple(value for value in values if value in there)
