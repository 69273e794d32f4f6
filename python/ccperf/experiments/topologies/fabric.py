"""What data-centre networks have in common: hosts, switches, links, and flows over them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ccperf.errors import Problem, ScenarioError, unknown
from ccperf.scenario import Scenario


class FabricLink(NamedTuple):
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

    @property
    def racks(self) -> list[list[str]]:
        """The hosts of each switch that has some, in the order of hosts."""
        racks: dict[str, list[str]] = {}
        for link in self.links:
            host, switch = link["ends"]
            if host in self._hosts:
                racks.setdefault(switch, []).append(host)
        return list(racks.values())

    @property
    def between_switches(self) -> list[str]:
        """The names of the links between switches."""
        return [link["name"] for link in self.links if link["ends"][0] not in self._hosts]

    @cached_property
    def _hosts(self) -> frozenset[str]:
        return frozenset(self.hosts)

    def failure(self, what: str, down: str, up: str | None = None) -> dict[str, str | None]:
        """A failure in the fabric's own words: ``leaf0-spine1`` is a link, ``spine1`` a switch.

        Signs between letters and digits do not matter, nor does the order of a link's ends. A host
        is its name; its link is ``h_0_1-leaf0``.

        Raises:
            ScenarioError: for what there is not.
        """
        kind, name = self._find(what)
        return {kind: name, "down": down, "up": up}

    def node(self, what: str) -> str:
        """The name of a host or switch in the fabric's own words: ``spine0``.

        Raises:
            ScenarioError: for what there is not.
        """
        kind, name = self._find(what)
        if kind == "link":
            raise ScenarioError([("node", f"`{what}` is a link; name a host or a switch")])
        return name

    def _find(self, what: str) -> tuple[str, str]:
        # A host's link has the name of the host, which comes first.
        known = {_letters(node): ("node", node) for node in self.nodes}
        for link in self.links:
            first, second = (_letters(end) for end in link["ends"])
            is_plain = link["name"] in (link["ends"][0], "_".join(link["ends"]))
            number = "" if is_plain else link["name"].rpartition("_")[2]
            known.setdefault(f"{first}{second}{number}", ("link", link["name"]))
            known.setdefault(f"{second}{first}{number}", ("link", link["name"]))
        found = known.get(_letters(what))
        if found is None:
            names = [*self.switches, *(link["name"] for link in self.links)]
            raise ScenarioError([("failures", unknown("link or switch", what, names))])
        return found

    def scenario(self, flows: Sequence[Mapping[str, Any]], **settings: Any) -> Scenario:
        """The fabric with `flows` over it; `settings` are further fields of the scenario.

        Raises:
            ScenarioError: as the scenario does.
        """
        return self.checked({"flows": flows, **settings})

    def checked(
        self,
        fields: Mapping[str, Any],
        folder: Path | None = None,
        given: Mapping[str, object] | None = None,
    ) -> Scenario:
        """The scenario of these fields; paths in it begin at `folder`.

        `given` are the settings that made the fabric, by their paths in a file: a problem of what
        one of them says is told once, at it, and not of each link.

        Raises:
            ScenarioError: as the scenario does.
        """
        made = {"nodes": self.nodes, "links": self.links, **fields}
        try:
            return Scenario.model_validate(made, context={"folder": folder})
        except ScenarioError as error:
            raise ScenarioError(self._told_once(error.problems, given or {})) from None

    def _told_once(self, problems: Sequence[Problem], given: Mapping[str, object]) -> list[Problem]:
        """Problems of links that are alike as one: at the setting, or at the first link."""
        found: dict[tuple[str, str, str], list[Problem]] = {}
        for problem in problems:
            path, alike = problem.path, ""
            part: Mapping[str, Any] = {}
            if of := _OF_LINK.fullmatch(path):
                number, rest = int(of["link"]), of["rest"]
                link = self.links[number]
                part = link[of["way"]] if of["way"] else link
                said = (_where(name, it, part, rest, number) for name, it in given.items())
                setting = next(filter(None, said), "")
                path, alike = setting or path, "" if setting else rest
            key = (alike or path, str(part) if alike else "", problem.message)
            found.setdefault(key, []).append(problem._replace(path=path))
        return [
            first._replace(message=f"{first.message} (as in {len(others)} more)")
            if others and first.path.startswith("links[")
            else first
            for first, *others in found.values()
        ]


#: What is wrong with a link, or with what stands before one of its directions.
_OF_LINK = re.compile(r"links\[(?P<link>\d+)\]\.(?:(?P<way>forward|reverse)\.)?(?P<rest>.+)")


def _where(name: str, setting: object, part: Mapping[str, Any], field: str, number: int) -> str:
    """The path in a setting that says what a field of a part of a link is; empty if none does."""
    if isinstance(setting, SwitchPort):
        return f"{name}.{field}" if part == setting.direction() else ""
    if isinstance(setting, list):  # the delays of a star's links
        is_own = field == "delay" and setting[number : number + 1] == [part.get(field)]
        return f"{name}[{number}]" if is_own else ""
    said = getattr(setting, field, None) if field in FabricLink._fields else None
    return f"{name}.{field}" if said is not None and said == part.get(field) else ""


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


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
