"""Fairness of flows that start one after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.base.wording import counted
from ccperf.errors import UsageError
from ccperf.experiments.bounds import DUMBBELL_FLOWS
from ccperf.experiments.catalogue import paths
from ccperf.experiments.catalogue.answer import CONVERGENCE, JAIN, USED, Answer
from ccperf.experiments.catalogue.parameter import AUTO, Parameter, Value, times, written
from ccperf.experiments.catalogue.published import PublishedExperiment, greedy_flows
from ccperf.experiments.programs.published.run import DumbbellRun

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup


class SteadyStateStartTimeFairness(PublishedExperiment):
    name = "steady_state_start_time_fairness"
    title = "Start-time fairness"
    group = "Steady state"
    description = (
        "k flows of the same algorithm start one after another on the same path: who comes later "
        "finds the bottleneck taken. A good algorithm gives way within a few round trips, so that "
        "all get the same share."
    )
    answer = Answer((CONVERGENCE, JAIN, USED), "k")
    parameters = (
        Parameter("k", "count", (2, 5), 2, "Number of flows.", most=DUMBBELL_FLOWS),
        Parameter(
            "path",
            "word",
            ("static.default", "static.india_to_aws_india"),
            "static.default",
            "The network path.",
            words=tuple(paths.STATIC),
        ),
        Parameter(
            "start_times",
            "times",
            (AUTO,),
            AUTO,
            "When each flow starts; if not given, an eighth of the run after one another, to "
            "10 ms, as published.",
        ),
    )
    leading = ("start-times",)
    seeded = "which packets are lost at random, on the paths that lose some"

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:
        k = int(values["k"])
        if values["start_times"] == AUTO:
            spacing = _spacing(k, _native.parse_time(stop_time))
            starts = [_native.format_time(i * spacing) for i in range(k)]
            return {**values, "start_times": written(starts)}
        if (given := len(times(values["start_times"]))) != k:
            entries = counted(given, "entry")
            raise UsageError(
                "start_times", f"has {entries} for {counted(k, 'flow')}; give one a flow"
            )
        return values

    def line(self, setup: Setup) -> DumbbellRun:
        k = setup["k"]
        path = paths.static(setup["path"], k)
        return DumbbellRun(
            bw=path.rate,
            loss=path.loss,
            qlen=path.qlen,
            qdisc="FifoQueueDisc",
            flows=greedy_flows(setup, k, path.rtt, times(setup["start_times"])),
            stop_time=setup.stop_time,
        )


def _spacing(k: int, stop_ns: int) -> int:
    """In ns; the last of many flows starts before the run's end, too."""
    spacing = stop_ns // max(8, k + 1)
    return spacing // 10_000_000 * 10_000_000 or spacing
