"""All-reduce and all-to-all over load balancers and markings: how long the whole takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ccperf import _native
from ccperf.errors import UsageError
from ccperf.experiments.bounds import few_enough
from ccperf.experiments.catalogue.answer import MAKESPAN, STRAGGLER, Answer
from ccperf.experiments.catalogue.balancing.experiment import (
    FLOWLET,
    LEAVES,
    LOSS,
    ORDER,
    QDISC,
    SERVERS,
    SPINES,
    TRANSPORT,
    Balanced,
    BalancingExperiment,
    with_grid,
)
from ccperf.experiments.catalogue.datacentre.experiment import (
    FABRIC_RATE,
    RATE_OF_LINKS,
    SEGMENT,
)
from ccperf.experiments.catalogue.parameter import Parameter
from ccperf.experiments.collectives import COLLECTIVES, TRANSFERS

if TYPE_CHECKING:
    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.experiments.topologies import Fabric

DATA = Parameter("data", "size", ("8MB",), "8MB", "What each rank has to reduce, or to hand out.")
PLACEMENT = Parameter(
    "placement",
    "word",
    ("spread", "packed"),
    "spread",
    "Ranks that follow each other are in different racks (spread) or in one as long as it has "
    "hosts (packed).",
    ("spread", "packed"),
)
CONDITION = Parameter(
    "condition",
    "word",
    ("symmetric", "slow_links"),
    "symmetric",
    "All well, or 20 % of the fabric's links at a fifth of their rate.",
    ("symmetric", "slow_links", "link_cut"),
)
NETWORK = (LEAVES, SPINES, SERVERS, FLOWLET, LOSS, ORDER, QDISC, RATE_OF_LINKS, FABRIC_RATE)


class _Collective(BalancingExperiment):
    group = "Load balancing"
    usual = ("ecmp", "letflow", "conga", "hermes")
    papers: ClassVar[tuple[str, ...]] = ("collectives",)
    seeded = "the hash of the flows' paths, which links are slow, and all choices at random"
    stop_time = "1s"
    answer = Answer((MAKESPAN, STRAGGLER, "p99_fct_l4"), "condition")

    #: Of :data:`COLLECTIVES`.
    collective = ""

    def asked(self, setup: Setup) -> Balanced:
        return Balanced(setup["condition"])

    def workloads(self, setup: Setup, network: Fabric) -> list[dict[str, Any]]:
        name = setup.parameters.get("algorithm", self.collective)
        count = TRANSFERS[str(name)](len(network.hosts))
        few_enough("transfers", count, leaves=setup["leaves"], servers=setup["servers"])
        try:
            made = COLLECTIVES[str(name)](_ranks(setup, network), _native.parse_size(setup["data"]))
        except UsageError as error:
            ranks = f"{setup['leaves']} times {setup['servers']} servers"
            raise UsageError("leaves", f"{ranks} {error.message}") from None
        return [made.workload(name="collective", stack="dc", write=f"{SEGMENT}B")]


def _ranks(setup: Setup, network: Fabric) -> list[str]:
    racks = network.racks
    if setup["placement"] == "packed":
        return [host for rack in racks for host in rack]
    return [rack[i] for i in range(len(racks[0])) for rack in racks]


class AllReduce(_Collective):
    name = "all_reduce"
    title = "All-reduce: completion of the collective"
    papers = ("ringallreduce", "collectives")
    description = (
        "Every server of a leaf-spine is a rank of one all-reduce: each transfer begins when the "
        "one that it depends on has come, so that the slowest one of a step holds up the next. A "
        "good balancer leaves no straggler."
    )
    parameters = (
        Parameter(
            "algorithm",
            "word",
            ("ring", "halving_doubling"),
            "ring",
            "Around a ring, or recursive halving and doubling (a power of two of ranks).",
            ("ring", "halving_doubling"),
        ),
        CONDITION,
        DATA,
        PLACEMENT,
        *NETWORK,
        with_grid(TRANSPORT, "TcpDctcp"),
    )


class AllToAll(_Collective):
    name = "all_to_all"
    title = "All-to-all in rounds: completion of the collective"
    description = (
        "Every server of a leaf-spine hands a part of its data to every other one, in rounds: a "
        "rank begins its next round when it has sent and got what belongs to this one."
    )
    collective = "all_to_all"
    parameters = (CONDITION, DATA, PLACEMENT, *NETWORK, with_grid(TRANSPORT, "TcpDctcp"))
