"""Many runs as one thing: a table for pandas, a comparison, a figure."""

from __future__ import annotations

import html
import shutil
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from itertools import compress
from pathlib import Path
from tempfile import mkdtemp
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, overload

from ccperf.algorithms import roles
from ccperf.algorithms.user_code import names as user_names
from ccperf.api import asked, tidy
from ccperf.base.columns import table
from ccperf.base.libraries import frame
from ccperf.base.wording import counted
from ccperf.errors import UsageError, unknown
from ccperf.evidence import cells, sweeps
from ccperf.evidence.by_parameter import by_parameter
from ccperf.evidence.chosen import Algorithms, spellings
from ccperf.evidence.compare import compare
from ccperf.evidence.paired import LEAST
from ccperf.evidence.text import digits
from ccperf.evidence.versions import versioned
from ccperf.experiments.catalogue import answer
from ccperf.present import laid_over, notebook
from ccperf.present.figures import adjusted
from ccperf.runs.metrics import metric_named
from ccperf.store import Store

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ccperf.api.asked import Algorithm
    from ccperf.evidence.cells import Cell
    from ccperf.evidence.compare import Comparison
    from ccperf.runs.metrics import Metric, Scope
    from ccperf.runs.result import Result
    from ccperf.store import RunRow

#: So many rows are shown where not all are.
_SHOWN = 10


class Folder:
    """A folder that is there as long as somebody has this."""

    def __init__(self) -> None:
        self.path = Path(mkdtemp(prefix="ccperf-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


class Runs(Sequence["Result"]):
    """Runs in the order in which they were asked for; each is a `Result`, read when it is wanted.

    `to_pandas` has their metrics as a table, `compare` says which algorithm is better, `plot` draws
    a metric against a parameter, `overlay` the runs over time, `where` takes some of them.
    """

    def __init__(self, rows: Sequence[tuple[Path, RunRow]], *, keeps: Folder | None = None) -> None:
        """Take runs with their databases; `keeps` is a folder that has to last as long."""
        self._rows = list(rows)
        self._keeps = keeps

    @classmethod
    def at(
        cls,
        databases: Sequence[Path],
        keys: Iterable[tuple[str, str | None, Mapping[str, Any]]],
        keeps: Folder | None = None,
    ) -> Runs:
        """The runs with these ids, experiments and parameters, each once."""
        there: dict[tuple[str, str | None, str], tuple[Path, RunRow]] = {}
        for path in databases:
            with Store(path, "r") as store:
                for row in store.runs():
                    there.setdefault(_key(row), (path, row))
        wanted = dict.fromkeys((run, of, _text(parameters)) for run, of, parameters in keys)
        return cls([there[key] for key in wanted], keeps=keeps)

    # A sequence of results.

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Result: ...

    @overload
    def __getitem__(self, index: slice) -> Runs: ...

    def __getitem__(self, index: int | slice) -> Result | Runs:
        """One run with its recording; of a slice, those runs."""
        if isinstance(index, slice):
            return self._some(self._rows[index])
        path, row = self._rows[index]
        with Store(path, "r") as store:
            return store.load(row.id, row.experiment, row.parameters)

    def __iter__(self) -> Iterator[Result]:
        """One run after the other; their databases, which are checked when opened, are so once."""
        with ExitStack() as stack:
            stores = {path: stack.enter_context(Store(path, "r")) for path in self.databases}
            for path, row in self._rows:
                yield stores[path].load(row.id, row.experiment, row.parameters)

    def __repr__(self) -> str:
        text = "; ".join(f"{name} {_few(values)}" for name, values in self._varying().items())
        experiments = _few(dict.fromkeys(str(of["experiment"]) for of in self._described))
        return f"<Runs {experiments}: {counted(len(self), 'run')}{f'; {text}' if text else ''}>"

    def where(self, **values: Any) -> Runs:
        """Those at these points: `where(cc="cubic", k=[1, 2], seed=range(1, 4))`.

        Args:
            values: of a parameter, of `cc` (`qdisc`, `routing`), `seed` or `experiment`; one or
                several.

        Raises:
            UsageError: for a parameter that no run has, or if none is left.
        """
        known = list(dict.fromkeys(name for of in self._described for name in of))
        wanted: dict[str, set[str]] = {}
        for name, given in values.items():
            if name not in known:
                raise UsageError(name, unknown("parameter of these runs", name, known))
            words = (str(asked.word(value)) for value in asked.several(given))
            wanted[name] = {spelt for text in words for spelt in spellings(text)}
        rows = [
            row
            for row, of in zip(self._rows, self._described, strict=True)
            if all(str(of.get(name)) in texts for name, texts in wanted.items())
        ]
        if not rows:
            there = {name: sorted({str(of.get(name)) for of in self._described}) for name in wanted}
            text = "; ".join(f"{name} is {_few(found)}" for name, found in there.items())
            raise UsageError("where", f"no run is there; {text}")
        return self._some(rows)

    @property
    def databases(self) -> list[Path]:
        """The databases that the runs are in."""
        return list(dict.fromkeys(path for path, _ in self._rows))

    # What they say.

    def to_pandas(self, scope: Scope | None = None) -> Any:
        """Return the metrics as a data frame of pandas: a row for each run and subject.

        Columns: `run`, `experiment`, what is under test (`cc`, `qdisc` or `routing`), the
        parameters, `seed`, `backend`, `scope` (flow, link, network or class), `subject` (`flow_1`,
        a link, `net`, `small`), then a column for each metric, in the unit that `ccperf list
        metrics` gives; NaN where a subject has none. With `scope` rows of that alone.

        Raises:
            UsageError: without pandas, or for another scope.
        """
        return frame(self._columns(scope), "pandas")

    def to_polars(self, scope: Scope | None = None) -> Any:
        """Return what `to_pandas` does as a data frame of polars; null where there is no value."""
        return frame(self._columns(scope), "polars")

    def compare(
        self,
        baseline: Algorithm | None = None,
        metric: str | Iterable[str] = (),
        *,
        by: str = "",
        each: bool = False,
        least: float = LEAST,
    ) -> Comparison:
        """Compare the algorithms, and say whether they really differ (docs/evidence.md).

        What is returned prints as a table, is shown by notebooks, and has `to_pandas`.

        Args:
            baseline: what the others are compared with; the first one if not given.
            metric: those compared; the headlines of each experiment if not given.
            by: a parameter, as ``qdisc``, or ``qdisc=fifo,codel``: each algorithm at the first
                value is compared with itself at the others.
            each: a row for each point, not for each experiment.
            least: the smallest relative difference that matters, below 1.

        Raises:
            UsageError: for an algorithm or a metric that there is not, or if there is one only.
        """
        headlines = asked.metrics(metric) or (lambda name: answer(name).metrics)
        if by:
            if baseline is not None:
                raise UsageError("baseline", "is an algorithm; of `by` the first value is the base")
            sides = by_parameter(self._cells, by, "by")
            return compare(sides, headlines, over="values", each=each, least=asked.least(least))
        rows = [row for _, row in self._rows]
        there = Algorithms(rows, ["these runs"])
        order = list(cells.by_algorithm(self._cells))
        if baseline is not None:
            name = asked.word(baseline)
            base = there.one(user_names.label(name), "baseline")
            order = [base, *(name for name in order if name != base)]
        if len(order) < 2:
            raise UsageError("compare", f"takes at least two; there is {', '.join(order)}")
        return compare(
            cells.by_algorithm(self._cells, order),
            headlines,
            each=each,
            least=asked.least(least),
        )

    def plot(
        self,
        x: str | None = None,
        y: str | None = None,
        *,
        base: Algorithm | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a metric against a parameter: means over seeds, with 95 % confidence intervals.

        There is a line for each algorithm, and for each value of what else varies; `where` leaves
        some out. Your own Matplotlib settings hold: style, fonts, and the cycle of colours.

        Args:
            x: the parameter; the experiment's own x axis if not given, or the only one that has
                several values.
            y: the metric; the experiment's first headline if not given.
            base: draw factors over the values of this algorithm, paired by seed.
            ax: the axes to draw into; new ones of a new figure of pyplot if not given.

        Returns:
            The Matplotlib axes.

        Raises:
            UsageError: for a parameter or metric that the runs do not have, or without Matplotlib.
        """
        about = answer(self._rows[0][1].experiment) if self._rows else answer(None)
        found = asked.metrics(y or about.metrics[0], "y")
        text = user_names.label(asked.word(base)) if base is not None else ""
        figure = sweeps.sweep(self._cells, x or self._over(about.over), found[0], text)
        return notebook.Plot(figure).onto(ax)

    def overlay(
        self,
        name: str = "time_series",
        *,
        panel: str = "",
        bin: str = "",
        sum: bool = False,
        log: str = "",
        labels: Mapping[str, str] = MappingProxyType({}),
    ) -> notebook.Plot:
        """Return one figure of these runs over each other, as `ccperf plot --overlay` draws it.

        A run has one colour, and is called by what tells it from the others.

        Args:
            name: the figure, e.g. ``"window"``; ``ccperf list figures`` has all.
            panel, bin, sum, log, labels: as for a `Result`'s `plot`.

        Returns:
            A plot, which a notebook shows; `save` writes it for a paper, and `onto` draws one panel
            into Matplotlib axes.

        Raises:
            UsageError: names the argument that is wrong, or what a run has nothing of.
        """
        if not self._rows:
            raise UsageError("overlay", "there is no run")
        results = list(self)
        figure = laid_over.laid_over(laid_over.described(name, results, sum=sum), results)
        return notebook.Plot(adjusted(figure, panel=panel, bin=bin, log=log, labels=labels))

    def site(self, folder: str | Path) -> Path:
        """Write the web site of all runs in these databases to a folder; return its first page."""
        from ccperf.site import build

        return build(self.databases, folder).index

    # Inner workings.

    def _some(self, rows: Sequence[tuple[Path, RunRow]]) -> Runs:
        return Runs(rows, keeps=self._keeps)

    @cached_property
    def _described(self) -> list[dict[str, Any]]:
        """What tells each run from the others, by name."""
        rows = [row for _, row in self._rows]
        return [
            {
                "experiment": row.called,
                tidy.kind(row): name,
                **roles.parameters(row.parameters),
                "seed": row.seed,
                "backend": row.backend,
            }
            for row, name in zip(rows, versioned(rows), strict=True)
        ]

    def _over(self, usual: str) -> str:
        """The parameter of the x axis if none is named. Raises `UsageError` where there is none."""
        there = {name for _, row in self._rows for name in roles.parameters(row.parameters)}
        varying = [name for name in self._varying() if name in there]
        if usual in varying:
            return usual
        if len(varying) == 1:
            return varying[0]
        if varying:
            raise UsageError("x", f"name one of {', '.join(varying)}, which have several values")
        hint = "no parameter of these runs has several values; `overlay` draws them over time"
        raise UsageError("x", hint)

    def _varying(self) -> dict[str, list[str]]:
        """The values of all that has several."""
        found: dict[str, dict[str, None]] = {}
        for of in self._described:
            for name, value in of.items():
                found.setdefault(name, {})[str(value)] = None
        return {name: list(of) for name, of in found.items() if len(of) > 1}

    @cached_property
    def _cells(self) -> list[Cell]:
        found = {_key(each.row): each for path in self.databases for each in cells.records(path)}
        return cells.gather(found[_key(row)] for _, row in self._rows)

    def _columns(self, scope: Scope | None) -> dict[str, list[Any]]:
        with ExitStack() as stack:
            stores = {path: stack.enter_context(Store(path, "r")) for path in self.databases}
            runs = [
                ({"run": row.id, **of}, stores[path].metrics(row.id))
                for (path, row), of in zip(self._rows, self._described, strict=True)
            ]
        return tidy.columns(runs, scope)

    def _headlines(self) -> tuple[list[str], list[list[str]]]:
        """A row for each of the first runs: what it is, and its experiment's headlines."""
        shown = self._some(self._rows[:_SHOWN])
        names = dict.fromkeys(
            name for _, row in shown._rows for name in answer(row.experiment).metrics
        )
        metrics = [metric_named(name) for name in names]
        rows = []
        with ExitStack() as stack:
            stores = {path: stack.enter_context(Store(path, "r")) for path in shown.databases}
            for (path, row), of in zip(shown._rows, shown._described, strict=True):
                tables = stores[path].metrics(row.id)
                point = roles.parameters(row.parameters).items()
                rows.append(
                    [
                        str(of.get(tidy.kind(row))),
                        " ".join([of["experiment"], *(f"{k}={v}" for k, v in point)]),
                        str(row.seed),
                        *(_headline(metric, tables.of(metric.scope)) for metric in metrics),
                    ]
                )
        heads = (metric.with_unit(name) for name, metric in zip(names, metrics, strict=True))
        whole = [["algorithm", "point", "seed", *heads], *rows]
        # Some experiments share their headlines, and have not all of them.
        kept = [not rows or any(row[i] for row in rows) for i in range(len(whole[0]))]
        head, *lines = ([*compress(line, kept)] for line in whole)
        return head, lines

    def __str__(self) -> str:
        """Return the first runs with their headlines, as a table."""
        more = len(self) - _SHOWN
        lines = [repr(self), table(*self._headlines())]
        return "\n".join([*lines, *([f"and {more} more"] if more > 0 else [])])

    def _repr_html_(self) -> str:
        more = len(self) - _SHOWN
        caption = f"<p>{html.escape(repr(self)[1:-1])}</p>"
        shown = caption + notebook.table(*self._headlines())
        return shown + (f"<p>and {more} more</p>" if more > 0 else "")


def _headline(metric: Metric, columns: Mapping[str, Mapping[str, float]]) -> str:
    value = metric.of_run(columns)
    return metric.without_value(columns.values()) if value is None else digits(value)


def _key(row: RunRow) -> tuple[str, str | None, str]:
    return row.id, row.experiment, _text(row.parameters)


def _text(parameters: Mapping[str, Any]) -> str:
    return repr(sorted((name, str(value)) for name, value in parameters.items()))


def _few(values: Iterable[str]) -> str:
    """Some values in a line: all of a few, the first and last of many."""
    found = list(values)
    return ", ".join(found) if len(found) <= 4 else f"{found[0]} to {found[-1]} ({len(found)})"
