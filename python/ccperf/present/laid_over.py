"""One figure of several runs, which are called by what tells them apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ccperf.algorithms.roles import parameters, under_test
from ccperf.present import figures

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ccperf.present.figures import Figure
    from ccperf.runs.result import Result


def common(results: Sequence[Result]) -> list[str]:
    """The figures that all of these runs have something for."""
    first, *others = [figures.drawable(each.scenario, each.recording) for each in results]
    return [name for name in first if all(name in other for other in others)]


def described(name: str, results: Sequence[Result], *, sum: bool = False) -> dict[str, Figure]:
    """Each run's figure by what it is called; `sum` takes the flows of a run together.

    Where runs of several seeds can be one curve (completion times), they are. Raises `UsageError`.
    """
    kind = figures.OF_RECORDINGS.get(name)
    pool = kind.pool if kind else None
    alike: dict[str, list[Result]] = {}
    for label, result in zip(_labels(results, bool(pool)), results, strict=True):
        alike.setdefault(label, []).append(result)
    return {
        label: (pool(result.recording for result in of) if pool else None)
        or of_run(name, of[0], sum=sum)
        for label, of in alike.items()
    }


def laid_over(of: Mapping[str, Figure], results: Sequence[Result]) -> Figure:
    """One figure of those that `described` returns of these runs."""
    return replace(figures.overlay(of), origin=figures.origin(results))


def of_run(name: str, result: Result, *, sum: bool = False) -> Figure:
    """A figure of a run, its flows together if that is asked for."""
    figure = figures.describe(name, result.scenario, result.recording)
    return figures.adjusted(replace(figure, origin=figures.origin([result])), sum=sum)


def _labels(results: Sequence[Result], are_pooled: bool) -> list[str]:
    """What tells the runs apart; if they are pooled, all but their seeds."""

    def words(result: Result) -> dict[str, str]:
        flows = dict.fromkeys(flow.cc.type for flow in result.scenario.flows if flow.cc)
        point = parameters(result.parameters)
        return {
            "algorithm": under_test(result.parameters) or ",".join(flows),
            **{name: f"{name}={value}" for name, value in point.items()},
            **({} if are_pooled else {"seed": f"seed {result.provenance.seed}"}),
            "run": result.id[:8],
        }

    each = [words(result) for result in results]
    differing = [
        key
        for key in dict.fromkeys(key for one in each for key in one)
        if key != "run" and len({one.get(key) for one in each}) > 1
    ]
    labels = [" ".join(one[key] for key in differing if key in one) for one in each]
    if are_pooled:
        return [label or one["algorithm"] for label, one in zip(labels, each, strict=True)]
    if len(set(labels)) < len(labels) or not all(labels):
        return [f"{label} {one['run']}".strip() for label, one in zip(labels, each, strict=True)]
    return labels
