"""The score matrix: what each algorithm reaches in each experiment, by several criteria.

A score is the mean of a metric over the points of an experiment, each point counting once: the
geometric one of metrics whose differences are factors, as `compare` has it. Its interval comes from
the seeds: each seed gives one such mean. There is no number for all criteria together: which of
them matters is the reader's business.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean, geometric_mean
from typing import TYPE_CHECKING, Any

from ccperf.base.wording import counted
from ccperf.evidence.cells import whoever_sends
from ccperf.evidence.compare import compare
from ccperf.evidence.paired import LEAST
from ccperf.evidence.rows import corrected
from ccperf.evidence.summary import Summary, summarise
from ccperf.evidence.verdict import difference_unit, effect_text, percent
from ccperf.experiments.catalogue import answer
from ccperf.experiments.catalogue.answer import (
    CONVERGENCE,
    EST_QUEUE,
    FCT,
    FCT_P99,
    JAIN,
    JAIN_OF_SAMPLES,
    JAIN_OF_TOTALS,
    LARGE,
    QCT,
    QCT_P99,
    QUEUE,
    RESPONSE,
    RETRANSMITTED,
    SETTLING,
    SMALL,
    SMALL_P99,
    SRTT,
    THROUGHPUT,
    TIMEOUTS,
    UNFINISHED,
    USED,
)
from ccperf.runs.metrics import metric_named
from ccperf.site.kept import row_of, row_values, summary_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ccperf.algorithms import registry
    from ccperf.evidence.cells import Cell
    from ccperf.evidence.rows import Row
    from ccperf.site.inventory import Group, Inventory

    #: Given a group, a name for what is made of it, and how to make that (plain values): returns
    #: what was made, now or by an earlier build.
    Recall = Callable[[Group, str, Callable[[], Any]], Any]


@dataclass(frozen=True)
class Criterion:
    """One way to look at an algorithm; an experiment has the metric for it that it declares."""

    name: str
    title: str
    #: All are good in the same direction.
    metrics: tuple[str, ...]
    #: What more of it, and less of it, is called.
    more: str
    less: str
    #: Whether flows without end are asked for it where their experiment declares nothing.
    is_general: bool = False
    #: Whether transfers of schemes are asked for it where their experiment declares nothing.
    is_of_schemes: bool = False
    #: What it is called where there is little room.
    tab: str = ""

    @property
    def short(self) -> str:
        """What it is called on a button."""
        return self.tab or self.title

    @property
    def higher_is_better(self) -> bool:
        """In which direction it is good."""
        return metric_named(self.metrics[0]).better == "higher"

    def has(self, metric: str) -> bool:
        """Whether it is about this metric.

        A class of transfers that no criterion names is all that its experiment asks about: what
        holds of it holds of the plain metric.
        """
        if metric in self.metrics:
            return True
        of, _, plain = metric.rpartition(".")
        named = any(metric in other.metrics for other in CRITERIA)
        return bool(of) and not named and plain in self.metrics

    def metric_of(self, group: Group) -> str:
        """Return the metric that an experiment has for it; "" if it does not ask for it."""
        declared = next((name for name in group.headlines if self.has(name)), "")
        leads_with = metric_named(group.answer.metrics[0]).scope
        if group.kind == "cc":
            asked = self.is_general and leads_with != "class"
        else:
            asked = self.is_of_schemes
        usual = self.metrics[0] if asked and self.metrics[0] in group.measured else ""
        return declared or usual


CRITERIA = (
    Criterion(
        "throughput",
        "Throughput",
        (USED, THROUGHPUT),
        "more throughput",
        "less throughput",
        is_general=True,
    ),
    Criterion(
        "delay",
        "Delay",
        (SRTT, QUEUE, EST_QUEUE),
        "more delay",
        "less delay",
        is_general=True,
    ),
    Criterion(
        "fairness",
        "Fairness",
        (JAIN, JAIN_OF_SAMPLES, JAIN_OF_TOTALS),
        "a fairer share",
        "a less fair share",
    ),
    Criterion(
        "loss",
        "Loss",
        (RETRANSMITTED, TIMEOUTS),
        "more loss",
        "less loss",
        is_general=True,
    ),
    Criterion(
        "convergence",
        "Convergence",
        (CONVERGENCE, SETTLING, RESPONSE),
        "slower convergence",
        "faster convergence",
    ),
    Criterion(
        "completion",
        "Completion time",
        (FCT, QCT),
        "longer completions",
        "shorter completions",
    ),
    Criterion(
        "small",
        "Completion time of small flows",
        (SMALL,),
        "longer completions of small flows",
        "shorter completions of small flows",
        is_of_schemes=True,
        tab="Small flows",
    ),
    Criterion(
        "tail",
        "Slowest 1 % of small flows",
        (SMALL_P99, FCT_P99, QCT_P99),
        "a longer tail",
        "a shorter tail",
        tab="Slowest 1 %",
    ),
    Criterion(
        "large",
        "Completion time of large flows",
        (LARGE,),
        "longer completions of large flows",
        "shorter completions of large flows",
        is_of_schemes=True,
        tab="Large flows",
    ),
    Criterion("unfinished", "Unfinished", (UNFINISHED,), "more left over", "less left over"),
)

#: Those about transfers.
OF_TRANSFERS = ("completion", "small", "tail", "large", "unfinished")
#: Algorithms that others are compared with where there are too many to compare all pairs.
_ALL_PAIRS = 6


@dataclass(frozen=True)
class Score:
    """One cell of the matrix."""

    metric: str
    summary: Summary
    #: Points that it is the mean of, and all that the algorithm has there.
    points: int
    of: int

    @property
    def unit(self) -> str:
        """The metric's unit; empty for ratios."""
        return metric_named(self.metric).shown_unit


@dataclass(frozen=True)
class Finding:
    """Experiments in which one algorithm has more, or less, of a criterion than the baseline."""

    criterion: Criterion
    is_more: bool
    rows: tuple[Row, ...]
    #: Experiments in which the two were compared by it.
    of: int

    @property
    def is_better(self) -> bool:
        """Whether that is good."""
        return self.is_more == self.criterion.higher_is_better

    def text(self, *, is_first: bool) -> str:
        """Return `higher utilisation in 14 of 26 experiments (x1.02 to x1.9)`; only the first of a
        sentence says of what the numbers are."""
        what = self.criterion.more if self.is_more else self.criterion.less
        of = counted(self.of, "experiment") if is_first else self.of
        text = f"{what} in {len(self.rows)} of {of}"
        kinds = {
            (m.effect, difference_unit(m)) for m in (metric_named(row.metric) for row in self.rows)
        }
        if len(kinds) > 1:
            return text
        ((effect, unit),) = kinds
        none = 1 if effect == "ratio" else 0
        known = [row.size.mean for row in self.rows if row.size.mean is not None]
        # Where one side is 0 at some point, the others may be alike in the mean.
        sizes = sorted(size for size in known if size != none and (size > none) == self.is_more)
        if not sizes:
            return text
        ends = dict.fromkeys(effect_text(effect, size) for size in (sizes[0], sizes[-1]))
        said = " to ".join(ends) + (f" {unit}" if effect == "difference" and unit else "")
        return f"{text} ({said})"


class Scores:
    """The matrix of an inventory, and the differences behind it."""

    def __init__(self, inventory: Inventory, recall: Recall | None = None) -> None:
        self.inventory = inventory
        self.groups = tuple(group for group in inventory.groups if group.name)
        self.algorithms = inventory.algorithms
        self._recall = recall or (lambda _group, _what, make: make())
        self._scores = {
            (group.name, criterion): {name: _score_of(values) for name, values in found.items()}
            for group in self.groups
            for criterion, found in self._recall(group, "scores", partial(_columns, group)).items()
        }
        self._never: dict[tuple[str, str], dict[str, int]] = {
            (group.name, criterion): dict(found)
            for group in self.groups
            for criterion, found in self._recall(group, "never", partial(_nevers, group)).items()
        }
        self._rows: dict[str, list[Row]] = {}

    def get(self, group: str, criterion: str, algorithm: str) -> Score | None:
        """Return a cell of the matrix; None without a value."""
        return self._scores[group, criterion].get(algorithm)

    def never(self, group: str, criterion: str, algorithm: str) -> int:
        """Return at how many points what a cell measures never came, with some seed."""
        return self._never[group, criterion].get(algorithm, 0)

    def groups_with(self, criterion: Criterion) -> list[Group]:
        """Return the experiments that have a value of a criterion."""
        return [group for group in self.groups if self._scores[group.name, criterion.name]]

    @property
    def criteria(self) -> list[Criterion]:
        """Return those criteria that there are values of."""
        return [criterion for criterion in CRITERIA if self.groups_with(criterion)]

    def criteria_of(self, groups: Sequence[Group]) -> list[Criterion]:
        """Return those that some of these experiments have values of."""
        return [
            criterion
            for criterion in CRITERIA
            if any(self._scores[group.name, criterion.name] for group in groups)
        ]

    def baselines(self, kind: registry.Kind) -> list[str]:
        """Return the algorithms that others can be compared with, the usual ones first."""
        usual, others = self.inventory.compared(kind)
        names = [*usual, *others]
        return names if len(names) <= _ALL_PAIRS else (usual or others)[:_ALL_PAIRS]

    def against(self, base: str) -> list[Row]:
        """Return how every other algorithm differs from `base`, a row an experiment and metric.

        What an experiment declares is corrected as `compare` does it, so that a page says the same;
        what criteria ask of it beyond that, among itself.
        """
        if base not in self._rows:
            rows = [
                row_of(values)
                for group in self.groups
                for values in self._recall(group, f"against {base}", partial(_against, group, base))
            ]
            asked = {group.name: _asked(group) for group in self.groups}
            self._rows[base] = [
                row
                for row in corrected(rows, lambda row: row.metric in answer(row.experiment).metrics)
                if row.metric in asked[row.experiment]
            ]
        return self._rows[base]

    def is_open(self, base: str, algorithm: str) -> bool:
        """Whether no comparison with the baseline says anything, for want of seeds."""
        rows = [row for row in self.against(base) if row.side == algorithm]
        is_unknown = all(row.verdict.word == "not known yet" for row in rows)
        return is_unknown and _are_of_one_seed(rows)

    def sentence(self, base: str, algorithm: str, most: int) -> str | None:
        """Say of an algorithm how it differs from the baseline; None if they were not compared.

        Of what is better and of what is worse the `most` frequent findings, and what speaks against
        them: who wins throughput in three experiments and loses it in five did not win it.
        """
        rows = [row for row in self.against(base) if row.side == algorithm]
        if not rows:
            return None
        good, bad = (
            [each for each in _findings(rows) if each.is_better == is_better]
            for is_better in (True, False)
        )
        chosen = {each.criterion for each in (*good[:most], *bad[:most])}
        good, bad = ([each for each in side if each.criterion in chosen] for side in (good, bad))
        said = ""
        for finding in (*good, *bad):
            is_first = not said
            said += "; " if said else ""
            said += "but " if bad and finding is bad[0] and good else ""
            said += finding.text(is_first=is_first)
        named = {id(row) for finding in (*good, *bad) for row in finding.rows}
        rest = _rest([row for row in rows if id(row) not in named], is_all=not said)
        return f"against {base}: {'; '.join(filter(None, (said, rest)))}."


def _findings(rows: Sequence[Row]) -> list[Finding]:
    """Return what is more or less somewhere, what is so most often first."""
    found = []
    for criterion in CRITERIA:
        of = [row for row in rows if criterion.has(row.metric)]
        for direction in ("more", "less"):
            there = tuple(row for row in of if row.verdict.direction == direction)
            if there:
                found.append(Finding(criterion, direction == "more", there, len(of)))
    return sorted(found, key=lambda finding: -len(finding.rows))


def _rest(rows: Sequence[Row], *, is_all: bool) -> str:
    """Say what else there is, in one clause."""
    words = Counter(row.verdict.word for row in rows)
    if not rows:
        return ""
    if len(words) == 1 and words["equal"]:
        return f"equal within {percent(LEAST)} in {'everything' if is_all else 'the rest'}"
    said = _listed([f"{count} {word}" for word, count in words.most_common()])
    unknown = [row for row in rows if row.verdict.word == "not known yet"]
    more = (
        " (one seed tells little: bench with `--seed 1..10`)" if _are_of_one_seed(unknown) else ""
    )
    return f"{'' if is_all else 'the other '}{counted(len(rows), 'comparison')}: {said}{more}"


def _are_of_one_seed(unknown: Sequence[Row]) -> bool:
    return bool(unknown) and all(row.verdict.seeds == 1 for row in unknown)


def _against(group: Group, base: str) -> list[list[Any]]:
    """Return how the other algorithms of one experiment differ from `base`, not yet corrected: by
    what criteria ask, and by what else the experiment declares."""
    cells = _comparable(group)
    names = [base, *(name for name in group.algorithms if name != base)]
    sides = {name: [whoever_sends(cell) for cell in cells.get(name, [])] for name in names}
    metrics = dict.fromkeys((*_asked(group), *group.headlines))
    found = compare(sides, list(metrics), is_whole=False)
    return [row_values(row) for row in found.rows]


def _asked(group: Group) -> list[str]:
    """Return the metrics of one experiment that criteria ask for."""
    return [name for criterion in CRITERIA if (name := criterion.metric_of(group))]


def _columns(group: Group) -> dict[str, dict[str, list[Any]]]:
    """Return the scores of one experiment by criterion and algorithm, as plain values."""
    cells = _comparable(group)
    return {
        criterion.name: {
            name: [metric, summary_values(score.summary), score.points, score.of]
            for metric in [criterion.metric_of(group)]
            for name, score in (_column(cells, metric) if metric else {}).items()
        }
        for criterion in CRITERIA
    }


def _nevers(group: Group) -> dict[str, dict[str, int]]:
    """Return at how many points of one experiment a metric never came, by criterion, algorithm."""
    cells = _comparable(group)
    found: dict[str, dict[str, int]] = {}
    for criterion in CRITERIA:
        asked = criterion.metric_of(group)
        metric = metric_named(asked) if asked else None
        counts = {
            name: sum(any(map(metric.is_never, cell.metrics.values())) for cell in members)
            for name, members in cells.items()
            if metric and metric.asked_with
        }
        found[criterion.name] = {name: count for name, count in counts.items() if count}
    return found


def _score_of(values: list[Any]) -> Score:
    metric, summary, points, of = values
    return Score(metric, Summary(*summary), points, of)


def _comparable(group: Group) -> dict[str, list[Cell]]:
    """Return each algorithm's cells on the backend and engine that most cells were made with."""
    found: dict[str, list[Cell]] = {}
    for page in group.compared:
        found.setdefault(page.algorithm, []).append(page.cell)
    return found


def _column(cells: Mapping[str, Sequence[Cell]], metric: str) -> dict[str, Score]:
    """Return the score of each algorithm in one experiment, over the points that all have."""
    having = {
        name: {cell.point: cell for cell in members if cell.values(metric)}
        for name, members in cells.items()
    }
    having = {name: points for name, points in having.items() if points}
    if not having:
        return {}
    common = set.intersection(*(set(points) for points in having.values()))
    if metric_named(metric).effect == "ratio":
        # What has no factor is in no mean of factors.
        above = {p for p in common if all(_is_above(of[p], metric) for of in having.values())}
        common = above or common
    summaries = {
        name: _over([points[point] for point in points if point in common or not common], metric)
        for name, points in having.items()
    }
    return {
        name: Score(metric, summary, len(common) or len(having[name]), len(having[name]))
        for name, summary in summaries.items()
    }


def _is_above(cell: Cell, metric: str) -> bool:
    return any(found.get(metric, 0) > 0 for found in cell.metrics.values())


def _over(cells: Sequence[Cell], metric: str) -> Summary:
    """Return the mean over cells, with its interval from the seeds that all of them have.

    It is geometric where differences are factors, as in a comparison: the factor over another
    algorithm is then that of the means. A cell in which nothing is drawn has any seed.
    """
    is_factor = metric_named(metric).effect == "ratio"
    each = (cell.summary(metric) for cell in cells)
    mean = _mean([summary.mean for summary in each if summary], is_factor)
    varying = [cell for cell in cells if not cell.is_constant] or cells[:1]
    seeds = set.intersection(*(set(cell.values(metric)) for cell in varying))
    if not seeds:
        return summarise([mean])
    by_seed = [
        _mean([(cell.at(seed) or {})[metric] for cell in cells], is_factor)
        for seed in sorted(seeds)
    ]
    return replace(summarise(by_seed), mean=mean)


def _mean(values: Sequence[float], is_factor: bool) -> float:
    """Return the mean; the arithmetic one where there is no other."""
    return geometric_mean(values) if is_factor and min(values) > 0 else fmean(values)


def _listed(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
