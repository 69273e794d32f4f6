"""Scalable and classic flows over DualPI2."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ccperf import _native
from ccperf.base.wording import counted
from ccperf.errors import UsageError
from ccperf.experiments.catalogue import shared
from ccperf.experiments.catalogue.answer import EST_QUEUE, JAIN, SRTT_P99, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter, Value, times
from ccperf.scenario import profiles

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

#: The numbers of flows of the algorithm under test and of the other.
MIXES = ("1:0", "1:1", "1:3", "3:1", "3:3", "0:1")
#: The two groups of flows.
TESTED, OTHER = "tested", "other"
#: What the other's sockets are asked for: no ECN, RFC 3168 or AccECN.
_ASKED: dict[str, dict[str, str]] = {
    "off": {},
    "classic": {"UseEcn": "On"},
    "accurate": {"UseEcn": "On", "EcnFeedback": "Accurate"},
}


class L4s(Experiment):
    name = "l4s"
    title = "L4S beside classic traffic"
    group = "Competition"
    description = (
        "Flows of the algorithm under test and of another one over DualPI2 (RFC 9332) with Linux's "
        "defaults, all with the TCP of the profile `linux`. With L4S (ECT(1)) the algorithm under "
        "test should wait a millisecond or less, the link stay busy, and a flow of the other get "
        "about the same rate, as long as round trips are alike."
    )
    usual: ClassVar[tuple[str, ...]] = ("TcpPrague",)
    recovery = profiles.PROFILES["linux"]["recovery"]
    stop_time = "30s"
    # Of the link there is one queueing delay for all: beside classic traffic, that of the other.
    answer = Answer((f"{TESTED}.{EST_QUEUE}", USED, JAIN, f"{TESTED}.{SRTT_P99}"), "rate")
    parameters = (
        Parameter("against", "cc", ("TcpCubic",), "TcpCubic", "The algorithm that it meets."),
        Parameter(
            "ecn",
            "word",
            ("off",),
            "off",
            "What that asks for: no ECN, RFC 3168 or AccECN.",
            tuple(_ASKED),
        ),
        Parameter(
            "mix", "word", ("1:0", "1:1"), "1:1", "Flows under test, and of the other.", MIXES
        ),
        Parameter("rate", "rate", ("100Mbps",), "100Mbps", "Rate of the bottleneck."),
        Parameter(
            "rtts",
            "times",
            ("[25ms,25ms]",),
            "[25ms,25ms]",
            "Round trips without queues of flows under test and of the other, at least 4ms.",
        ),
    )
    draws_starts = True
    seeded = shared.SEEDED_STARTS

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:  # noqa: ARG002
        if (given := len(times(values["rtts"]))) != 2:
            entries = counted(given, "entry")
            raise UsageError("rtts", f"has {entries}; give one for each of the two kinds")
        return values

    def starts(self, setup: Setup) -> list[str]:
        rtts = times(setup["rtts"])
        shortest = min(rtts, key=_native.parse_time)
        return shared.starts(setup, sum(_counts(setup["mix"])), shortest)

    def build(self, setup: Setup) -> Scenario:
        from dataclasses import replace

        from ccperf.experiments.topologies import Bottleneck, dumbbell

        rtts = times(setup["rtts"])
        counts = _counts(setup["mix"])
        names = [setup.cc] * counts[0] + [setup["against"]] * counts[1]
        each = [rtts[0]] * counts[0] + [rtts[1]] * counts[1]
        plain = profiles.tcp("linux")
        other = {**plain, **_ASKED[setup["ecn"]]}
        flows = [
            replace(flow, tcp=plain, group=TESTED)
            if i < counts[0]
            else replace(flow, tcp=other, group=OTHER)
            for i, flow in enumerate(shared.greedy(setup, names, each, self.starts(setup)))
        ]
        return dumbbell(
            Bottleneck(setup["rate"], None, "DualPi2QueueDisc"),
            flows,
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
        )


def _counts(mix: str) -> list[int]:
    """Of flows under test, and of the other."""
    return [int(count) for count in mix.split(":")]
