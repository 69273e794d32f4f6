"""Traffic that does not adapt, and traffic in the way of acknowledgements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf import _native
from ccperf.errors import UsageError
from ccperf.experiments.catalogue import shared
from ccperf.experiments.catalogue.answer import RETRANSMITTED, SRTT, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter, Value

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

RATE, RTT = "20Mbps", "40ms"
#: The source over UDP is on half of the time.
PERIOD = "Exponential(mean=500ms)"


class CrossTraffic(Experiment):
    name = "cross_traffic"
    title = "Cross traffic"
    group = "Competition"
    description = (
        "A flow (flow_1) beside a source over UDP that is on and off for exponentially long times, "
        "half a second on average, and uses `load` of the link in the mean, twice that while it is "
        "on; with `reverse`, a flow of the same algorithm goes the other way (flow_3), through a "
        "queue of one bandwidth-delay product in which the acknowledgements of the first wait. A "
        "good algorithm uses what the datagrams leave, soon after they begin and end (RFC 5166, "
        "section 2.2.1), and does not lose its way when acknowledgements come in bursts."
    )
    answer = Answer((USED, SRTT, RETRANSMITTED), "load")
    parameters = (
        Parameter("load", "probability", (0.1, 0.4), 0.4, "Mean share of the datagrams."),
        Parameter(
            "reverse",
            "word",
            ("none", "tcp"),
            "none",
            "What goes the other way.",
            words=("none", "tcp"),
        ),
    )
    draws_starts = True
    seeded = "when the datagrams come, and when flows start, within one round trip"

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:  # noqa: ARG002
        if not 0 < float(values["load"]) <= 1:
            raise UsageError("load", f"`{values['load']}` must be above 0")
        return values

    def starts(self, setup: Setup) -> list[str]:
        first, _, last = shared.starts(setup, 3, RTT)
        # Datagrams begin at once.
        return [first, "0s", *([last] if setup["reverse"] == "tcp" else [])]

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import Bottleneck, DumbbellFlow, dumbbell

        queue = shared.buffer(RATE, RTT)
        first, _, *last = self.starts(setup)
        peak = round(2 * setup["load"] * _native.parse_rate(RATE))
        datagrams = {
            "type": "OnOff",
            "rate": _native.format_rate(peak),
            "write": "1200B",
            "on_time": PERIOD,
            "off_time": PERIOD,
        }
        flows = [
            DumbbellFlow(setup.cc, RTT, recovery=setup.recovery, start=first),
            DumbbellFlow(None, RTT, transport="UDP", application=datagrams),
        ]
        flows += [DumbbellFlow(setup.cc, RTT, recovery=setup.recovery, start=at) for at in last]
        scenario = dumbbell(
            Bottleneck(
                RATE,
                queue,
                reverse={
                    "qdisc": {"type": "FifoQueueDisc", "attributes": {"MaxSize": queue}},
                    "device_queue": "1p",
                },
            ),
            flows,
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
        )
        return scenario.model_copy(
            update={
                "flows": tuple(
                    flow.model_copy(update={"source": flow.destination, "destination": flow.source})
                    if i == 2
                    else flow
                    for i, flow in enumerate(scenario.flows)
                )
            }
        )
