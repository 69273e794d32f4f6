"""What a rule of diagnosis is, and what it looks at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ccperf import _native
from ccperf.algorithms import registry

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ccperf.runs.recording import Recording

#: A window of this many bytes or more stands for one without bound (2^31 - 1 or 2^32 - 1).
UNBOUNDED_BYTES = 2**31 - 1


class Note(NamedTuple):
    """What a rule found in a run."""

    #: The rule's name.
    rule: str
    #: The flow or the direction of a link that it is about.
    subject: str
    #: A sentence that says what is seen, why, and what changes it.
    text: str

    @property
    def anchor(self) -> str:
        """Where the documentation explains it."""
        return f"what-ns3-does.md#{self.rule}"


class Rule(NamedTuple):
    """One thing that may hold a run back without anybody having asked for it."""

    name: str
    #: What is seen, and what there is to say of it: for the documentation. Backquotes make code.
    what: str
    text: str
    #: Returns the subject and the sentence of each finding.
    find: Callable[[Run], Iterator[tuple[str, str]]]
    #: The metric whose value it explains, if it is one.
    metric: str = ""


class Flow:
    """A flow with a control: what its scenario says, and its samples while it is connected."""

    def __init__(self, run: Run, index: int, rows: slice, described: Mapping[str, Any]) -> None:
        """`index`: in the table `flows`; `rows`: its own in `flow_samples`."""
        self._run, self._index, self._own = run, index, rows
        self.described = described
        self.name: str = described["name"]

    @cached_property
    def _is_alive(self) -> npt.NDArray[np.bool_]:
        samples = self._run.recording.flow_samples
        end = min(self.total("completion_ns"), self.total("stop_ns"), key=lambda at: (at != at, at))
        is_open = samples.array("cwnd_bytes")[self._own] > 0
        return is_open & (samples.array("time_ns")[self._own] < end)

    def samples(self, column: str) -> npt.NDArray[Any]:
        """A column of `flow_samples`, from the connection's begin to its end."""
        return self._run.recording.flow_samples.array(column)[self._own][self._is_alive]

    def total(self, column: str) -> float:
        """A value of the table `flows`."""
        return float(self._run.recording.flows.array(column)[self._index])

    def setting(self, name: str) -> str:
        """An attribute of its sockets, as given or by default."""
        return setting(self.described, name)

    @property
    def workload(self) -> str:
        """What it is a transfer of, if it is one."""
        return workload_of(self.name)

    @property
    def is_tcp(self) -> bool:
        """Whether it has sockets of TCP; over RoCE and switches that cut packets it has none."""
        return bool(self.described.get("transport", "TCP") == "TCP")

    @property
    def is_of_ns3(self) -> bool:
        """Whether it is over TCP, and that of a release of ns-3."""
        return self.is_tcp and self.setting("Profile") in _releases()

    @property
    def segment(self) -> int:
        """Bytes of a full segment."""
        return int(self.setting("SegmentSize"))

    @property
    def is_greedy(self) -> bool:
        """Whether its application writes as much as the socket takes."""
        return bool(self.described["application"]["type"] == "Greedy")

    @property
    def is_endless(self) -> bool:
        """Whether it does so without an end."""
        return self.is_greedy and not _native.parse_size(self.described["application"]["bytes"])

    @property
    def bottleneck(self) -> str:
        return self._run.recording.flows.strings("bottleneck")[self._index]


class Run:
    """A run as rules see it."""

    def __init__(
        self,
        scenario: Mapping[str, Any],
        recording: Recording,
        links: Mapping[str, Mapping[str, float]],
    ) -> None:
        """`scenario`: the canonical form; `links`: the metrics of each direction."""
        self.scenario, self.recording, self.links = scenario, recording, links

    @cached_property
    def flows(self) -> list[Flow]:
        """The flows with a control that have samples."""
        return self._with(
            {flow["name"]: flow for flow in self.scenario["flows"] if "cc" in flow}.get
        )

    @cached_property
    def transfers(self) -> list[Flow]:
        """The transfers of workloads that have samples; where they begin and end is not known."""
        stacks = {stack["name"]: stack for stack in self.scenario.get("stacks", ())}
        of = {each["name"]: stacks[each["stack"]] for each in self.scenario.get("workloads", ())}

        def described(name: str) -> Mapping[str, Any] | None:
            stack = of.get(workload_of(name))
            return stack and {**stack, "name": name, "source": "", "destination": ""}

        own = {flow["name"] for flow in self.scenario["flows"]}
        return self._with(lambda name: None if name in own else described(name))

    def _with(self, described: Callable[[str], Mapping[str, Any] | None]) -> list[Flow]:
        names = self.recording.flows.strings("name")
        # Ordered by time and then by flow: each has every so-manieth row.
        samples = self.recording.flow_samples
        count = int((samples.array("time_ns") == 0).sum())
        return [
            Flow(self, index, slice(place, None, count), known)
            for place, index in enumerate(samples.array("flow")[:count].tolist())
            if (known := described(names[index]))
        ]

    def sampled(self, direction: str, column: str) -> npt.NDArray[Any]:
        """A column of `link_samples` of a direction; empty where it is not sampled."""
        names = self.recording.links.strings("name")
        samples = self.recording.link_samples
        is_its: npt.NDArray[np.bool_] = samples.array("link") == names.index(direction)
        return samples.array(column)[is_its]


def setting(described: Mapping[str, Any], name: str) -> str:
    """An attribute of the sockets of a flow or a stack, as given or by default."""
    given: Mapping[str, str] = described.get("tcp", {})
    return str(given.get(name, _defaults()[name]))


def workload_of(transfer: str) -> str:
    """Transfers are called after their workload: `web_12`."""
    return transfer.rpartition("_")[0]


def has_device_queue(link: Mapping[str, Any], side: str) -> bool:
    """Whether packets wait below a port's discipline; not where ports pause or cut packets."""
    port = link[side]
    pauses = link["forward"].get("pfc") or link["reverse"].get("pfc")
    cuts = port["qdisc"] and registry.trims(port["qdisc"]["type"])
    return not (port["device_queue"] == "1p" or pauses or cuts)


def length_bytes(size: str, packet_bytes: float) -> float:
    """Of a queue's size in bytes, or in packets of so many each."""
    return int(size[:-1]) * packet_bytes if size.endswith("p") else _native.parse_size(size)


@cache
def _defaults() -> dict[str, str]:
    return {param["ns3"]: param["default"] for param in registry.tables()["socket"]["params"]}


@cache
def _releases() -> frozenset[str]:
    return frozenset(release["name"] for release in registry.tables()["releases"])


def seconds(ns: float) -> str:
    """``1.5 s``, ``200 ms``."""
    return f"{ns / 1e9:.3g} s" if ns >= 1e9 else f"{ns / 1e6:.3g} ms"


def microseconds(ns: float) -> str:
    """``48 us``, ``1.2 ms``."""
    return f"{ns / 1e3:.3g} us" if ns < 1e6 else seconds(ns)
