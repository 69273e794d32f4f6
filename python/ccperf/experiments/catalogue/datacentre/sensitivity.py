"""How much the parameters of ECN# matter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from ccperf.errors import UsageError
from ccperf.experiments.catalogue.answer import FCT, LARGE, SMALL_P99, Answer
from ccperf.experiments.catalogue.datacentre import many_to_one
from ccperf.experiments.catalogue.datacentre.ecn_sharp_figures import SENSITIVITY
from ccperf.experiments.catalogue.datacentre.experiment import (
    LOAD,
    RATE_OF_LINKS,
    TRANSPORT,
    WORKLOAD,
)
from ccperf.experiments.catalogue.datacentre.testbed import FLOWS
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario


class Sensitivity(many_to_one.ManyToOneExperiment):
    name = "ecn_sharp_sensitivity"
    title = "Sensitivity of ECN#"
    description = (
        "The testbed with ECN# and other values of its interval and target: figure 12 of the paper "
        "on ECN#, where completion times change by a per cent at most."
    )
    answer = Answer((FCT, SMALL_P99, LARGE), "interval")
    printed = SENSITIVITY
    parameters = (
        Parameter(
            "interval",
            "time",
            ("100us", "150us", "200us", "250us"),
            "200us",
            "How long a queue may stand.",
        ),
        Parameter(
            "target", "time", ("6us", "10us", "20us", "85us"), "85us", "What counts as standing."
        ),
        replace(WORKLOAD, grid=("web_search",)),
        replace(LOAD, grid=(0.5,)),
        FLOWS,
        RATE_OF_LINKS,
        TRANSPORT,
    )
    usual: ClassVar[tuple[str, ...]] = ("ECNSharpQueueDisc",)

    def takes(self, name: str) -> bool:
        """ECN#, which alone has these parameters."""
        return name in self.usual

    def resolve(self, name: str) -> str:
        """ECN#."""
        if not self.takes(scheme := super().resolve(name)):
            raise UsageError(self.kind, f"`{name}` has no such parameters; this is on ECNSharp")
        return scheme

    def build(self, setup: Setup) -> Scenario:
        at = many_to_one.thresholds(3.0, setup["rate"])
        at = replace(at, interval=setup["interval"], target=setup["target"])
        return many_to_one.build(setup, self.name, 3.0, at)
