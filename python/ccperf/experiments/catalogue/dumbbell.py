"""A dumbbell to try things on: flows of one algorithm, and all that matters is an option."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ccperf.algorithms import registry
from ccperf.errors import UsageError
from ccperf.experiments.bounds import DUMBBELL_FLOWS
from ccperf.experiments.catalogue import shared
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import AUTO, Parameter, products

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.experiments.catalogue.parameter import Value
    from ccperf.scenario import Scenario


class Dumbbell(Experiment):
    name = "dumbbell"
    title = "A dumbbell to play with"
    group = "Of your own"
    description = (
        "Flows of one algorithm that always have data to send share a bottleneck. In no benchmark: "
        "its parameters have one value each, which are yours to change."
    )
    usual: ClassVar[tuple[str, ...]] = ("TcpCubic",)
    recovery = "TcpPrrRecovery"
    parameters = (
        Parameter("flows", "count", (1,), 1, "Number of flows.", most=DUMBBELL_FLOWS),
        Parameter("rate", "rate", ("16Mbps",), "16Mbps", "Rate of the bottleneck."),
        Parameter("rtt", "time", ("15ms",), "15ms", "Round trip without queues, at least 4ms."),
        Parameter(
            "buffer",
            "buffer",
            (AUTO,),
            AUTO,
            "Limit of the queue: 20p, 30kB, or in bandwidth-delay products, 1bdp. If not given, it "
            "is that of the queue discipline's parameters, or 1bdp if these have none.",
        ),
        Parameter(
            "qdisc",
            "qdisc",
            ("FifoQueueDisc",),
            "FifoQueueDisc",
            "Queue discipline of the bottleneck.",
        ),
    )

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:  # noqa: ARG002
        buffer, qdisc = values["buffer"], str(values["qdisc"])
        limit = registry.own_limit(qdisc)
        if limit and buffer != AUTO:
            message = (
                f"`{buffer}`, and {qdisc} has a limit, too; leave out the buffer, or "
                f"{limit.partition('=')[0]} of the queue discipline"
            )
            raise UsageError("buffer", message)
        return {**values, "buffer": buffer if limit or buffer != AUTO else "1bdp"}

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import Bottleneck, DumbbellFlow, dumbbell

        rate, rtt, buffer = setup["rate"], setup["rtt"], setup["buffer"]
        if buffer == AUTO:
            buffer = None  # the discipline's own
        elif (bdp := products(buffer)) is not None:
            buffer = shared.buffer(rate, rtt, bdp)
        return dumbbell(
            Bottleneck(rate, buffer, setup["qdisc"]),
            [DumbbellFlow(setup.cc, rtt, recovery=setup.recovery)] * setup["flows"],
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
        )
