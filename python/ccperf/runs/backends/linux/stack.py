"""What a kernel is told of a lowered scenario: namespaces, sockets, sysctls, parameters of modules.

What it cannot be told is an error, with the field and its value. What the scenario does not say is
Linux's own: the least RTO of 200 ms, the ACKs of tcp_input.c. Only sizes are those of every
backend (segments, buffers), and data is sent as it is written (`TCP_NODELAY`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.algorithms.user_code import names
from ccperf.errors import UsageError
from ccperf.runs.backends.linux import disciplines

#: Sysctls of the whole kernel and of each namespace that differ from what a distribution boots
#: with, or that a small guest would boot with. Without the first, the send buffers of a few
#: connections are memory pressure in it, and windows shrink. The second is that of a machine of
#: 4 GB: offered windows grow by it with short segments, too. By the third, no connection begins
#: with what an earlier one learned.
_RECEIVE_BUFFERS = {"net.ipv4.tcp_rmem": "4096 131072 33554432"}
KERNEL = {"net.ipv4.tcp_mem": "1000000 1000000 1000000", **_RECEIVE_BUFFERS}
NAMESPACE = {"net.ipv4.tcp_no_metrics_save": "1"}
#: Those that Linux boots with, of what scenarios set; a value that equals one differs from nothing.
DEFAULTS = {
    "net.ipv4.tcp_ecn": "2",
    "net.ipv4.tcp_ecn_option": "2",
    "net.ipv4.tcp_sack": "1",
    "net.ipv4.tcp_timestamps": "1",
    "net.ipv4.tcp_window_scaling": "1",
    "net.ipv4.tcp_reordering": "3",
    "net.ipv4.tcp_rto_min_us": "200000",
    "net.ipv4.tcp_no_metrics_save": "0",
    "net.ipv4.tcp_recovery": "1",
    "net.ipv4.tcp_early_retrans": "3",
    "net.ipv4.tcp_frto": "2",
    "net.ipv4.tcp_dsack": "1",
    "net.ipv4.tcp_slow_start_after_idle": "1",
    "net.ipv4.tcp_comp_sack_nr": "44",
    "net.ipv4.tcp_moderate_rcvbuf": "1",
    "net.ipv4.tcp_min_rtt_wlen": "300",
    "net.ipv4.tcp_pacing_ss_ratio": "200",
    "net.ipv4.tcp_pacing_ca_ratio": "120",
    **_RECEIVE_BUFFERS,
}
#: Timestamps, padded (RFC 7323 appendix A), which Linux counts as part of a segment.
_TIMESTAMPS = 12
#: IPv4's and TCP's headers.
_HEADERS = 40
_LEAST_MTU = 1500
#: What `TCP_MAXSEG` takes.
_SEGMENTS = range(88, 32768)
#: ns-3's values of what the scenario does not say, where every backend has the same.
_USUAL = {"SegmentSize": "536", "SndBufSize": "131072", "RcvBufSize": "131072"}
#: What Linux has anyway.
_LINUX_HAS = {
    "Profile": "linux",
    "InitialCwnd": "10",
    "DelAckCount": "2",
    "LimitedTransmit": "true",
    "ConnTimeout": "1000000000ns",
}
#: `tcp_ecn` by `UseEcn`, without and with accurate ECN.
_ECN = {
    "Own": {"On": "1", "AcceptOnly": "2", "Off": "0"},
    "Accurate": {"On": "3", "AcceptOnly": "5", "Off": "0"},
}
#: Loss recovery is PRR, as RFC 6937 has it.
_RECOVERIES = ("TcpPrrRecovery", "PrrRfc6937")
#: Bytes that wait in all sockets together to be sent for the first time; each has its whole buffer
#: while they can hold no more.
_WAITING = 256 << 20
_LEAST_WAITING = 128 << 10
#: Who gives these wants the kernel to tune buffers between them.
_TUNED_SENDING = "net.ipv4.tcp_wmem"
_TUNED_RECEIVING = "net.ipv4.tcp_rmem"
#: Linux's name where it is not the registry's.
_NAMES = {"TcpNewReno": "reno"}
#: Those that send at a rate of their own.
_PACED = {"bbr"}


@dataclass(frozen=True)
class Stack:
    """All that a guest is told."""

    settings: Mapping[str, Any]
    """The guest's `stack.json`; see `crates/guest/src/linux/settings.rs`."""
    boot: tuple[str, ...]
    """Words for the kernel's command line."""
    variables: Mapping[str, str]
    """Sysctls that differ from what a distribution boots with; several values stand in a list."""
    megabytes: int
    """Memory of the guest."""
    modules: Mapping[Path, str]
    """Users' files to be compiled and loaded, with their parameters."""


def of(lowered: str) -> Stack:
    """The stack of a lowered scenario.

    Raises:
        UsageError: with the field that Linux has no setting for, and its value.
    """
    scenario = json.loads(lowered)
    _check(scenario)
    own: Mapping[str, str] = scenario.get("linux", {})
    flows = [_flow(flow) if flow["transport"] == "TCP" else None for flow in scenario["flows"]]
    machines, places = _machines(scenario, flows, own)
    count = sum(flow is not None for flow in flows)
    most = _most(scenario["flows"], flows)
    waiting = _waiting(most)
    told = [
        flow
        and {
            "machines": [places[each["source"]], places[each["destination"]]],
            "control": flow.control,
            "segment_bytes": flow.segment,
            # A size that is asked for is not tuned any more.
            "send_buffer": None if _TUNED_SENDING in own else flow.send_buffer,
            "receive_buffer": None if _TUNED_RECEIVING in own else flow.receive_buffer,
            "no_delay": flow.no_delay,
            "waiting_bytes": waiting if waiting and waiting < flow.send_buffer else 0,
            "is_paced": flow.control in _PACED,
        }
        for each, flow in zip(scenario["flows"], flows, strict=True)
    ]
    settings = {
        # What a namespace has no value of its own of is the whole kernel's.
        "variables": {**KERNEL, **own},
        "machines": [machine.told() for machine in machines],
        "flows": told,
        "disciplines": disciplines.told(scenario),
    }
    given = _given(scenario, flows)
    return Stack(
        settings,
        _boot(scenario, given),
        _differing(machines),
        _megabytes(count, machines, sum(most)),
        {flow.file: _words(flow.parameters) for flow in given.values() if flow.file}
        | ({disciplines.PORT: ""} if settings["disciplines"] else {}),
    )


@dataclass(frozen=True)
class _Flow:
    """A flow's part, in the kernel's terms."""

    control: str
    segment: int
    send_buffer: int
    receive_buffer: int
    no_delay: bool
    variables: Mapping[str, str]
    routes: tuple[Mapping[str, int], Mapping[str, int]]
    """Metrics of the source's route to the destination, and of the one back."""
    parameters: Mapping[str, str]
    """Of the algorithm's module, as on a command line."""
    file: Path | None
    """Of the user's, if the algorithm is none of the kernel's."""


def _most(scenario: Iterable[Mapping[str, Any]], flows: Iterable[_Flow | None]) -> list[int]:
    """Return how many bytes may wait in each socket that sends.

    A short transfer fills less than a buffer, and is not counted as one that does.
    """
    return [
        min(flow.send_buffer, each["application"].get("bytes") or flow.send_buffer)
        for each, flow in zip(scenario, flows, strict=True)
        if flow
    ]


def _waiting(most: list[int]) -> int:
    """Return how many bytes may wait in a socket; 0: as many as its buffer holds."""
    if sum(most) <= _WAITING:
        return 0
    large = sum(each > _LEAST_WAITING for each in most)
    return max(_LEAST_WAITING, _WAITING // max(1, large))


def _check(scenario: Mapping[str, Any]) -> None:
    """Refuse what would be computed, and differ from what the scenario says."""
    for workload in scenario["workloads"]:
        raise UsageError(
            f"workloads.{workload['name']}",
            "the backend linux has no transfers of workloads: give flows instead",
        )
    for link in scenario["links"]:
        if any(way.get("pfc") for way in link["directions"]):
            raise UsageError(
                f"links.{link['name']}.pfc", "pauses are the backend native's: leave pfc out"
            )
    if (kind := scenario["routing"]["type"]) != "static":
        raise UsageError(
            "routing", f"the backend linux does not know `{kind}` yet: leave it `static`"
        )
    heard: dict[tuple[Any, ...], str] = {}
    for number, flow in enumerate(scenario["flows"]):
        path = f"flows[{number}]"
        if (transport := flow["transport"]) in ("ROCE", "TRIMMING"):
            raise UsageError(f"{path}.transport", f"{transport} is the backend native's: write TCP")
        if flow["transport"] != "TCP":
            continue
        if flow.get("pias"):
            raise UsageError(
                f"{path}.pias", f"Linux's packets cannot be told {flow['pias']}: leave it out"
            )
        place = (flow["destination_address"], flow["destination_port"])
        if place in heard:
            raise UsageError(
                f"{path}.destination_port",
                f"{place[1]} is heard at {place[0]} for {heard[place]} already: "
                "give each flow a port",
            )
        heard[place] = flow["name"]


def _flow(flow: Mapping[str, Any]) -> _Flow:
    name = flow["name"]
    control = flow["congestion_control"]
    linux, file = _linux_name(name, control["type"])
    if (recovery := flow["recovery"]) not in _RECOVERIES:
        raise UsageError(
            f"{name}.recovery", f"Linux has no {recovery}: it is {' or '.join(_RECOVERIES)} there"
        )
    socket = dict(flow["socket"])
    has_timestamps = socket.get("Timestamp", "true") == "true"
    sizes = {field: int(socket.pop(field, usual)) for field, usual in _USUAL.items()}
    no_delay = socket.pop("TcpNoDelay", "true") == "true"
    feedback = socket.pop("EcnFeedback", "Own")
    variables: dict[str, str] = {}
    has_option = socket.pop("AccEcnOption", "true") == "true"
    if feedback == "Accurate":
        # As sparing with it as the engine: 2, the default, sends it with everything.
        variables["net.ipv4.tcp_ecn_option"] = "1" if has_option else "0"
    sending: dict[str, int] = {}
    receiving: dict[str, int] = {}
    for field, value in socket.items():
        if _LINUX_HAS.get(field) == value:
            continue
        match field, value:
            case "DelAckCount", "1":
                # Whoever has this metric on the route acknowledges each segment.
                receiving["quickack"] = 1
            case "InitialCwnd", _:
                sending["initcwnd"] = int(value)
            case "InitialSlowStartThreshold", _:
                if int(value) < 2**32 - 1:
                    sending["ssthresh"] = max(1, int(value) // sizes["SegmentSize"])
            case "UseEcn", ("On" | "AcceptOnly" | "Off"):
                variables["net.ipv4.tcp_ecn"] = _ECN[feedback][value]
            case (("Sack" | "Timestamp" | "WindowScaling"), ("true" | "false")):
                words = {"Sack": "sack", "Timestamp": "timestamps"}
                variable = f"net.ipv4.tcp_{words.get(field, 'window_scaling')}"
                variables[variable] = "1" if value == "true" else "0"
            case "MinRto", _:
                variables["net.ipv4.tcp_rto_min_us"] = str(_native.parse_time(value) // 1000)
            case "ReTxThreshold", _:
                variables["net.ipv4.tcp_reordering"] = value
            case _:
                raise UsageError(
                    f"{name}.tcp.{field}", f"Linux has no setting for {value}: leave the field out"
                )
    segment = sizes["SegmentSize"] + (_TIMESTAMPS if has_timestamps else 0)
    if segment not in _SEGMENTS:
        beside = segment - sizes["SegmentSize"]
        raise UsageError(
            f"{name}.tcp.SegmentSize",
            f"Linux has no setting for {sizes['SegmentSize']}: give "
            f"{_SEGMENTS[0] - beside} to {_SEGMENTS[-1] - beside}",
        )
    return _Flow(
        linux,
        segment,
        sizes["SndBufSize"],
        sizes["RcvBufSize"],
        no_delay,
        variables,
        (sending, receiving),
        _parameters(name, control),
        file,
    )


def _linux_name(flow: str, kind: str) -> tuple[str, Path | None]:
    """What the kernel calls an algorithm, and the user's file that has it."""
    if names.is_of_kernel(kind):
        place, _, name = names.split(kind)
        return name, Path(place) if names.is_path(place) else None
    known = _controls()
    if kind not in known:
        others = sorted(set(IN_KERNEL) - set(known.values()))
        also = ", ".join(f"linux:{other}" for other in others)
        raise UsageError(
            f"{flow}.cc", f"Linux has no {kind}; it has {', '.join(sorted(known))}, {also}"
        )
    return known[kind], None


#: Congestion controls of the kernel, which `kernel.config` has all of.
IN_KERNEL = (
    "reno", "cubic", "bbr", "bic", "cdg", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp",
    "nv", "scalable", "vegas", "veno", "westwood", "yeah",
)  # fmt: skip


@cache
def _controls() -> dict[str, str]:
    """What the kernel calls the registry's algorithms that it has, too."""
    found = {
        name: _NAMES.get(name, next(iter(spec["linux"]), ""))
        for name, spec in registry.algorithms("cc").items()
    }
    return {name: linux for name, linux in found.items() if linux in IN_KERNEL}


#: Parameters of modules: their unit, by the registry's kind or by name; 1024ths are fixed point.
_IN_1024THS = {
    ("TcpCubic", "Beta"), ("TcpBic", "Beta"), ("TcpDctcp", "DctcpAlphaOnInit"),
}  # fmt: skip
_CONVERSIONS: Mapping[tuple[str, str], tuple[str, Callable[[str], float]]] = {
    ("TcpCubic", "C"): ("bic_scale", lambda value: round(float(value) * 102.4)),
    ("TcpCubic", "HyStartDetect"): (
        "hystart_detect",
        lambda value: {"PACKET_TRAIN": 1, "DELAY": 2, "BOTH": 3}[value],
    ),
    ("TcpCubic", "HyStartAckDelta"): (
        "hystart_ack_delta_us",
        lambda value: _native.parse_time(value) / 1000,
    ),
    ("TcpDctcp", "DctcpShiftG"): ("dctcp_shift_g", lambda value: -math.log2(float(value))),
    ("TcpHybla", "RRTT"): ("rtt0", lambda value: _native.parse_time(value) / 1e6),
}
#: What the registry has a Linux name for, and Linux's module no parameter.
_CONSTANT = {("TcpVeno", "Beta")}


def _parameters(flow: str, control: Mapping[str, Any]) -> dict[str, str]:
    """The attributes of an algorithm as its module takes them."""
    if names.is_of_kernel(control["type"]):
        return {str(name): str(value) for name, value in control["attributes"].items()}
    spec = {param["ns3"]: param for param in registry.algorithms("cc")[control["type"]]["params"]}
    found = {}
    for attribute, value in control["attributes"].items():
        which = (control["type"], attribute)
        linux = spec[attribute]["linux"] if which not in _CONSTANT else ""
        number: float | None = None
        if which in _CONVERSIONS:
            linux, convert = _CONVERSIONS[which]
            number = float(convert(value))
        elif which in _IN_1024THS:
            number = float(round(float(value) * 1024))
        elif linux and spec[attribute]["kind"] == "bool":
            number = float(value == "true")
        elif linux:
            number = float(value)
        if number is None or not number.is_integer():
            raise UsageError(f"{flow}.cc.{attribute}", f"Linux has no setting for {value}")
        found[linux] = str(int(number))
    return found


def _given(scenario: Mapping[str, Any], flows: Iterable[_Flow | None]) -> dict[str, _Flow]:
    """By algorithm, a flow that has it: its parameters are those of all."""
    given: dict[str, _Flow] = {}
    named: dict[str, str] = {}
    for each, flow in zip(scenario["flows"], flows, strict=True):
        if flow is None:
            continue
        known = given.setdefault(flow.control, flow)
        name = named.setdefault(flow.control, each["name"])
        if (known.parameters, known.file) != (flow.parameters, flow.file):
            what = "other attributes" if known.file == flow.file else "another file"
            raise UsageError(
                f"{each['name']}.cc",
                f"{name} has {flow.control} with {what}, and Linux has one set of them "
                "for all connections: give both the same",
            )
    return given


def _boot(scenario: Mapping[str, Any], given: Mapping[str, _Flow]) -> tuple[str, ...]:
    """The seed, and parameters of modules that are part of the kernel."""
    words = [f"ccperf.seed={scenario['seed']}"]
    for control, flow in given.items():
        if flow.file is None:
            words += [f"tcp_{control}.{name}={value}" for name, value in flow.parameters.items()]
    return tuple(words)


def _words(parameters: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in parameters.items())


class _Machine:
    """Hosts that have the same sysctls and nothing to say to each other: one namespace."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.nodes: set[int] = set()
        self.addresses: dict[str, None] = {}
        self.mtu = _LEAST_MTU
        self.variables = variables
        self.routes: dict[str, Mapping[str, int]] = {}

    def told(self) -> dict[str, Any]:
        return {
            "addresses": list(self.addresses),
            "mtu": self.mtu,
            "variables": {**NAMESPACE, **self.variables},
            "routes": {to: dict(metrics) for to, metrics in self.routes.items() if metrics},
        }


def _machines(
    scenario: Mapping[str, Any], flows: Iterable[_Flow | None], own: Mapping[str, str]
) -> tuple[list[_Machine], dict[int, int]]:
    """The machines, and which of them each host is on: in turn the first where it fits."""
    asked: dict[int, dict[str, str]] = {}
    talks: dict[int, set[int]] = {}
    ends: list[tuple[int, str, str, int, Mapping[str, int]]] = []
    for each, flow in zip(scenario["flows"], flows, strict=True):
        if flow is None:
            continue
        sides = [
            (each["source"], each["source_address"]),
            (each["destination"], each["destination_address"]),
        ]
        for (node, address), (peer, other), metrics in zip(
            sides, reversed(sides), flow.routes, strict=True
        ):
            talks.setdefault(node, set()).add(peer)
            ends.append((node, address, other, flow.segment + _HEADERS, metrics))
            _agree(asked.setdefault(node, dict(own)), flow.variables, own, each, scenario, node)
    machines: list[_Machine] = []
    places: dict[int, int] = {}
    wanted = _routes(ends, scenario)
    for node, variables in asked.items():
        place = next(
            (
                number
                for number, machine in enumerate(machines)
                if machine.variables == variables
                and not machine.nodes & talks[node]
                and all(
                    machine.routes.get(to, route) == route for to, route in wanted[node].items()
                )
            ),
            len(machines),
        )
        if place == len(machines):
            machines.append(_Machine(variables))
        places[node] = place
        machines[place].nodes.add(node)
        machines[place].routes |= wanted[node]
    for node, address, _, mtu, _ in ends:
        machine = machines[places[node]]
        machine.addresses[address] = None
        machine.mtu = max(machine.mtu, mtu)
    return machines, places


def _agree(
    known: dict[str, str],
    variables: Mapping[str, str],
    own: Mapping[str, str],
    flow: Mapping[str, Any],
    scenario: Mapping[str, Any],
    node: int,
) -> None:
    """A host has one value of each sysctl; what the scenario says in `linux` counts most."""
    for name, value in variables.items():
        if known.setdefault(name, value) != value and name not in own:
            host = scenario["nodes"][node]
            raise UsageError(
                flow["name"],
                f"{name} = {value}: host {host} has {known[name]} for another flow; "
                "a host of Linux's has one value",
            )


def _routes(
    ends: Iterable[tuple[int, str, str, int, Mapping[str, int]]], scenario: Mapping[str, Any]
) -> dict[int, dict[str, Mapping[str, int]]]:
    """By host, the metrics of its routes to others."""
    found: dict[int, dict[str, Mapping[str, int]]] = {}
    for node, _, to, _, metrics in ends:
        known = found.setdefault(node, {}).setdefault(to, metrics)
        if known != metrics:
            raise UsageError(
                "flows",
                f"host {scenario['nodes'][node]} has flows to {to} with {dict(known)} and with "
                f"{dict(metrics)}: a route of Linux's has one value",
            )
    return found


def _differing(machines: Iterable[_Machine]) -> dict[str, str]:
    found: dict[str, dict[str, None]] = {}
    for machine in machines:
        for name, value in {**KERNEL, **NAMESPACE, **machine.variables}.items():
            if DEFAULTS.get(name) != value:
                found.setdefault(name, {})[value] = None
    return {name: ", ".join(values) for name, values in sorted(found.items())}


def _megabytes(flows: int, machines: Iterable[_Machine], waiting: int) -> int:
    """Room for the kernel, what the sockets hold, twice what waits in them, and a namespace with
    what it has sent and nobody seen (4 MB); memory that is not used costs nothing."""
    held = 2 * min(waiting, _WAITING) >> 20
    return 128 + min(2048, 16 * flows) + held + 6 * len(list(machines))
