"""All differences between sides: algorithms over the same points, or two versions of a database."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ccperf.algorithms.registry import usual_first
from ccperf.evidence.cells import NOT_GIVEN, SETTINGS
from ccperf.evidence.left_out import left_out
from ccperf.evidence.paired import LEAST, difference
from ccperf.evidence.rows import Row, corrected, document
from ccperf.evidence.values import point_key
from ccperf.runs.metrics import named

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from ccperf.evidence.cells import Cell
    from ccperf.evidence.rows import Where
    from ccperf.present.notebook import Plot
    from ccperf.runs.metrics import Metric

#: What sides are.
Over: TypeAlias = Literal["algorithms", "databases", "backends", "values"]
#: Those that are compared algorithm by algorithm.
_BY_ALGORITHM = ("databases", "values")
#: Who lacks what neither of two sides has.
NEITHER = "neither"


@dataclass(frozen=True)
class Lack:
    """A metric that a side has not for some seed at a point; as a rule the one compared with it
    has."""

    experiment: str
    point: Where
    metric: str
    #: Who lacks it, and of whose comparison with the base that is.
    who: str
    side: str
    algorithm: str = ""
    #: Whether both have one with another seed.
    is_of_some: bool = False


@dataclass(frozen=True)
class Unpaired:
    """Seeds at a point with which only the one compared has a run. What failed left no run."""

    point: str
    #: Who lacks them, and of whose comparison with the base that is.
    who: str
    side: str
    seeds: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class Comparison:
    """The rows of a comparison, and what could not be compared."""

    base: str
    sides: tuple[str, ...]
    rows: tuple[Row, ...]
    #: Points of the base that a side has not, and of a side that the base has not (by side), as
    #: text.
    missing: Mapping[str, tuple[str, ...]]
    beyond: Mapping[str, tuple[str, ...]]
    #: Points that a side has several cells of, of which the newest was taken (by side), as text.
    several: Mapping[str, tuple[str, ...]]
    #: Seeds at points of both with which only one side has a run.
    unpaired: tuple[Unpaired, ...]
    #: Values that only one side has.
    lacking: tuple[Lack, ...]
    #: Values that neither side has with some seed and both with another; `who` says so.
    neither: tuple[Lack, ...]
    #: Where what a metric measures did not come to pass with some seed, of either side.
    never: tuple[Lack, ...]
    #: Means over what has ended, where a side leaves more unfinished with some seed.
    less_finished: tuple[Lack, ...]
    #: Settings, which are no parameters of an experiment, of which rows pool several values.
    pooled: Mapping[str, tuple[str, ...]]
    #: How many cells were compared, and in how many of them a seed changes nothing.
    cells: int
    deterministic: int
    #: What of the catalogue is not in it, and what is otherwise, in words.
    left_out: tuple[str, ...] = ()

    def plot(self, metric: str | None = None) -> Plot:
        """Return the relative differences by one metric with their intervals; a notebook shows it.

        By default the first metric; raises `UsageError` for one that was not compared.
        """
        from ccperf.evidence import shown
        from ccperf.present.notebook import Plot

        return Plot(shown.figure(self, metric))

    def to_pandas(self) -> Any:
        """Return the rows as a data frame of pandas; raises `UsageError` without it."""
        return self._frame("pandas")

    def to_polars(self) -> Any:
        """Return the rows as a data frame of polars; raises `UsageError` without it."""
        return self._frame("polars")

    def _frame(self, library: str) -> Any:
        from ccperf.base.libraries import frame
        from ccperf.evidence import shown

        return frame(shown.columns([document(row) for row in self.rows]), library)

    def __str__(self) -> str:
        """Return the table that `ccperf compare` prints, with its remarks."""
        from ccperf.evidence.text import text

        return text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from ccperf.evidence import shown

        return shown.html(self)


def compare(
    sides: Mapping[str, Sequence[Cell]],
    metrics: Sequence[str] | Callable[[str], Sequence[str]],
    *,
    over: Over = "algorithms",
    each: bool = False,
    least: float = LEAST,
    is_whole: bool = True,
) -> Comparison:
    """Compare each side with the first, over the points and seeds that both have.

    Sides are algorithms, compared with one engine; or databases, compared algorithm by algorithm
    whatever engine they were made with; or an algorithm on several backends; or values of a
    parameter, algorithm by algorithm, with one engine. `metrics` may depend on the experiment,
    whose name it is then given. With `each` there is a row for each
    point, else one for each experiment and metric (of databases, and algorithm). Relative
    differences below `least` do not matter. Probabilities are corrected for the number of points;
    those of a part of a comparison (not `is_whole`) are left to `corrected`.
    """
    metrics_of = metrics if callable(metrics) else lambda _: metrics
    base, *others = sides
    keyed = {name: _by_key(cells, over) for name, cells in sides.items()}
    several = {
        name: tuple(_text(of[-1], over) for of in cells.values() if len(of) > 1)
        for name, cells in keyed.items()
    }
    newest = {name: {key: of[-1] for key, of in cells.items()} for name, cells in keyed.items()}
    found = _Found(base, least)
    missing: dict[str, tuple[str, ...]] = {}
    beyond: dict[str, tuple[str, ...]] = {}
    unpaired: list[Unpaired] = []
    compared: dict[tuple[str, Hashable], Cell] = {}
    told: dict[str, dict[str, None]] = {}
    for name in others:
        absent = []
        for key, cell in newest[base].items():
            other = newest[name].get(key)
            seeds = common_seeds(cell, other) if other else []
            if other is None or not seeds:
                absent.append(_text(cell, over))
                continue
            compared[base, key], compared[name, key] = cell, other
            for who, own, paired in ((base, cell, other), (name, other, cell)):
                if lacks := _lacked_seeds(own, paired):
                    unpaired.append(Unpaired(_text(cell, over), who, name, lacks))
            for point in (cell.point, other.point):
                told.setdefault(point.experiment, {}).update(dict.fromkeys(dict(point.told)))
            found.add(_pair(cell, other, seeds, name, over), metrics_of(cell.point.experiment))
        missing[name] = tuple(absent)
        beyond[name] = tuple(
            _text(cell, over) for key, cell in newest[name].items() if key not in newest[base]
        )
    rows = found.rows if each else [_pooled(group) for group in _groups(found.rows)]
    rows = _with_lacks(rows, base, [*found.lacking, *found.less_finished], each)
    if each:
        rows = _by_point(rows)
    return Comparison(
        base,
        tuple(others),
        tuple(corrected(rows) if is_whole else rows),
        missing,
        beyond,
        several,
        tuple(unpaired),
        tuple(found.lacking),
        tuple(found.neither),
        tuple(found.never),
        tuple(found.less_finished),
        _several(rows, told),
        len(compared),
        sum(cell.is_deterministic for cell in compared.values()),
        # The values of a parameter are sides, so that points have it no more.
        left_out(compared.values()) if is_whole and over != "values" else (),
    )


@dataclass
class _Found:
    """What pairs of cells have shown: differences, and what there is no value of."""

    base: str
    least: float
    rows: list[Row] = field(default_factory=list)
    lacking: list[Lack] = field(default_factory=list)
    neither: list[Lack] = field(default_factory=list)
    never: list[Lack] = field(default_factory=list)
    less_finished: list[Lack] = field(default_factory=list)

    def add(self, pair: _Pair, metrics: Iterable[str]) -> None:
        asked = {name: named(name) for name in metrics}
        self.rows += _rows(pair, asked, self.least)
        self.lacking += _lacks(pair, asked, self.base, _is_missing)
        self.neither += _lacks_of_both(pair, asked)
        # Few metrics measure what need not come to pass.
        may_never = {name: of for name, of in asked.items() if of and of.asked_with}
        self.never += _lacks(pair, may_never, self.base, _is_never)
        of_ended = {name: of for name, of in asked.items() if of and of.unfinished}
        self.less_finished += _lacks(pair, of_ended, self.base, _is_less_finished)


def common_seeds(one: Cell, other: Cell) -> list[int]:
    """Return the seeds that both have; what draws nothing stands for any."""
    if one.is_constant and other.is_constant:
        return list(one.metrics)
    both = dict.fromkeys((*one.metrics, *other.metrics))
    varying = [cell for cell in (one, other) if not cell.is_constant]
    return [seed for seed in both if all(seed in cell.metrics for cell in varying)]


def pairs(base: Cell, other: Cell, metric: str) -> list[tuple[float, float]]:
    """Return the values of both with each seed with which both have one."""
    values = _together(base, other, common_seeds(base, other))
    return [(a[metric], b[metric]) for a, b in values if metric in a and metric in b]


def _together(
    base: Cell, other: Cell, seeds: Iterable[int]
) -> list[tuple[Mapping[str, float], Mapping[str, float]]]:
    """Return the metrics of both by seed."""
    return [(base.at(seed) or {}, other.at(seed) or {}) for seed in seeds]


def _lacked_seeds(cell: Cell, other: Cell) -> tuple[int, ...]:
    """Return the seeds that only the other has; what draws nothing stands for any."""
    if cell.is_constant or other.is_constant:
        return ()
    return tuple(sorted(other.metrics.keys() - cell.metrics.keys()))


def _by_key(cells: Iterable[Cell], over: Over) -> dict[Hashable, list[Cell]]:
    """Return cells by what must be the same on both sides, the newest last.

    Points are in an order that does not depend on which run ended first, and which database was
    named first says nothing of when a run was made.
    """
    keyed: dict[Hashable, list[Cell]] = {}
    for cell in sorted(cells, key=_finished):
        keyed.setdefault(_key(cell, over), []).append(cell)
    ordered = sorted(
        keyed.items(),
        key=lambda each: (point_key(each[1][-1].point), usual_first(each[1][-1].algorithm)),
    )
    return dict(ordered)


def _finished(cell: Cell) -> str:
    """When the last run of a cell ended."""
    return max((record.row.finished_at for record in cell.records.values()), default="")


def _key(cell: Cell, over: Over) -> Hashable:
    if over == "databases":
        return cell.point, cell.algorithm, cell.backend
    if over == "values":
        # Releases of ns-3 are profiles, too: what they are run by may be another one.
        return cell.point, cell.algorithm, cell.backend, cell.engine.rpartition("/")[2]
    if over == "backends":
        return cell.point
    return cell.point, cell.backend, cell.engine


def _text(cell: Cell, over: Over) -> str:
    return f"{cell.point.text} {cell.algorithm}" if over in _BY_ALGORITHM else cell.point.text


@dataclass(frozen=True)
class _Pair:
    """Two cells at one point, as rows call them."""

    experiment: str
    point: Where
    side: str
    algorithm: str
    #: Whether a seed changes nothing on either side, or both have the same runs.
    is_exact: bool
    #: The metrics of both, by seed.
    values: list[tuple[Mapping[str, float], Mapping[str, float]]]


def _pair(base: Cell, other: Cell, seeds: Sequence[int], side: str, over: Over) -> _Pair:
    point, algorithm = _whose(base, other, over)
    # The same runs in two databases: what made them would make any other alike, too.
    is_same = over == "databases" and all(
        seed in base.runs and base.runs[seed] == other.runs.get(seed) for seed in seeds
    )
    is_exact = is_same or (base.is_deterministic and other.is_deterministic)
    values = _together(base, other, seeds)
    return _Pair(base.point.experiment, point, side, algorithm, is_exact, values)


def _rows(pair: _Pair, metrics: Mapping[str, Metric | None], least: float) -> list[Row]:
    rows = []
    for name, metric in metrics.items():
        both = [(a[name], b[name]) for a, b in pair.values if name in a and name in b]
        if not both or metric is None:
            continue
        found = difference(
            [a for a, _ in both],
            [b for _, b in both],
            metric.effect,
            point=pair.point,
            least=least,
            is_exact=pair.is_exact,
        )
        rows.append(Row(pair.experiment, name, pair.side, (found,), least, pair.algorithm))
    return rows


def _whose(base: Cell, other: Cell, over: Over) -> tuple[Where, str]:
    """Return a point as rows have it, and the algorithm where it is part of that.

    One database may have to tell it from others by words that the other does not need.
    """
    point = base.point.with_more(
        {name: value for name, value in other.point.told if name not in dict(base.point.told)}
    )
    if over in _BY_ALGORITHM:
        return (*point.parameters, ("algorithm", base.algorithm)), base.algorithm
    return point.parameters, ""


def _lacks(
    pair: _Pair,
    metrics: Mapping[str, Metric | None],
    base: str,
    lacks: Callable[[str, Mapping[str, float], Mapping[str, float]], bool],
) -> list[Lack]:
    """The metrics that a side lacks with some seed; `lacks` is told its values and the other's."""
    both = ((base, pair.values), (pair.side, [values[::-1] for values in pair.values]))
    return [
        Lack(pair.experiment, pair.point, metric, who, pair.side, pair.algorithm, is_of_some)
        for metric in metrics
        for is_of_some in (any(metric in own and metric in other for own, other in pair.values),)
        for who, values in both
        if any(lacks(metric, own, others) for own, others in values)
    ]


def _lacks_of_both(pair: _Pair, metrics: Mapping[str, Metric | None]) -> list[Lack]:
    """The metrics that neither side has with some seed, and both with another. What never comes is
    said of each side."""
    with_both = {
        metric: [(metric in own) + (metric in other) for own, other in pair.values]
        for metric, definition in metrics.items()
        if not (definition and definition.asked_with)
    }
    return [
        Lack(pair.experiment, pair.point, metric, NEITHER, pair.side, pair.algorithm, True)
        for metric, counts in with_both.items()
        if {0, 2} <= {*counts}
    ]


def _is_missing(metric: str, own: Mapping[str, float], others: Mapping[str, float]) -> bool:
    return metric not in own and metric in others


def _is_never(metric: str, own: Mapping[str, float], _: Mapping[str, float]) -> bool:
    definition = named(metric)
    return definition is not None and definition.is_never(own)


def _is_less_finished(metric: str, own: Mapping[str, float], others: Mapping[str, float]) -> bool:
    definition = named(metric)
    if definition is None or metric not in own or metric not in others:
        return False
    return definition.left(own) > definition.left(others)


def _with_lacks(rows: Iterable[Row], base: str, lacking: Sequence[Lack], each: bool) -> list[Row]:
    def key(of: Row | Lack) -> tuple[Hashable, ...]:
        return of.experiment, of.metric, of.side, of.point if each else of.algorithm

    found: dict[tuple[Hashable, ...], tuple[set[Where], set[Where]]] = {}
    for lack in lacking:
        found.setdefault(key(lack), (set(), set()))[lack.who != base].add(lack.point)
    none: tuple[set[Where], set[Where]] = (set(), set())
    of_rows = ((row, found.get(key(row), none)) for row in rows)
    return [replace(row, lacking_at=(frozenset(a), frozenset(b))) for row, (a, b) in of_rows]


def _groups(rows: Iterable[Row]) -> list[list[Row]]:
    groups: dict[tuple[str, str, str, str], list[Row]] = {}
    for row in rows:
        key = (row.experiment, row.algorithm, row.metric, row.side)
        groups.setdefault(key, []).append(row)
    # By experiment, algorithm and metric, so that the sides stand beside each other.
    order = {key: place for place, key in enumerate(dict.fromkeys(key[:3] for key in groups))}
    return [groups[key] for key in sorted(groups, key=lambda key: order[key[:3]])]


def _by_point(rows: Sequence[Row]) -> list[Row]:
    """Return rows of single points so that the metrics and sides of a point are together."""
    order = {name: place for place, name in enumerate(dict.fromkeys(row.metric for row in rows))}
    points = {(row.experiment, row.point): place for place, row in reversed([*enumerate(rows)])}
    return sorted(rows, key=lambda row: (points[row.experiment, row.point], order[row.metric]))


def _pooled(rows: Sequence[Row]) -> Row:
    """Return one row for all points of an experiment."""
    return replace(rows[0], differences=tuple(found for row in rows for found in row.differences))


def _several(rows: Iterable[Row], told: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    """Return the values of what tells points apart beside their parameters, where one row has
    several."""
    several: dict[str, dict[str, None]] = {}
    for row in rows:
        points = [dict(found.point) for found in row.differences]
        settings = {
            name: [point[name] for point in points if name in point]
            for name in told.get(row.experiment, ())
        }
        settings |= {name: [point.get(name, NOT_GIVEN) for point in points] for name in SETTINGS}
        for name, values in settings.items():
            if len({*values}) > 1:
                several.setdefault(name, {}).update(dict.fromkeys(values))
    return {name: tuple(values) for name, values in several.items()}
