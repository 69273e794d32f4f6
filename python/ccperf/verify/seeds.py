"""The published tables against our own runs of the published command lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ccperf import campaign
from ccperf.base.process import cores
from ccperf.experiments import programs
from ccperf.experiments.published import Published, published
from ccperf.runs.metrics import METRICS
from ccperf.verify.side_by_side import side_by_side

if TYPE_CHECKING:
    from ccperf.runs.backends import Backend, Progress
    from ccperf.runs.result import Result


@dataclass(frozen=True)
class Row:
    """One published value and ours."""

    experiment: str
    number: int
    column: str
    metric: str
    published: float
    #: None if the run has no such value.
    ours: float | None

    @property
    def difference(self) -> float | None:
        """Ours minus the published value."""
        return None if self.ours is None else self.ours - self.published

    @property
    def equal(self) -> bool:
        """Whether both are printed alike: with two decimals, as published; counts must be exact."""
        if self.ours is None:
            return False
        if METRICS[self.metric].kind == "count":
            return self.ours == self.published
        return printed(self.ours) == printed(self.published)


def printed(value: float) -> str:
    """A value as the published tables print it."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text


def compare(
    backend: Backend,
    *,
    pages: Sequence[Published] | None = None,
    recovery: str | None = None,
    jobs: int | None = None,
    done: Callable[[Published], None] = lambda _: None,
) -> Iterator[Row]:
    """Run each page's command line and yield a row for each of its values, page by page.

    ``recovery`` replaces the one that the tables were made with.

    Raises:
        RunError: if a run fails.
    """
    pages = published() if pages is None else pages

    def run(page: Published, progress: Progress) -> tuple[int, Result]:
        line = programs.parse([page.command])
        scenario, _ = programs.scenario(line.with_recovery(recovery) if recovery else line)
        result = campaign.simulate(campaign.Point(scenario, page.experiment), backend, progress)
        done(page)
        return page.number, result

    results = dict(side_by_side(pages, run, jobs or cores()))
    for page in pages:
        for table, column, metric, value in page.values():
            ours = getattr(results[page.number], table).get(column, {}).get(metric)
            yield Row(page.experiment, page.number, column, metric, value, ours)
