"""Senders join one by one, and leave again: how soon shares are equal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.errors import UsageError
from ccperf.experiments.catalogue.answer import JAIN_OF_SAMPLES, QUEUE, THROUGHPUT, Answer
from ccperf.experiments.catalogue.lossless.experiment import Lossless, flow, host_port, link, port
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario


class PfcJoining(Lossless):
    name = "pfc_joining"
    title = "Senders join and leave"
    description = (
        "Four hosts begin to send to a fifth one, one after the other, and stop in the same order, "
        "over 40 Gbps: after the micro-benchmark of HPCC's paper on fairness (section 5.2). Jain's "
        "index counts all of them, so that its mean over the steps is n / (2n - 1) at best, 4/7 of "
        "four: what is missing are unequal shares."
    )
    answer = Answer((JAIN_OF_SAMPLES, QUEUE, THROUGHPUT), "transport")
    parameters = (
        Parameter("senders", "count", (4,), 4, "How many hosts send, at least 2."),
        Parameter(
            "every", "time", ("5ms",), "5ms", "How long until the next one joins, or leaves."
        ),
        *Lossless.parameters,
    )
    stop_time = "1s"

    def length(self, setup: Setup) -> str:
        """Until the last one stops, but at most the stop time."""
        steps = 2 * setup["senders"] - 1
        end = min(steps * _native.parse_time(setup["every"]), _native.parse_time(setup.stop_time))
        return _native.format_time(end)

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import star

        count, step = setup["senders"], _native.parse_time(setup["every"])
        if count < 2:
            raise UsageError("senders", f"`{count}` shares nothing; give at least 2")
        network = star(count + 1, link(setup), port=port(setup), host_port=host_port())
        receiver, *senders = network.hosts
        length = self.length(setup)
        end = _native.parse_time(length)
        flows = []
        for i, sender in enumerate(senders):
            start, stop = step * i, step * (count + i)
            if start < end:
                until = {"stop": _native.format_time(stop)} if stop < end else {}
                begin = _native.format_time(start)
                flows.append(flow(setup, (sender, receiver), start=begin, **until))
        return self.scenario_over(
            network,
            replace(setup, stop_time=length),
            flows,
            sampled=[f"{receiver}_reverse"],
            interval="100us",
        )
