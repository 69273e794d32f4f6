"""Two algorithms on one bottleneck."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.base.wording import counted
from ccperf.errors import UsageError
from ccperf.experiments.catalogue import shared
from ccperf.experiments.catalogue.answer import CONVERGENCE, JAIN, SRTT, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter, Value, times

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

RATE, RTT = "40Mbps", "40ms"


class Competition(Experiment):
    name = "competition"
    title = "Competition"
    group = "Competition"
    description = (
        "A flow of the algorithm under test (flow_1) and one of another algorithm (flow_2) share "
        "a drop-tail bottleneck of 40 Mbps, with equal and with unequal round trips, in a shallow "
        "and in a deep buffer. A good algorithm takes about half: it neither starves the other "
        "nor is starved (RFC 9743, section 5)."
    )
    answer = Answer((JAIN, CONVERGENCE, USED, SRTT), "against")
    parameters = (
        Parameter(
            "against",
            "cc",
            ("TcpNewReno", "TcpCubic", "TcpBbr"),
            "TcpCubic",
            "The algorithm that it meets.",
        ),
        Parameter(
            "rtts",
            "times",
            ("[40ms,40ms]", "[40ms,80ms]", "[80ms,40ms]"),
            "[40ms,40ms]",
            "Round trips of the flow under test and of the other.",
        ),
        Parameter(
            "buffer",
            "number",
            (1.0, 4.0),
            1.0,
            "Size of the queue, in bandwidth-delay products of 40 ms.",
        ),
    )
    draws_starts = True
    seeded = shared.SEEDED_STARTS

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:  # noqa: ARG002
        if (given := len(times(values["rtts"]))) != 2:
            entries = counted(given, "entry")
            raise UsageError("rtts", f"has {entries}; give one for each of the two flows")
        return values

    def starts(self, setup: Setup) -> list[str]:
        return shared.starts(setup, 2, RTT)

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import Bottleneck, dumbbell

        return dumbbell(
            Bottleneck(RATE, shared.buffer(RATE, RTT, setup["buffer"])),
            shared.greedy(
                setup, [setup.cc, setup["against"]], times(setup["rtts"]), self.starts(setup)
            ),
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
        )
