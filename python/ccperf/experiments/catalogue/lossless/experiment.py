"""What experiments on lossless fabrics have in common: links that pause, marks, and senders."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.experiments.catalogue import trimming
from ccperf.experiments.catalogue.experiment import Experiment
from ccperf.experiments.catalogue.parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ccperf.experiments.catalogue.experiment import Setup
    from ccperf.experiments.topologies import Fabric, FabricLink, SwitchPort
    from ccperf.scenario import Scenario

#: Bytes of a packet of RDMA, as in the ns-3 fork of HPCC, and of it with headers of IP.
PAYLOAD = 1000
PACKET = PAYLOAD + 44
DELAY, DELAY_S = "1us", 1e-6
#: Of DCQCN's paper, at 40 Gbps; thresholds scale with the rate.
K_MIN, K_MAX, P_MAX = 5_000, 200_000, 0.01
OF_RATE = 40_000_000_000
#: First windows of NDP at that rate, in packets: a round trip over one switch has 21, over a
#: leaf-spine 42.
WINDOW, LONG_WINDOW = 30, 60
#: Of packets that are larger.
LEAST_WINDOW = 15
#: Where a switch has the other end pause, of each link and priority.
XOFF = "100kB"
#: Differentiated services code point of the lossless priority, 3.
DSCP = 26

#: Links from host to host over a leaf-spine.
FAR = 4

TCP = "tcp"
TRANSPORT = Parameter(
    "transport",
    "word",
    ("line_rate", "dcqcn"),
    "dcqcn",
    "How hosts send: RoCE with one of its laws, NDP or Ultra Ethernet's NSCC over switches that "
    "cut packets and have nobody pause, or TCP, whose congestion control is under test.",
    words=(
        *(law["linux"][0] for law in registry.tables()["rate_control"]),
        *trimming.CONTROLS,
        TCP,
    ),
)
PFC = Parameter("pfc", "word", ("on",), "on", "Whether links pause.", words=("on", "off"))
RATE = Parameter("rate", "rate", ("40Gbps",), "40Gbps", "Rate of all links.")


class Lossless(Experiment):
    group = "Lossless fabrics"
    parameters: ClassVar[tuple[Parameter, ...]] = (TRANSPORT, PFC, RATE)
    usual: ClassVar[tuple[str, ...]] = ("TcpDctcp",)
    # The others have laws of their own.
    tested_at = (TRANSPORT.name, (TCP,))
    draws_more: ClassVar[bool | None] = False
    seeded = "which packets are marked"

    def scenario_over(
        self,
        network: Fabric,
        setup: Setup,
        flows: Sequence[Mapping[str, Any]],
        *,
        sampled: Sequence[str],
        interval: str,
        **more: Any,
    ) -> Scenario:
        """These flows over the network, with its pauses; completions are recorded, and samples of
        the directions that are to be sampled.
        """
        return _pausing(network, setup).scenario(
            flows,
            stop_time=setup.stop_time,
            seed=setup.seed,
            label=self.name,
            recording={"completions": True, "links": sampled, "interval": interval},
            **more,
        )


def link(setup: Setup) -> FabricLink:
    """Any link of the network."""
    from ccperf.experiments.topologies import FabricLink

    return FabricLink(setup["rate"], DELAY)


def port(setup: Setup, hops: int = 2, payload: int = PAYLOAD) -> SwitchPort:
    """A switch's, for packets of so many bytes over so many links: one that cuts packets; else RED
    on the queue as it is, from DCQCN's thresholds, scaled with the rate.
    """
    from ccperf.experiments.topologies import SwitchPort

    rate = _native.parse_rate(setup["rate"])
    if setup["transport"] in trimming.CONTROLS:
        per_hop = 2 * DELAY_S * rate / 8 + payload + 2 * trimming.HEADERS
        return trimming.port(setup["transport"], hops * per_hop)
    scale = rate / OF_RATE
    red = {
        "MinTh": round(K_MIN * scale),
        "MaxTh": round(K_MAX * scale),
        "LInterm": 1 / P_MAX,
        "MeanPktSize": PACKET,
        "MaxSize": "100MB",
        "QW": 1,
        "UseEcn": True,
        "UseHardDrop": False,
        "Gentle": False,
        "Wait": False,
    }
    return SwitchPort({"type": "RedQueueDisc", "attributes": red}, "100p")


def host_port() -> SwitchPort:
    """A host's: room for what its sockets send."""
    from ccperf.experiments.topologies import SwitchPort

    return SwitchPort({"type": "FifoQueueDisc", "attributes": {"MaxSize": "10000p"}}, "100p")


def _pausing(network: Fabric, setup: Setup) -> Fabric:
    """The network with pauses of every direction that leads to a switch, if they are on."""
    if setup["pfc"] == "off" or setup["transport"] in trimming.CONTROLS:
        return network
    pfc = {"xoff": XOFF}
    switches = set(network.switches)

    def with_pauses(link: Mapping[str, Any]) -> dict[str, Any]:
        first, second = link["ends"]
        made = dict(link)
        if second in switches:
            made["forward"] = {**link["forward"], "pfc": pfc}
        if first in switches:
            made["reverse"] = {**link["reverse"], "pfc": pfc}
        return made

    return replace(network, links=tuple(map(with_pauses, network.links)))


def flow(setup: Setup, ends: tuple[str, str], size: str = "0B", **more: Any) -> dict[str, Any]:
    """One that always has data, over the transport that is asked for."""
    from ccperf.experiments.topologies.dumbbell import SOCKET

    source, destination = ends
    application = {"type": "Greedy", "bytes": size, "write": f"{PAYLOAD}B"}
    made = {"source": source, "destination": destination, "application": application, **more}
    if setup["transport"] in trimming.CONTROLS:
        return {**made, **trimming.sender(setup["transport"], WINDOW)}
    if setup["transport"] != TCP:
        return {**made, "transport": "ROCE", "cc": {"type": setup["transport"]}}
    # The window of a path that pauses is never short.
    socket = {**SOCKET, "SegmentSize": PAYLOAD, "UseEcn": "On"}
    return {
        **made,
        "cc": setup.cc,
        "recovery": setup.recovery,
        "dscp": DSCP,
        "return_dscp": 48,
        "tcp": socket,
    }


def far_flow(setup: Setup, ends: tuple[str, str], payload: int = PAYLOAD) -> dict[str, Any]:
    """The same over a leaf-spine, whose round trips are longer, in packets of so many bytes."""
    made = flow(setup, ends)
    made["application"]["write"] = f"{payload}B"
    if setup["transport"] in trimming.CONTROLS:
        window = max(LEAST_WINDOW, LONG_WINDOW * PAYLOAD // payload)
        return {**made, **trimming.sender(setup["transport"], window)}
    if setup["transport"] == TCP:
        return {**made, "tcp": {**made["tcp"], "SegmentSize": payload}}
    return made
