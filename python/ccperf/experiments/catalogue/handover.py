"""A path over satellites in a low orbit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from ccperf import _native
from ccperf.errors import UsageError
from ccperf.experiments.catalogue import shared
from ccperf.experiments.catalogue.answer import RETRANSMITTED, SRTT, TIMEOUTS, USED, Answer
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter, Value
from ccperf.scenario import profiles

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.scenario import Scenario

#: The access links of both sides, one way, twice.
_ACCESS_NS = 2_000_000


class Handover(Experiment):
    name = "handover"
    title = "Handovers"
    group = "Dynamic network"
    description = (
        "One flow over satellites in a low orbit: every 15 s, as Starlink's, the path becomes "
        "another one, after some ten milliseconds in which packets are lost. Its round trip is "
        "drawn between two bounds; where it becomes shorter, packets overtake. A good algorithm "
        "takes none of this for congestion, and a longer path not for a queue. All flows have the "
        "TCP of the profile `linux`."
    )
    usual: ClassVar[tuple[str, ...]] = ("TcpCubic",)
    recovery = profiles.PROFILES["linux"]["recovery"]
    stop_time = "90s"
    answer = Answer((USED, SRTT, RETRANSMITTED, TIMEOUTS), "loss")
    parameters = (
        Parameter("rate", "rate", ("100Mbps",), "100Mbps", "Rate of the bottleneck."),
        Parameter("every", "time", ("15s",), "15s", "From one handover to the next."),
        Parameter("least", "time", ("20ms",), "20ms", "Shortest round trip, at least 6ms."),
        Parameter("most", "time", ("60ms",), "60ms", "Longest round trip."),
        Parameter(
            "outage", "time", ("60ms",), "60ms", "How long packets are lost before a handover."
        ),
        Parameter(
            "loss", "probability", (0.0, 0.5), 0.5, "Share of packets lost before a handover."
        ),
    )
    draws_more = True
    seeded = "the round trips, and which packets are lost"

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:  # noqa: ARG002
        time = {name: _native.parse_time(str(values[name])) for name in ("least", "most")}
        if time["least"] < 3 * _ACCESS_NS:
            raise UsageError("least", f"{values['least']} is below 6ms; lengthen it")
        if time["most"] < time["least"]:
            raise UsageError("most", f"{values['most']} is below least={values['least']}")
        if _native.parse_time(str(values["outage"])) >= _native.parse_time(str(values["every"])):
            raise UsageError("outage", f"{values['outage']} is not below every={values['every']}")
        return values

    def build(self, setup: Setup) -> Scenario:
        from ccperf.experiments.topologies import Bottleneck, DumbbellFlow, dumbbell
        from ccperf.experiments.topologies.dumbbell import BOTTLENECK
        from ccperf.experiments.topologies.handovers import Handovers

        def one_way(name: str) -> str:
            return _native.format_time(_native.parse_time(setup[name]) // 2 - _ACCESS_NS)

        handovers = Handovers(
            setup["every"], one_way("least"), one_way("most"), setup["outage"], setup["loss"]
        )
        (_, first), *_ = handovers.delays(setup.stop_time, setup.seed)
        rtt = _native.format_time(2 * (first + _ACCESS_NS))
        mean = (_native.parse_time(setup["least"]) + _native.parse_time(setup["most"])) // 2
        return dumbbell(
            Bottleneck(setup["rate"], shared.buffer(setup["rate"], _native.format_time(mean))),
            [DumbbellFlow(setup.cc, rtt, recovery=setup.recovery, tcp=profiles.tcp("linux"))],
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
            changes=tuple(handovers.changes(BOTTLENECK, setup.stop_time, setup.seed)),
        )
