"""What experiments on load balancers have in common: the fabric, its flows, the scheme."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.base import expression
from ccperf.errors import UsageError
from ccperf.experiments.catalogue import trimming
from ccperf.experiments.catalogue.answer import FCT, LARGE, SMALL_P99, UNFINISHED, Answer
from ccperf.experiments.catalogue.balancing.conditions import CONDITIONS, slow_links
from ccperf.experiments.catalogue.datacentre import schemes
from ccperf.experiments.catalogue.datacentre.experiment import (
    FABRIC_RATE,
    FLOW_TRACE,
    RATE,
    RATE_OF_LINKS,
    SEGMENT,
    WORKLOAD,
    at_rate,
    bursts,
    flows_between_racks,
    kept_open,
    of_the_uplinks,
    rate_between_switches,
    stack,
    without_what_a_trace_says,
)
from ccperf.experiments.catalogue.datacentre.experiment import (
    TRANSPORT as TCP_TRANSPORT,
)
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.experiments.catalogue.parameter import Value
    from ccperf.experiments.topologies import Fabric
    from ccperf.scenario import Scenario

LINK_DELAY = "10us"
#: The switches' marks and room at 10 Gbps: DCTCP's threshold is 65 packets, which take 78 us.
THRESHOLDS = schemes.Thresholds(
    rate=RATE,
    limit="600p",
    tail="78us",
    average="78us",
    target="10us",
    interval="100us",
    codel_target="10us",
    codel_interval="100us",
)
TRANSPORT = replace(
    TCP_TRANSPORT,
    words=trimming.CONTROLS,
    doc="Congestion control of all flows, with ECN; or NDP or NSCC over switches that cut packets.",
)
#: Of those, longer than a round trip without queues.
ROUND_TRIP = 100e-6
QDISC = Parameter(
    "qdisc", "qdisc", ("StepRedQueueDisc",), "StepRedQueueDisc", "Marking discipline of switches."
)
#: The paper's simulations have timers of 10 ms.
TIMERS = {"ConnTimeout": "10ms", "MinRto": "10ms"}
LOAD = Parameter("load", "load", (0.3, 0.5, 0.7, 0.9), 0.5, "Load of the leaves' uplinks.")
LEAVES = Parameter("leaves", "count", (4,), 4, "Number of leaves, at least 2.", least=2)
SPINES = Parameter("spines", "count", (4,), 4, "Number of spines.")
SERVERS = Parameter("servers", "count", (8,), 8, "Servers of a leaf.")
ARRIVALS = Parameter("arrivals", "time", ("50ms",), "50ms", "Flows begin before this.")
FLOWLET = Parameter(
    "flowlet", "time", ("150us",), "150us", "Gap between flowlets, for schemes that have them."
)
LOSS = Parameter(
    "dup_acks",
    "count",
    (3,),
    3,
    "Duplicate ACKs that make a loss; 1000 leaves losses to the timer, for schemes that reorder.",
)
#: Schemes whose papers put a buffer below the receiver's TCP that hands segments on in order.
RESEQUENCED = ("drb", "presto")
#: Those that need the acknowledgement of each segment, and a transport that is patient.
TOLERANT = ("reps",)
#: Longer than a full queue of a switch takes to drain, 0.72 ms.
HELD = "1ms"
ORDER = Parameter(
    "order",
    "word",
    ("paper",),
    "paper",
    "What hosts do about reordering: nothing, hold segments back for up to 1 ms (resequenced), or "
    "wait for half of what is outstanding before a loss (tolerant, with SACK); paper: what the "
    "scheme's does, resequenced for DRB and Presto, tolerant for REPS.",
    ("paper", "nothing", "resequenced", "tolerant"),
)
#: Parameters that say nothing where switches cut packets.
OF_TCP = (QDISC.name, LOSS.name, ORDER.name)
#: In the order of options.
CROSSED = (QDISC, RATE_OF_LINKS, FABRIC_RATE, FLOW_TRACE)
COMMON = (
    WORKLOAD,
    LOAD,
    LEAVES,
    SPINES,
    SERVERS,
    ARRIVALS,
    FLOWLET,
    LOSS,
    ORDER,
    *CROSSED,
    TRANSPORT,
)


def with_grid(parameter: Parameter, *values: Any, default: Any = None) -> Parameter:
    """The parameter with other values."""
    return replace(parameter, grid=values, default=values[0] if default is None else default)


@dataclass(frozen=True)
class Balanced:
    """What one point asks for besides its common parameters."""

    condition: str = "symmetric"
    #: Attributes of the scheme, where it has them.
    attributes: tuple[tuple[str, str], ...] = ()


class BalancingExperiment(Experiment):
    """An experiment whose algorithm under test is a load balancer."""

    kind: ClassVar[registry.Kind] = "routing"
    usual: ClassVar[tuple[str, ...]] = ("ecmp", "letflow", "conga", "hermes")
    papers: ClassVar[tuple[str, ...]] = ("hermes",)
    group = "Load balancing"
    recovery = "TcpClassicRecovery"
    seeded = (
        "when flows begin, their ends and sizes, which links are slow, and all choices at random"
    )
    stop_time = "1s"
    answer = Answer((FCT, SMALL_P99, LARGE, UNFINISHED), "load", "ratio")

    #: Of all points; `asked` may tell them apart.
    condition: ClassVar[str] = "symmetric"

    def asked(self, setup: Setup) -> Balanced:  # noqa: ARG002  # others look at it
        """What this point asks for."""
        return Balanced(self.condition)

    def workloads(self, setup: Setup, network: Fabric) -> list[dict[str, Any]]:
        """What goes over the network: transfers between racks, at a load of the uplinks."""
        # A load is of those that are there when all are well.
        uplinks = (
            setup["leaves"] * setup["spines"] * _native.parse_rate(rate_between_switches(setup))
        )
        flows = flows_between_racks(setup, network, uplinks)
        return [{**flows, **kept_open(setup)}, *bursts(setup)]

    def settle(self, values: dict[str, Value], stop_time: str) -> dict[str, Value]:
        settled = super().settle(values, stop_time)
        if settled["transport"] in trimming.CONTROLS:
            for each in self.parameters:
                if each.name in OF_TCP and (value := settled[each.name]) != each.default:
                    message = f"`{value}` changes nothing with transport={settled['transport']}"
                    raise UsageError(each.name, f"{message}; leave it out")
        return without_what_a_trace_says(self.parameters, settled)

    def build(self, setup: Setup) -> Scenario:
        asked = self.asked(setup)
        network = _network(setup, asked.condition)
        until = _native.parse_time(str(setup.parameters.get("arrivals", "0s")))
        conditions = CONDITIONS[asked.condition](network, until)
        known = registry.parameters("routing", setup.cc)
        attributes = {"FlowletTimeout": setup["flowlet"], **dict(asked.attributes)}
        return network.scenario(
            [],
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
            routing={
                "type": setup.cc,
                "attributes": {k: v for k, v in attributes.items() if k in known},
            },
            stacks=[_stack(setup)],
            workloads=self.workloads(setup, network),
            recording={**of_the_uplinks(network), "balancing": True},
            **conditions,
        )


def _stack(setup: Setup) -> dict[str, Any]:
    if setup["transport"] not in trimming.CONTROLS:
        return stack(setup, ReTxThreshold=setup["dup_acks"], **TIMERS, **_order(setup))
    packets = round(_round_trip(setup["rate"]) / (SEGMENT + trimming.HEADERS))
    return {"name": "dc", **trimming.sender(setup["transport"], packets)}


def _round_trip(rate: str) -> float:
    """Bytes."""
    return _native.parse_rate(rate) * ROUND_TRIP / 8


def _order(setup: Setup) -> dict[str, str]:
    """What is done about reordering, as attributes of the sockets."""
    asked = setup["order"]
    if asked == "paper":
        scheme = expression.cut(setup.cc)[0]
        patient = "tolerant" if scheme in TOLERANT else "nothing"
        asked = "resequenced" if scheme in RESEQUENCED else patient
    return {
        "nothing": {},
        "resequenced": {"ResequencingTimeout": HELD},
        "tolerant": {"ReorderingTolerance": "true", "Sack": "true"},
    }[asked]


def _network(setup: Setup, condition: str) -> Fabric:
    from ccperf.experiments.topologies import FabricLink, SwitchPort, fair_host_port, leaf_spine

    rate = rate_between_switches(setup)
    parallel = 2 if condition == "parallel_links" else 1

    def port(rate: str) -> SwitchPort:
        if setup["transport"] in trimming.CONTROLS:
            return trimming.port(setup["transport"], _round_trip(rate))
        return SwitchPort(schemes.discipline(setup["qdisc"], at_rate(THRESHOLDS, rate)))

    network = leaf_spine(
        setup["leaves"],
        # As much capacity as without parallel links: those between are as fast together.
        setup["spines"] // parallel,
        setup["servers"],
        parallel=parallel,
        slow=slow_links(condition, rate, setup.seed),
        host_link_of=FabricLink(setup["rate"], LINK_DELAY),
        fabric_link_of=FabricLink(rate, LINK_DELAY),
        port=port(setup["rate"]),
        fabric_port=port(rate),
        host_port=fair_host_port("20us"),
    )
    if parallel == 1:
        return network
    slow = _native.format_rate(_native.parse_rate(rate) // 5)
    links = tuple(
        {**each, "rate": slow}
        if each["name"].endswith("_1") and each["name"].count("_") == 4
        else each
        for each in network.links
    )
    return replace(network, links=links)
