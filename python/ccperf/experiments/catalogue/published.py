"""Experiments that a program of the published ccperf runs: they have a command line of its own."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from ccperf.algorithms.user_code import names
from ccperf.experiments.catalogue.experiment import Experiment, Setup
from ccperf.experiments.programs.published.build import build, describe
from ccperf.experiments.programs.published.parse import parse
from ccperf.experiments.programs.published.run import DumbbellRun, FlowOptions
from ccperf.experiments.published import published
from ccperf.runs import backends

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ccperf.experiments.published import Published
    from ccperf.scenario import Scenario


class PublishedExperiment(Experiment):
    """An experiment whose scenario is what a published command line describes."""

    #: A command line has the seed as one of its options, and nothing else of it.
    draws_more = False

    #: Options that the published command line puts first.
    leading: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def line(self, setup: Setup) -> DumbbellRun:
        """The command line at one point, without labels and seed: the one method to write."""

    def build(self, setup: Setup) -> Scenario:
        scenario, _ = describe(self._labelled(setup))
        return scenario

    def command(self, cc: str, **given: Any) -> str:
        """The published form of the command line of one point.

        Takes and raises what :meth:`scenario` does.
        """
        return self._labelled(self.setup(cc, **given)).command(first=self.leading)

    def exec_command(self, cc: str, backend: str = backends.DEFAULT, **given: Any) -> str:
        """The ``ccperf exec`` command that runs :meth:`command`."""
        return self._labelled(self.setup(cc, **given)).reproduce(backend, first=self.leading)

    def _labelled(self, setup: Setup) -> DumbbellRun:
        return replace(
            self.line(setup),
            seed=setup.seed,
            experiment=self.name,
            parameters=setup.labels,
            aut=setup.cc,
            db_path=f"benchmark_{names.short(setup.cc)}.db",
        )


@cache
def published_scenarios() -> Mapping[str, Published]:
    """The pages whose result tables are published, by the hash of their scenario."""
    return {build(parse([page.command]))[0].hash: page for page in published()}


def greedy_flows(
    setup: Setup,
    k: int = 1,
    rtt: str | Sequence[str] = "15ms",
    starts: Sequence[str] = (),
) -> tuple[FlowOptions, ...]:
    """``k`` flows that send all the time, each between ends of its own; one round trip for all or
    one each; they start at once if not said otherwise."""
    rtts = [rtt] * k if isinstance(rtt, str) else rtt
    return tuple(
        FlowOptions(
            f"src_{i}",
            f"dst_{i}",
            setup.cc,
            rtt,
            start=start,
            stop=setup.stop_time,
            recovery=setup.recovery,
        )
        for i, (rtt, start) in enumerate(zip(rtts, starts or ["0s"] * k, strict=True))
    )
