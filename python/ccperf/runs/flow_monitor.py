"""The XML of ns-3's `FlowMonitor::SerializeToXmlFile`: written of a recording, read from anybody.

A flow of the monitor is one direction of a connection. Counts are those of the IP layer of its
ends: headers, control segments and retransmissions included.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

from ccperf.errors import RunError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ccperf.runs.recording import Recording, Table
    from ccperf.scenario import Scenario

_PROTOCOLS = {"TCP": 6, "UDP": 17, "ROCE": 17, "TRIMMING": 17}
#: The reasons of drops, as ns-3's `Ipv4FlowProbe::DropReason` numbers them, by their columns.
_REASONS = {"no_route": 0, "device": 3, "qdisc": 4}
#: Names of the histograms in our table and in the file, and the width of a bin in s, or B.
_HISTOGRAMS = {
    "delay": ("delayHistogram", 0.001),
    "jitter": ("jitterHistogram", 0.001),
    "packet_size": ("packetSizeHistogram", 20),
    "interruption": ("flowInterruptionsHistogram", 0.25),
}
#: Attributes of a flow in ns-3's order, with our columns: times in ns, then counts.
_TIMES = {
    "timeFirstTxPacket": "first_tx_ns",
    "timeFirstRxPacket": "first_rx_ns",
    "timeLastTxPacket": "last_tx_ns",
    "timeLastRxPacket": "last_rx_ns",
    "delaySum": "delay_sum_ns",
    "jitterSum": "jitter_sum_ns",
    "lastDelay": "last_delay_ns",
    "maxDelay": "max_delay_ns",
    "minDelay": "min_delay_ns",
}
_COUNTS = {
    "txBytes": "tx_bytes",
    "rxBytes": "rx_bytes",
    "txPackets": "tx_packets",
    "rxPackets": "rx_packets",
    "lostPackets": "lost_packets",
    "timesForwarded": "times_forwarded",
}


@dataclass(frozen=True)
class MonitoredFlow:
    """One direction of a connection; times in ns, 0 where nothing was received."""

    id: int
    source: str
    destination: str
    source_port: int
    destination_port: int
    #: 6 is TCP, 17 UDP.
    protocol: int
    first_tx_ns: float
    first_rx_ns: float
    last_tx_ns: float
    last_rx_ns: float
    delay_sum_ns: float
    jitter_sum_ns: float
    last_delay_ns: float
    tx_bytes: int
    rx_bytes: int
    tx_packets: int
    rx_packets: int
    lost_packets: int
    times_forwarded: int


def asked(scenario: Scenario) -> Scenario:
    """The scenario with a flow monitor, which changes nothing else."""
    recording = scenario.recording.model_copy(update={"flow_monitor": True})
    return scenario.model_copy(update={"recording": recording})


def write(
    scenario: Scenario,
    recording: Recording,
    path: Path,
    addresses: Mapping[str, str] = MappingProxyType({}),
    *,
    to_last_data: bool = False,
) -> None:
    """Write what a recording has of the flow monitor as ns-3 would, with whole nanoseconds.

    (ns-3 3.44 itself writes six digits of a time.) Code points and probes are left out.

    Args:
        scenario: of the run.
        recording: with a flow monitor; with deliveries, if `to_last_data`.
        path: of the file.
        addresses: of nodes that are to have others than in the run, by their names.
        to_last_data: the last packet that a destination has received is that with the last data, or
            the FIN, whatever acknowledgement has come after it.

    Raises:
        UsageError: if the scenario did not ask for `recording.flow_monitor`.
        OSError: if the file cannot be written.
    """
    table = recording.flow_monitor
    if table is None:
        raise UsageError(
            "recording.flow_monitor", "the run has no flow monitor; set it to true and run again"
        )
    lines = ['<?xml version="1.0" ?>', "<!-- ccperf -->", "<FlowMonitor>", "  <FlowStats>"]
    bins = _bins(recording.tables["flow_histograms"])
    last = _last_data(recording) if to_last_data else {}
    for row in range(table.rows):
        is_forward = not table.array("direction")[row]
        own = last.get(int(table.array("flow")[row])) if is_forward else None
        lines += _flow(table, row, bins.get(row, {}), own)
    lines += ["  </FlowStats>", "  <Ipv4FlowClassifier>"]
    flows = list(_tuples(scenario, addresses))
    for row in range(table.rows):
        ends, ports, protocol = flows[table.array("flow")[row]]
        step = -1 if table.array("direction")[row] else 1
        source, destination = ends[::step]
        source_port, destination_port = ports[::step]
        fields = {
            "flowId": row + 1,
            "sourceAddress": source,
            "destinationAddress": destination,
            "protocol": protocol,
            "sourcePort": source_port,
            "destinationPort": destination_port,
        }
        lines.append(f"    <Flow {_attributes(fields)} />")
    lines += ["  </Ipv4FlowClassifier>", "  <Ipv6FlowClassifier>", "  </Ipv6FlowClassifier>"]
    lines += ["</FlowMonitor>", ""]
    path.write_text("\n".join(lines), encoding="utf-8")


def read(path: Path) -> list[MonitoredFlow]:
    """Read a file of ns-3's, of any release, or of ours; flows in the order of the file.

    Raises:
        RunError: if it cannot be read, or is not such a file.
    """
    try:
        root = ET.parse(path).getroot()
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {error.strerror or error}") from error
    except ET.ParseError as error:
        raise RunError(f"{path}: is not XML ({error})") from error
    if root.tag != "FlowMonitor":
        raise RunError(f"{path}: is not of a flow monitor: its root is <{root.tag}>")
    try:
        ends = {
            flow.attrib["flowId"]: flow.attrib
            for classifier in root
            if classifier.tag.endswith("FlowClassifier")
            for flow in classifier.iterfind("Flow")
        }
        return [_read_flow(flow.attrib, ends) for flow in root.iterfind("FlowStats/Flow")]
    except (KeyError, ValueError) as error:
        raise RunError(f"{path}: a flow lacks or misspells {error}") from error


def _read_flow(flow: dict[str, str], ends: dict[str, dict[str, str]]) -> MonitoredFlow:
    of = ends[flow["flowId"]]
    # Absent in files of older releases, and read by nobody here.
    times: dict[str, Any] = {
        column: _nanoseconds(flow[name])
        for name, column in _TIMES.items()
        if name not in ("maxDelay", "minDelay")
    }
    counts: dict[str, Any] = {column: int(flow[name]) for name, column in _COUNTS.items()}
    return MonitoredFlow(
        id=int(flow["flowId"]),
        source=of["sourceAddress"],
        destination=of["destinationAddress"],
        source_port=int(of["sourcePort"]),
        destination_port=int(of["destinationPort"]),
        protocol=int(of["protocol"]),
        **times,
        **counts,
    )


def _nanoseconds(text: str) -> float:
    """Of `+1.05232e+08ns` (3.44) or `+105232000.0ns` (before, and ours)."""
    if not text.endswith("ns"):
        raise ValueError(f"a time in ns: {text!r}")
    return float(text.removesuffix("ns"))


def _last_data(recording: Recording) -> dict[int, int]:
    table = recording.deliveries
    if table is None:
        return {}
    columns = (table.array(name).tolist() for name in ("flow", "last_rx_ns"))
    return dict(zip(*columns, strict=True))


def _flow(
    table: Table, row: int, bins: dict[str, dict[int, int]], last_rx_ns: int | None
) -> Iterator[str]:
    value = {name: table.array(name)[row] for name in (*_TIMES.values(), *_COUNTS.values())}
    if last_rx_ns is not None:
        value["last_rx_ns"] = last_rx_ns
    fields: dict[str, Any] = {"flowId": row + 1}
    for name, column in _TIMES.items():
        known = value[column] if value[column] == value[column] else 0
        fields[name] = f"+{int(known)}.0ns"
    fields |= {name: int(value[column]) for name, column in _COUNTS.items()}
    yield f"    <Flow {_attributes(fields)}>"
    for kind, counted in (("packets", "number"), ("bytes", "bytes")):
        for column, code in _REASONS.items():
            if dropped := int(table.array(f"{column}_{kind}")[row]):
                yield f'      <{kind}Dropped reasonCode="{code}" {counted}="{dropped}" />'
    for name, (tag, width) in _HISTOGRAMS.items():
        own = bins.get(name, {})
        yield f'      <{tag} nBins="{max(own, default=-1) + 1}" >'
        for index, count in sorted(own.items()):
            start = f"{index * width:.6g}"
            yield (
                f'        <bin index="{index}" start="{start}" width="{width:g}" count="{count}" />'
            )
        yield f"      </{tag}>"
    yield "    </Flow>"


def _bins(table: Table) -> dict[int, dict[str, dict[int, int]]]:
    found: dict[int, dict[str, dict[int, int]]] = {}
    columns = [table.array(name).tolist() for name in ("way", "bin", "packets")]
    for (way, index, packets), name in zip(
        zip(*columns, strict=True), table.strings("histogram"), strict=True
    ):
        found.setdefault(way, {}).setdefault(name, {})[index] = packets
    return found


def _tuples(
    scenario: Scenario, addresses: Mapping[str, str]
) -> Iterator[tuple[list[str], list[int], int]]:
    """Addresses, ports and protocol of every flow, those of workloads included."""
    lowered = json.loads(scenario.lowered())
    nodes = lowered["nodes"]

    def ends(of: dict[str, Any]) -> list[str]:
        return [
            addresses.get(nodes[of[end]], of[f"{end}_address"]) for end in ("source", "destination")
        ]

    for flow in lowered["flows"]:
        yield (
            ends(flow),
            [flow["source_port"], flow["destination_port"]],
            _PROTOCOLS[flow["transport"]],
        )
    for workload in lowered["workloads"]:
        protocol = _PROTOCOLS[lowered["stacks"][workload["stack"]].get("transport", "TCP")]
        ports = zip(workload["source_port"], workload["destination_port"], strict=True)
        for number, both in zip(workload["pair"], ports, strict=True):
            yield ends(lowered["pairs"][number]), list(both), protocol


def _attributes(fields: dict[str, Any]) -> str:
    return " ".join(f"{name}={quoteattr(str(value))}" for name, value in fields.items())
