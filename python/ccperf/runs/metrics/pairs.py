"""Between whom a scenario's flows and transfers go, and of which of them something is so."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

Side: TypeAlias = Literal["forward", "reverse"]
#: What is known of a direction of a link.
Of = TypeVar("Of")


class Named(NamedTuple):
    """The names of flows, and of workloads for some of whose transfers it may be so."""

    flows: frozenset[str] = frozenset()
    workloads: frozenset[str] = frozenset()


class Network(ABC, Generic[Of]):
    """Nodes, and what is known of each direction of the links between them."""

    def __init__(
        self, parsed: Mapping[str, Any], of: Callable[[Mapping[str, Any], Side], Of]
    ) -> None:
        """See what `of` returns of a link and a side of it."""
        self._parsed = parsed
        #: For each node, where links to it come from, and what is known of them.
        self.into: dict[str, list[tuple[str, Of]]] = {node: [] for node in parsed["nodes"]}
        #: The same of the first link from one node to another: a switch may have thousands.
        self._first: dict[tuple[str, str], Of] = {}
        for link in parsed["links"]:
            one, other = link["ends"]
            self._add(one, other, of(link, "forward"))
            self._add(other, one, of(link, "reverse"))

    def _add(self, start: str, end: str, known: Of) -> None:
        self.into[end].append((start, known))
        self._first.setdefault((start, end), known)

    @abstractmethod
    def applies(self, source: str, to: str) -> bool:
        """Whether what is asked for holds between two nodes."""

    @abstractmethod
    def kind(self, host: str) -> Hashable:
        """In what hosts at one switch differ as to this."""

    def named(self) -> Named:
        """Return the flows and workloads of which it is so."""
        parsed = self._parsed
        flows = (
            flow["name"]
            for flow in parsed["flows"]
            if self.applies(flow["source"], flow["destination"])
        )
        pairs: dict[str, set[tuple[str, str]]] = {}
        for workload in parsed.get("workloads", ()):
            arrivals = workload["arrivals"]
            if arrivals["type"] == "Answers":
                pairs[workload["name"]] = {(to, by) for by, to in pairs[arrivals["to"]]}
            else:
                pairs[workload["name"]] = self._pairs(workload)
        workloads = (
            name
            for name, between in pairs.items()
            if any(self.applies(source, to) for source, to in between)
        )
        return Named(frozenset(flows), frozenset(workloads))

    def own(self, start: str, end: str) -> Of:
        """That of a host's only link, in the direction from `start` to `end`."""
        return self._first[start, end]

    def switch(self, host: str) -> str:
        """Where the only link of a host leads; on it nobody chooses."""
        links = self.into[host]
        return links[0][0] if len(links) == 1 else host

    def _pairs(self, workload: Mapping[str, Any]) -> set[tuple[str, str]]:
        """Between whom there may be transfers; one host stands for all that are alike in this."""
        if workload["pairs"]["type"] == "Listed":
            return {(source, to) for source, to in workload["pairs"]["pairs"]}
        apart = {node: i for i, nodes in enumerate(workload.get("apart", ())) for node in nodes}
        hosts = [node for node, links in self.into.items() if len(links) == 1]

        def kinds(nodes: Sequence[str] | None) -> Iterable[tuple[str, int | None]]:
            of = {}
            for node in hosts if nodes is None else nodes:
                of[self.switch(node), apart.get(node), self.kind(node)] = node
            return ((node, kept) for (_, kept, _), node in of.items())

        return {
            (source, to)
            for source, own in kinds(workload.get("sources"))
            for to, other in kinds(workload.get("destinations"))
            if own is None or own != other
        }
