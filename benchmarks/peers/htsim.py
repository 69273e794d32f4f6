"""The same network and flows on htsim (github.com/Broadcom/csg-htsim).

Its model is its own: TCP NewReno or DCTCP without selective or delayed acknowledgements, packets
of one size, FIFO queues that drop at the tail or mark. So its packets are not those of ns-3;
compared are packet-hops a second.
"""

from __future__ import annotations

import json
import random
import subprocess
from collections import deque
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.peers import compiled

_PACKET_BYTES = 1500
_PS_PER_NS = 1000


def hops_per_s(lowered: str, sources: Path) -> float:
    """Packet-hops a second of htsim's event loop; ``sources`` is a checkout of it, built on demand.

    Raises:
        subprocess.CalledProcessError: when it can not be compiled.
    """
    library = sources / "sim" / "libhtsim.a"
    if not library.exists():
        make = ["make", "-C", str(library.parent), "CFLAGS=-O3 -std=c++17 -march=native"]
        subprocess.run([*make, library.name], check=True, stdout=subprocess.DEVNULL)
    program = compiled("htsim", f"-I{library.parent}", str(library))
    done = subprocess.run(
        [program], input=_description(lowered), check=True, capture_output=True, text=True
    )
    hops, seconds = done.stdout.split()
    return int(hops) / float(seconds)


def _description(lowered: str) -> str:
    """Lines of numbers: packet bytes, whether DCTCP, stop; links; flows.

    A link has rate, delay, limit and threshold of marks in bytes (0 for none), a flow start, bytes
    (0 for no end) and both routes, each with its length and the numbers of its links. Times in ps.
    """
    scenario = json.loads(lowered)
    flows = [
        (flow["start_ns"], flow["application"]["bytes"], flow["source"], flow["destination"])
        for flow in scenario["flows"]
    ]
    for workload in scenario["workloads"]:
        ends = [scenario["pairs"][pair] for pair in workload["pair"]]
        flows += [
            (start, size, pair["source"], pair["destination"])
            for start, size, pair in zip(workload["start_ns"], workload["bytes"], ends, strict=True)
        ]
    used = [*scenario["flows"], *scenario["stacks"]]
    is_dctcp = all(flow["congestion_control"]["type"] == "TcpDctcp" for flow in used)
    directions = [
        (direction, link["delay_ns"])
        for link in scenario["links"]
        for direction in link["directions"]
    ]
    lines = [f"{_PACKET_BYTES} {is_dctcp:d} {scenario['stop_ns'] * _PS_PER_NS} {len(directions)}"]
    lines += [
        f"{direction['rate_bps']} {delay * _PS_PER_NS} {_bytes(direction, 'MaxSize')}"
        f" {_bytes(direction, 'MinTh')}"
        for direction, delay in directions
    ]
    routes = _Routes(scenario)
    lines.append(str(len(flows)))
    for start, size, source, destination in flows:
        out, back = routes.between(source, destination), routes.between(destination, source)
        lines.append(
            " ".join(map(str, (start * _PS_PER_NS, size, len(out), *out, len(back), *back)))
        )
    return "\n".join(lines) + "\n"


def _bytes(direction: dict[str, Any], attribute: str) -> int:
    size = str(direction["qdisc"]["attributes"].get(attribute, 0))
    return int(size.removesuffix("p")) * _PACKET_BYTES


class _Routes:
    """A shortest way, drawn among those of equal cost: ECMP where there are several."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self._draw = random.Random(scenario["seed"])
        self._neighbours: list[list[tuple[int, int]]] = [[] for _ in scenario["nodes"]]
        for number, link in enumerate(scenario["links"]):
            one, other = link["ends"]
            self._neighbours[one].append((2 * number, other))
            self._neighbours[other].append((2 * number + 1, one))
        self._distances = cache(self._measured)

    def between(self, source: int, destination: int) -> list[int]:
        distances, node, route = self._distances(destination), source, []
        while node != destination:
            nearer = [way for way in self._neighbours[node] if distances[way[1]] < distances[node]]
            link, node = self._draw.choice(nearer)
            route.append(link)
        return route

    def _measured(self, destination: int) -> dict[int, int]:
        distances, todo = {destination: 0}, deque([destination])
        while todo:
            node = todo.popleft()
            for _, neighbour in self._neighbours[node]:
                if neighbour not in distances:
                    distances[neighbour] = distances[node] + 1
                    todo.append(neighbour)
        return distances
