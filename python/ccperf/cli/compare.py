"""``ccperf compare``: algorithms, versions or runs side by side, and whether they really differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from ccperf.cli.options import Databases
from ccperf.cli.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.evidence.compare import Comparison


def command(
    *items: Annotated[
        str,
        Parameter(
            help="Algorithms, as cubic, ./mycca.py:MyCca or MyCca@2503 (one version of it), "
            "cubic@native and cubic@linux (on backends), two databases, or ids of runs. "
            "Default: all algorithms, the usual ones first."
        ),
    ],
    db: Databases = None,
    experiment: Annotated[str, Parameter(help="Only these experiments, e.g. ecn,aqm.")] = "",
    at: Annotated[str, Parameter(help="Only these points, e.g. k=5,qdisc=CoDelQueueDisc.")] = "",
    cc: Annotated[str, Parameter(help="Only these algorithms (of two databases).")] = "",
    metric: Annotated[
        str, Parameter(help="Metrics, or all. Default: each experiment's headlines.")
    ] = "",
    versions: Annotated[
        bool, Parameter(help="All versions of one of your algorithms; the oldest is the base.")
    ] = False,
    by: Annotated[
        str,
        Parameter(
            help="A parameter, e.g. qdisc, k=1,5 or profile=ns3-3.44,linux: each algorithm at its "
            "first value against itself at the others."
        ),
    ] = "",
    each: Annotated[bool, Parameter(help="A row for each point, not for each experiment.")] = False,
    format: Annotated[
        Literal["text", "markdown", "latex", "csv", "json"], Parameter(help="Output.")
    ] = "text",
    json: Annotated[bool, Parameter(help="As --format json.")] = False,
    least: Annotated[
        str, Parameter(help="Relative difference below which two values count as equal.")
    ] = "1%",
    over_grids: Annotated[
        bool,
        Parameter(help="Interval of the mean if the grid's points were a random sample."),
    ] = False,
    fail_on: Annotated[
        list[str] | None,
        Parameter(help="Exit 1 if a metric changes so: 'mean_srtt_l4>5%'; may be repeated."),
    ] = None,
) -> int:
    """Compare algorithms over the same points and seeds; the first one is the base.

    Each row says how large a difference is, at how many points it is shown (a star, of one point):
    it is exact, or more than chance; and what that is worth: better, worse, equal within 1 %, or
    not known yet. docs/evidence.md explains it.
    """
    from ccperf.cli.compare_runs import compare_runs
    from ccperf.cli.comparison import print_comparison
    from ccperf.cli.sides import Items
    from ccperf.errors import UsageError
    from ccperf.evidence import gate
    from ccperf.evidence.chosen import metrics_named
    from ccperf.evidence.compare import compare
    from ccperf.experiments.catalogue import answer

    format = "json" if json else format
    gates = [gate.parse(text) for text in fail_on or []]
    threshold = _threshold(least)
    named = Items(items, db, experiment=experiment, at=at, cc=cc, by=by, versions=versions)
    if named.are_runs:
        if gates:
            raise UsageError("--fail-on", "is for algorithms or databases, not single runs")
        return compare_runs(items, named.databases, metrics_named(metric, "--metric"), format)
    over, sides = named.sides()
    if len(sides) < 2:
        raise UsageError("items", f"name at least two to compare; there is {', '.join(sides)}")
    chosen, gated = metrics_named(metric, "--metric"), [each.metric for each in gates]
    asked: dict[str, None] = {}

    def metrics_of(name: str) -> list[str]:
        found = dict.fromkeys((*(chosen or answer(name).metrics), *gated))
        asked.update(found)
        return list(found)

    comparison = compare(
        sides,
        metrics_of,
        over=over,
        each=each or bool(gates),
        least=threshold,
    )
    # Of a gate's sides what is missing is an answer: it fails.
    if not (gates or comparison.rows or comparison.lacking or comparison.never):
        if comparison.cells:
            raise UsageError("--metric", f"no run of these has {', '.join(asked)}")
        message = f"{', '.join(sides)} have no point and seed in common{_apart(comparison)}"
        raise UsageError("items", message)
    judgement = None
    if gates:
        there = (each for side in sides.values() for cell in side for each in cell.metrics.values())
        judgement = gate.judge(gates, comparison, {name for values in there for name in values})
    print_comparison(comparison, format, judgement, over_grids=over_grids)
    return 1 if judgement and judgement.failed else 0


def _apart(comparison: Comparison) -> str:
    """Return where two sides are instead: the first point that only one of them has."""
    side = comparison.sides[0]
    alone = ((comparison.base, comparison.missing[side]), (side, comparison.beyond[side]))
    said = [f"{who} has {points[0]}" for who, points in alone if points]
    return f": {'; '.join(said)}" if len(said) == 2 else ""


def _threshold(text: str) -> float:
    """`5%` as 0.05."""
    from ccperf.errors import UsageError

    number, sign, rest = text.partition("%")
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not sign or rest.strip() or not 0 <= value < 100:
        raise UsageError("--least", f"`{text}` is no percentage from 0% to below 100%; e.g. 5%")
    return value / 100
