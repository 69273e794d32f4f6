"""Completion files of HPCC's simulator and of htsim: one line a transfer that has ended."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ccperf.present.exporters.again import simulated_again
from ccperf.present.exporters.registry import exporter
from ccperf.runs.metrics.transfers import ideals

if TYPE_CHECKING:
    from ccperf.runs.result import Result
    from ccperf.scenario import Scenario


@dataclass(frozen=True)
class _End:
    """A transfer that has ended, its hosts by their numbers among the nodes with one link."""

    flow: int
    source: int
    destination: int
    ports: tuple[int, int]
    size: int
    start_ns: int
    end_ns: int
    ideal_ns: int


@exporter("fct.txt", b"0b", holds=())
def hpcc(result: Result, path: Path) -> None:
    """HPCC's ``fct.txt``: addresses, ports, bytes, start, completion time and ideal one, in ns.

    Host n has the address that HPCC gives its node n, in hexadecimal: 11.(n / 256).(n % 256).1. Its
    file ends with the last acknowledgement, as ours does; the ideal time is ccperf's
    (`ideal_ns` of a recording), and 0 where a balancer chooses among paths that differ.
    """

    def address(host: int) -> str:
        return f"{0x0B000001 + (host // 256 << 16) + (host % 256 << 8):08x}"

    lines = [
        f"{address(end.source)} {address(end.destination)} {end.ports[0]} {end.ports[1]} "
        f"{end.size} {end.start_ns} {end.end_ns - end.start_ns} {end.ideal_ns}\n"
        for end in _ends(result)
    ]
    path.write_text("".join(lines), encoding="ascii")


@exporter("htsim.txt", b"Flow tcp_", holds=())
def htsim(result: Result, path: Path) -> None:
    """What htsim prints when a flow has finished: hosts, number, time in us, bytes."""
    lines = [
        f"Flow tcp_{end.source}_{end.destination} flowId {end.flow + 1} "
        f"finished at {end.end_ns / 1e3:g} total bytes {end.size}\n"
        for end in _ends(result)
    ]
    path.write_text("".join(lines), encoding="ascii")


def _ends(result: Result) -> Iterator[_End]:
    """The transfers that have ended, in that order; flows without a size are none.

    A run that does not keep the ends of its flows is simulated again.
    """
    recording = result.recording
    if recording.completions is None:
        recording = simulated_again(result, asked=_asked)
    table = recording.completions
    assert table is not None
    lowered = json.loads(result.scenario.lowered())
    hosts = {node: number for number, node in enumerate(_hosts(lowered))}
    flows = [_of_flow(flow) for flow in lowered["flows"]]
    for workload in lowered["workloads"]:
        pairs = [lowered["pairs"][pair] for pair in workload["pair"]]
        columns = (workload[name] for name in ("source_port", "destination_port"))
        flows += [
            ((pair["source"], pair["destination"]), ports)
            for pair, *ports in zip(pairs, *columns, strict=True)
        ]
    cells = [table.array(name) for name in ("flow", "start_ns", "end_ns", "size_bytes")]
    cells.append(ideals(recording, table, result.scenario.parsed))
    ended = (column[recording.has_ended].tolist() for column in cells)
    for flow, start, end, size, ideal in zip(*ended, strict=True):
        (source, destination), ports = flows[flow]
        # Who has more links than one is no host, and has no number.
        if source in hosts and destination in hosts:
            least = 0 if ideal != ideal else int(ideal)
            yield _End(
                flow,
                hosts[source],
                hosts[destination],
                (ports[0], ports[1]),
                size,
                start,
                int(end),
                least,
            )


def _asked(scenario: Scenario) -> Scenario:
    """The scenario with the ends of its flows recorded, which changes nothing else."""
    recording = scenario.recording.model_copy(update={"completions": True})
    return scenario.model_copy(update={"recording": recording})


def _of_flow(flow: dict[str, int]) -> tuple[tuple[int, int], list[int]]:
    return (flow["source"], flow["destination"]), [flow["source_port"], flow["destination_port"]]


def _hosts(lowered: dict[str, list[dict[str, list[int]]]]) -> list[int]:
    """The nodes with one link, in the scenario's order: as flow traces number them."""
    ends = Counter(end for link in lowered["links"] for end in link["ends"])
    return [node for node in range(len(lowered["nodes"])) if ends[node] == 1]
