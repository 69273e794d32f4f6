"""``ccperf compare``: algorithms, versions or runs side by side, and whether they really differ."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from ccperf.cli.options import Databases
from ccperf.cli.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.evidence.cells import Cell
    from ccperf.evidence.chosen import Algorithms
    from ccperf.evidence.compare import Comparison, Over


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
    from ccperf.cli.options import databases
    from ccperf.cli.output import arguments
    from ccperf.cli.spelling import with_databases
    from ccperf.errors import UsageError
    from ccperf.evidence import cells, gate
    from ccperf.evidence.by_parameter import by_parameter, meant
    from ccperf.evidence.chosen import Algorithms, choose, metrics_named, words
    from ccperf.evidence.compare import compare
    from ccperf.experiments.catalogue import answer
    from ccperf.runs import backends

    format = "json" if json else format
    gates = [gate.parse(text) for text in fail_on or []]
    threshold = _threshold(least)
    over: Over = "algorithms"
    files = [] if by else [Path(item) for item in items if _is_database(item)]
    if cc and not files:
        raise UsageError(
            "--cc",
            f"is for two databases; name what to compare: ccperf compare {shlex.join(words(cc))}",
        )
    if versions and (by or any(map(_backend, items))):
        raise UsageError("--versions", "compares versions only, not backends or --by")
    if by:
        found = choose(databases(db), experiment=experiment, cc=",".join(items), at=at)
        sides = by_parameter(found, by, "--by")
        over = "values"
    elif files:
        advice = with_databases(arguments(), [str(path) for path in files])
        if len(files) != len(items) or versions:
            other = next((item for item in items if not _is_database(item)), "--versions")
            message = f"`{other}` is no database; name databases only, or write {advice}"
            raise UsageError("items", message)
        if len(files) == 1:
            raise UsageError("items", f"name two databases; for what is in one write {advice}")
        over = "databases"
        sides = {
            str(path): choose([path], experiment=experiment, cc=cc, at=at, newest=True)
            for path in files
        }
    elif all(_backend(item) for item in items) and items:
        over = "backends"
        sides = _on_backends(items, choose(databases(db), experiment=experiment, at=at))
    elif on := next(filter(_backend, items), ""):
        other = next(item for item in items if not _backend(item))
        raise UsageError(
            "items",
            f"`{on}` names a backend, and `{other}` none; write {other}@native, or another of"
            f" {', '.join(backends.known())}",
        )
    else:
        given = databases(db)
        if _are_runs(items, given):
            if gates:
                raise UsageError("--fail-on", "is for algorithms or databases, not single runs")
            return compare_runs(items, given, metrics_named(metric, "--metric"), format)
        found = choose(given, experiment=experiment, at=at)
        choice = {"--experiment": experiment, "--at": at}
        named = Algorithms.of(found, " ".join(f"{o} {text}" for o, text in choice.items() if text))
        try:
            sides = cells.by_algorithm(found, _algorithms(items, named, versions=versions))
        except UsageError as error:
            if not (parameter := meant(found, items)):
                raise
            advice = f"{error.message}; or do you mean --by {parameter}?"
            raise UsageError(error.field, advice) from None
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


def _backend(item: str) -> str:
    """The backend that an item names: `linux` of `cubic@linux`; empty if it names none."""
    from ccperf.runs import backends

    name = item.rpartition("@")[2]
    return name if "@" in item and name in backends.known() else ""


def _on_backends(items: Sequence[str], found: Sequence[Cell]) -> dict[str, list[Cell]]:
    """The cells of each algorithm on its backend."""
    from ccperf.errors import UsageError
    from ccperf.evidence.chosen import Algorithms

    there = Algorithms.of(found)
    sides = {}
    for item in items:
        text, _, backend = item.rpartition("@")
        name = there.one(text, "items")
        cells = [cell for cell in found if (cell.algorithm, cell.backend) == (name, backend)]
        if not cells:
            have = ", ".join(sorted({c.backend for c in found if c.algorithm == name}))
            raise UsageError(
                "items",
                f"no runs of {name} on {backend} (on {have} there are): "
                f"`ccperf bench {text} --backend {backend}` makes them",
            )
        sides[f"{name}@{backend}"] = cells
    return sides


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


def _is_database(item: str) -> bool:
    """User code is a file, too. Raises `UsageError` for a database that is not there."""
    from ccperf.algorithms.user_code.names import is_user_code, unfinished
    from ccperf.errors import UsageError

    if Path(item).suffix == ".db" and not Path(item).exists():
        raise UsageError("items", f"there is no database `{item}`")
    return Path(item).is_file() and not is_user_code(item) and unfinished(item) is None


def _are_runs(items: Sequence[str], databases: Sequence[Path]) -> bool:
    """Whether these are ids of runs, not algorithms."""
    from ccperf.cli.options import LATEST
    from ccperf.store import Store

    ids: list[str] = []
    for path in databases:
        with Store(path, "r") as store:
            ids += store.ids()
    return bool(items) and (items[0] == LATEST or any(each.startswith(items[0]) for each in ids))


def _algorithms(items: Sequence[str], there: Algorithms, *, versions: bool) -> list[str]:
    """The algorithms named, in their order; the newest of all."""
    from ccperf.base import expression
    from ccperf.errors import UsageError

    if not versions:
        named = [there.one(one, "items") for item in items for one in expression.each(item)]
        return named or there.newest()
    if len(items) != 1:
        raise UsageError("--versions", "compares those of one algorithm; name that one")
    names = there.versions(items[0], "items")
    if len(names) < 2:
        raise UsageError("--versions", f"there is only one of {names[0]}")
    return names
