"""``ccperf watch``: run one's own algorithm again when its file is saved, and say what changed."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ccperf.base import interruption
from ccperf.cli.options import Running, resolve, writable_file
from ccperf.cli.output import note, say, table
from ccperf.cli.parameter import Parameter
from ccperf.errors import CcperfError, UsageError

if TYPE_CHECKING:
    from ccperf.algorithms import registry
    from ccperf.campaign import Point
    from ccperf.runs.backends import Backend
    from ccperf.store import Store

#: What differs by less is equal.
_LEAST = 0.01
#: How often the file is looked at.
_LOOK_S = 0.1


@dataclass(frozen=True)
class Case:
    """One point of the default set."""

    name: str
    experiment: str
    parameters: Mapping[str, object]
    stop_time: str | None = "5s"


@dataclass(frozen=True)
class Kind:
    """What is watched: where it runs, and what is looked at."""

    cases: Sequence[Case]
    #: With their heads.
    metrics: Mapping[str, str]
    #: The parameter that names it, where what the experiment tests is something else.
    parameter: str = ""


_OF_FLOWS = {
    "mean_agg_throughput_l4": "throughput [Mbps]",
    "mean_srtt_l4": "sRTT [ms]",
    "total_retransmissions_l4": "retransm.",
    "mean_jains_fairness_throughput_l4": "Jain",
}
_LONG = {"rate": "50Mbps", "rtt": "100ms"}
_SMALL = {"leaves": 2, "spines": 2, "servers": 4, "arrivals": "5ms", "workload": "web_search"}
KINDS: Mapping[registry.Kind, Kind] = {
    "cc": Kind(
        (
            Case("one flow", "dumbbell", {}),
            Case("shallow buffer", "dumbbell", {"buffer": "0.25bdp"}),
            Case("deep buffer", "dumbbell", {"buffer": "4bdp"}),
            Case("long and fast", "dumbbell", _LONG, "10s"),
            Case("4 flows", "dumbbell", {"flows": 4}),
            Case("through CoDel", "dumbbell", {"qdisc": "codel"}),
            Case("random loss", "loss_resilience", {"loss": 0.01}),
        ),
        _OF_FLOWS,
    ),
    "qdisc": Kind(
        (
            Case("one flow", "dumbbell", {"buffer": "4bdp"}),
            Case("4 flows", "dumbbell", {"buffer": "4bdp", "flows": 4}),
            Case("16 flows", "dumbbell", {"buffer": "4bdp", "flows": 16}),
            Case("long and fast", "dumbbell", {**_LONG, "buffer": "1bdp"}, "10s"),
        ),
        _OF_FLOWS,
        "qdisc",
    ),
    "routing": Kind(
        tuple(
            Case(
                f"{condition}, load {load}",
                "load_balancing",
                {**_SMALL, "condition": condition, "load": load},
                None,
            )
            for condition in ("symmetric", "slow_links")
            for load in (0.3, 0.7)
        ),
        {"mean_fct_l4": "FCT [ms]", "p99_fct_l4": "99 % [ms]", "total_unfinished_l4": "unfinished"},
    ),
}

Values = Mapping[str, float]


def command(
    name: Annotated[str, Parameter(help="Your algorithm: ./mine.py:Mine, ./libmine.so.")],
    /,
    *,
    against: Annotated[
        str,
        Parameter(help="What it is compared with; yours is of the same kind."),
    ] = "cubic",
    once: Annotated[bool, Parameter(help="Run once, and do not wait for the file.")] = False,
    jobs: Annotated[
        int, Parameter(name=["--jobs", "-j"], help="Parallel runs; 0: one per core.")
    ] = 0,
    db: Annotated[Path, Parameter(help="Where the runs of all versions are kept.")] = Path(
        "watch.db"
    ),
    json: Annotated[bool, Parameter(help="Print JSON to stdout, one line a round.")] = False,
) -> int:
    """Run a few short points; again whenever the file is saved; until Ctrl-C.

    Prints what is better and worse than the other algorithm, and than the version before.
    A few points of one seed are a hint for whoever edits; `ccperf bench` has the answer.
    """
    from ccperf.algorithms import registry
    from ccperf.algorithms.user_code import content, names
    from ccperf.base import expression
    from ccperf.store import Store

    kind = registry.kind_of(expression.bare(against))
    if kind is None or kind not in KINDS:
        raise UsageError("--against", f"`{against}` is no algorithm that ccperf has")
    if len(expression.each(name)) > 1:
        raise UsageError("name", f"`{name}` must be one algorithm")
    own, other = resolve(kind, "name", name), resolve(kind, "--against", against)
    if not names.is_user_code(own):
        raise UsageError("name", f"`{name}` does not change; name your own, as ./mine.py:Mine")
    running = Running(jobs=jobs)
    backend = running.open_backend()
    writable_file(db, "--db")
    files = names.files(own)
    with Store(db, "a") as store:
        before = _former(store, own, kind)
        while True:
            with suppress(ValueError, OSError):
                # What it imports from beside it, too, and did: that may come back.
                files = list(dict.fromkeys((*content.texts(own), *files)))
            stamps = _stamps(files)
            began = time.monotonic()
            found = _values(store, backend, running, kind, own, other)
            if found is not None:
                mine, theirs = found
                if json:
                    say(_json(KINDS[kind], mine, theirs, before))
                else:
                    _print(KINDS[kind], own, other, mine, theirs, before)
                sys.stdout.flush()  # whoever reads it through a pipe waits, too
                note(f"{time.monotonic() - began:.1f} s")
                before = mine
            if once:
                return 0 if found is not None else 1
            note(f"waiting for {', '.join(path.name for path in files)} (Ctrl-C ends)")
            while _stamps(files) in (stamps, []):
                if interruption.is_noticed():
                    return interruption.STATUS
                time.sleep(_LOOK_S)


def _stamps(files: Sequence[Path]) -> list[tuple[int, int]]:
    """When each was written, and its size; nothing while an editor has the algorithm's away."""
    stamps = []
    for path in files:
        try:
            found = path.stat()
        except OSError:
            if path == files[0]:
                return []
            stamps.append((0, 0))
        else:
            stamps.append((found.st_mtime_ns, found.st_size))
    return stamps


def _points(kind: registry.Kind, algorithm: str) -> list[Point]:
    from ccperf.campaign import expand
    from ccperf.experiments import catalogue

    of = KINDS[kind]
    points: list[Point] = []
    for case in of.cases:
        experiment = catalogue.get(case.experiment)
        settings: dict[str, Any] = {"stop_time": case.stop_time} if case.stop_time else {}
        parameters = {**case.parameters, **({of.parameter: algorithm} if of.parameter else {})}
        tested = experiment.usual[0] if of.parameter else algorithm
        points += expand(experiment, tested, grid=[parameters], **settings)
    return points


def _values(
    store: Store, backend: Backend, running: Running, kind: registry.Kind, own: str, other: str
) -> tuple[list[Values], list[Values]] | None:
    """The metrics of both at each point; None, and why, if a run failed."""
    from ccperf import campaign

    try:
        points = [*_points(kind, own), *_points(kind, other)]
        report = campaign.run(points, store, backend, jobs=running.job_count())
    except CcperfError as error:  # the file as it is cannot be run: it will be saved again
        note(f"failed: {error}")
        return None
    for alike in report.failures_by_kind():
        note(f"failed: {alike[0]}")
    if report.failures or report.changed or report.interrupted:
        return None
    values: list[Values] = [store.reduced_metrics(run)[run] for run in report.of_points]
    half = len(values) // 2
    return values[:half], values[half:]


def _former(store: Store, own: str, kind: registry.Kind) -> list[Values] | None:
    """The metrics of the version that was run last at all points, unless it is this one."""
    from ccperf.algorithms.user_code.content import digest
    from ccperf.algorithms.user_code.names import label
    from ccperf.base import expression

    now, name = digest(own), expression.cut(label(own))[0]
    points = [(point.experiment, point.scenario.hash) for point in _points(kind, own)]
    versions: dict[str, dict[tuple[str | None, str], str]] = {}
    for row in store.runs():
        version = row.provenance.user_code.get(name, now)
        place = (row.experiment, row.provenance.scenario_hash)
        if version != now and place in points:
            # The one that was run last is the last one.
            versions[version] = {**versions.pop(version, {}), place: row.id}
    whole = [runs for runs in versions.values() if len(runs) == len(points)]
    if not whole:
        return None
    return [store.reduced_metrics(whole[-1][place])[whole[-1][place]] for place in points]


def _json(
    kind: Kind, mine: Sequence[Values], theirs: Sequence[Values], before: Sequence[Values] | None
) -> str:
    """Each point with its metrics; null where one has no value."""
    sides = {"own": mine, "against": theirs, "before": before or [{}] * len(mine)}
    return dumps(
        [
            {
                "point": case.name,
                **{
                    side: {metric: values[i].get(metric) for metric in kind.metrics}
                    for side, values in sides.items()
                },
            }
            for i, case in enumerate(kind.cases)
        ]
    )


def _print(
    kind: Kind,
    own: str,
    other: str,
    mine: Sequence[Values],
    theirs: Sequence[Values],
    before: Sequence[Values] | None,
) -> None:
    from ccperf.algorithms.user_code.content import digest
    from ccperf.algorithms.user_code.names import label

    rows = [
        [case.name, *(_cell(metric, own.get(metric), its.get(metric)) for metric in kind.metrics)]
        for case, own, its in zip(kind.cases, mine, theirs, strict=True)
    ]
    title = f"{label(own)}@{digest(own)[:4]}"
    say(f"{title}, in brackets against {label(other)}\n")
    say(table(["point", *kind.metrics.values()], rows))
    say(f"\nagainst {label(other)}\n{_verdict(kind, mine, theirs)}")
    if before is not None:
        say(f"against the version before\n{_verdict(kind, mine, before)}")


@dataclass(frozen=True)
class Change:
    """How a value differs by more than `_LEAST`, or that one side has none."""

    is_better: bool
    text: str
    #: By which changes are ordered.
    size: float


def _change(metric: str, mine: float | None, other: float | None) -> Change | None:
    from ccperf.runs.metrics import METRICS

    if mine is None and other is None:
        return None
    if mine is None or other is None:
        # Who delivers nothing has no round trip.
        return Change(other is None, "missing" if mine is None else "missing there", math.inf)
    if abs(mine - other) <= _LEAST * min(abs(mine), abs(other)):
        return None
    is_better = (mine > other) == (METRICS[metric].better == "higher")
    by = f"{100 * (mine / other - 1):+.0f} %" if other else f"{mine - other:+.4g}"
    size = abs(math.log(mine / other)) if mine > 0 < other else math.inf
    return Change(is_better, by.replace("-", "−"), size)


def _cell(metric: str, mine: float | None, other: float | None) -> str:
    from ccperf.evidence.text import digits

    change = _change(metric, mine, other)
    if mine is None:
        return change.text if change else ""
    return digits(mine) + (f" ({change.text})" if change else "")


def _verdict(kind: Kind, mine: Sequence[Values], others: Sequence[Values]) -> str:
    """How many values are better and worse, the largest changes by name."""
    changes: list[tuple[Change, str]] = []
    values = 0
    for case, own, other in zip(kind.cases, mine, others, strict=True):
        for metric, head in kind.metrics.items():
            values += metric in own or metric in other
            if change := _change(metric, own.get(metric), other.get(metric)):
                changes.append((change, f"{head.partition(' [')[0]}, {case.name}: {change.text}"))
    changes.sort(key=lambda each: -each[0].size)
    lines = []
    for word, is_better in (("better", True), ("worse", False)):
        texts = [text for change, text in changes if change.is_better is is_better]
        some = "; ".join(texts[:3]) + ("; ..." if len(texts) > 3 else "")
        lines.append(f"  {word} in {len(texts)}" + (f": {some}" if texts else ""))
    return "\n".join([*lines, f"  equal within 1 % in {values - len(changes)}"])
