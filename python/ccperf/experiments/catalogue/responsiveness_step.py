"""A step of the path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.errors import UsageError
from ccperf.experiments.catalogue import responsiveness
from ccperf.experiments.catalogue.answer import RESPONSE, SETTLING, SRTT, USED, Answer
from ccperf.experiments.catalogue.parameter import AUTO, Parameter, Value
from ccperf.experiments.catalogue.published import PublishedExperiment, greedy_flows
from ccperf.experiments.programs.published.options import RESPONSIVENESS, SERIES
from ccperf.experiments.programs.published.run import DumbbellRun

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup


class ResponsivenessStep(PublishedExperiment):
    name = "responsiveness_step"
    title = "Step function"
    group = "Transient state"
    description = (
        "One flow on a path of which one property changes once, from its lower level to the upper "
        "one or back. A good algorithm takes new capacity soon, gives up lost capacity without "
        "filling the queue, and takes neither a longer path nor random loss for congestion."
    )
    answer = Answer((SETTLING, RESPONSE, USED, SRTT), "target", "time")
    parameters = (
        responsiveness.TARGET,
        Parameter("direction", "word", ("up", "down"), "up", "Which way.", words=("up", "down")),
        Parameter(
            "period", "time", (AUTO,), AUTO, "When it changes; after half of the run if not given."
        ),
        responsiveness.LOWER,
        responsiveness.UPPER,
    )
    leading = ("bw", *SERIES)
    seeded = "which packets are lost at random, if the loss changes"

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:
        if values["period"] == AUTO:
            half = _native.parse_time(stop_time) // 2
            if not half:
                raise UsageError("stop_time", f"`{stop_time}` has no half; write at least 2ns")
            values = {**values, "period": _native.format_time(half)}
        return responsiveness.settled(values)

    def line(self, setup: Setup) -> DumbbellRun:
        target = setup["target"]
        levels = [setup["lower"], setup["upper"]]
        before, after = levels if setup["direction"] == "up" else levels[::-1]
        series = (
            responsiveness.step("0s", target, before),
            responsiveness.step(setup["period"], target, after),
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
