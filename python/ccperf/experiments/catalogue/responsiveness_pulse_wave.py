"""A path that goes to and fro."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.experiments.bounds import few_enough
from ccperf.experiments.catalogue import responsiveness
from ccperf.experiments.catalogue.answer import RETRANSMITTED, SRTT, USED, Answer
from ccperf.experiments.catalogue.parameter import Parameter, Value
from ccperf.experiments.catalogue.published import PublishedExperiment, greedy_flows
from ccperf.experiments.programs.published.options import RESPONSIVENESS, SERIES
from ccperf.experiments.programs.published.run import DumbbellRun

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup


class ResponsivenessPulseWave(PublishedExperiment):
    name = "responsiveness_pulse_wave"
    title = "Pulse wave"
    group = "Transient state"
    description = (
        "One flow on a path of which one property alternates between two levels, each for half a "
        "period, beginning with the lower one. A good algorithm follows: it uses the capacity of "
        "the good half without paying for it in the bad one."
    )
    answer = Answer((USED, SRTT, RETRANSMITTED), "target", "time")
    parameters = (
        responsiveness.TARGET,
        Parameter("period", "time", ("1s", "5s"), "5s", "Length of a whole wave."),
        responsiveness.LOWER,
        responsiveness.UPPER,
    )
    leading = ("bw", *SERIES)
    seeded = "which packets are lost at random, if the loss changes"

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:  # noqa: ARG002
        return responsiveness.settled(values)

    def line(self, setup: Setup) -> DumbbellRun:
        half = max(1, _native.parse_time(setup["period"]) // 2)
        times = range(0, _native.parse_time(setup.stop_time), half)
        fix = "lengthen it, or end the run sooner"
        few_enough("changes", len(times), fix=fix, period=setup["period"])
        series = tuple(
            responsiveness.step(
                _native.format_time(time), setup["target"], setup["upper" if i % 2 else "lower"]
            )
            for i, time in enumerate(times)
        )
        return DumbbellRun(
            program=RESPONSIVENESS,
            bw=series[0].rate,
            loss=series[0].loss,
            series=series,
            qlen=responsiveness.QLEN,
            qdisc="FifoQueueDisc",
            flows=greedy_flows(setup, rtt=series[0].rtt),
            stop_time=setup.stop_time,
        )
