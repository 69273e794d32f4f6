"""What data-centre networks have in common: hosts, switches, links, and flows over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ccperf.errors import ScenarioError
from ccperf.scenario import Scenario


@dataclass(frozen=True)
class FabricLink:
    """Links of one kind; both directions have the same rate and delay."""

    rate: str = "10Gbps"
    #: One way.
    delay: str = "10us"


@dataclass(frozen=True)
class SwitchPort:
    """What stands before a link at a switch, or at a host."""

    #: A discipline as a scenario takes it: a name, or type and attributes.
    qdisc: str | Mapping[str, Any] | None = field(
        default_factory=lambda: {"type": "FifoQueueDisc", "attributes": {"MaxSize": "250p"}}
    )
    #: The transmit ring below it; one packet keeps what waits where the discipline sees it.
    device_queue: str = "1p"

    def direction(self) -> dict[str, Any]:
        """The scenario's description of a direction that such a port sends into."""
        return {"qdisc": self.qdisc, "device_queue": self.device_queue}


#: Hosts have room for what their sockets send: congestion shows at switches.
HOST_PORT = SwitchPort({"type": "FifoQueueDisc", "attributes": {"MaxSize": "10000p"}})


def fair_host_port(ce_threshold: str = "200us", device_queue: str = "1p") -> SwitchPort:
    """A host that queues its flows fairly and marks what waits for longer than `ce_threshold`.

    As Linux does it with ``fq_codel ce_threshold``. ns-3's TCP, unlike Linux's, puts its whole
    window into the queue of its host: without marks there, a flow that is alone fills it until it
    overflows, and those of the same host wait behind it.
    """
    marks = {"UseEcn": True, "CeThreshold": ce_threshold, "MaxSize": "10000p"}
    return SwitchPort({"type": "FqCoDelQueueDisc", "attributes": marks}, device_queue)


@dataclass(frozen=True)
class Fabric:
    """A network without its traffic: nodes and links in order of creation."""

    #: Where flows begin and end; the nodes that come first.
    hosts: tuple[str, ...]
    switches: tuple[str, ...]
    links: tuple[Mapping[str, Any], ...]

    @property
    def nodes(self) -> tuple[str, ...]:
        """Hosts, then switches."""
        return self.hosts + self.switches

    def scenario(self, flows: Sequence[Mapping[str, Any]], **settings: Any) -> Scenario:
        """The fabric with `flows` over it; `settings` are further fields of the scenario.

        Raises:
            ScenarioError: as the scenario does.
        """
        fields = {"nodes": self.nodes, "links": self.links, "flows": flows, **settings}
        return Scenario.model_validate(fields)


def host_link(host: str, switch: str, link: FabricLink, at: Mapping[str, SwitchPort]) -> Any:
    """A host's link, named after it; forward is from the host."""
    return _link(host, (host, switch), link, at["host"], at["switch"])


def switch_link(ends: tuple[str, str], link: FabricLink, port: SwitchPort, number: int = 0) -> Any:
    """A link between switches, named after both, and numbered from the second parallel one on."""
    name = f"{ends[0]}_{ends[1]}"
    return _link(f"{name}_{number}" if number else name, ends, link, port, port)


def _link(
    name: str, ends: tuple[str, str], link: FabricLink, first: SwitchPort, second: SwitchPort
) -> dict[str, Any]:
    return {
        "name": name,
        "ends": ends,
        "rate": link.rate,
        "delay": link.delay,
        "forward": first.direction(),
        "reverse": second.direction(),
    }


def at_least(field: str, value: int, least: int) -> None:
    """Refuse a number of things that makes no network.

    Raises:
        ScenarioError: with the name of the field.
    """
    if value < least:
        raise ScenarioError([(field, f"{value} makes no network; at least {least}")])
