"""A leaf-spine at the scale of the papers: ``python -m benchmarks.datacentre``.

128 hosts (8 leaves, 8 spines, 16 servers a leaf, all links 10 Gbps and 10 us), web search at a load
of 0.6 of the leaves' uplinks, ECN# at every switch, DCTCP: half a second of arrivals, 14,000 flows.
Beside it, in the same call: one flow over a dumbbell, whose speed says what the network's size and
the many flows cost; ns-3 on a shorter stretch of the same scenario; and other sizes.

Each run has a process of its own on one core. Seconds are of that core's time, from the lowered
scenario to the complete recording (`--wall` prints the wall's, for a machine that is idle); memory
is the peak of the process, Python included.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ccperf.experiments.topologies import Access, Bottleneck, DumbbellFlow, dumbbell, leaf_spine
from ccperf.experiments.topologies.fabric import Fabric, SwitchPort
from ccperf.scenario import Scenario

_LINK_BPS = 10_000_000_000
_TCP = {
    "SegmentSize": 1448,
    "InitialCwnd": 10,
    "DelAckCount": 1,
    "MinRto": "5ms",
    "ConnTimeout": "5ms",
    "ClockGranularity": "100us",
    "SndBufSize": 16_000_000,
    "RcvBufSize": 16_000_000,
}
_SHARP = SwitchPort(
    {
        "type": "ECNSharpQueueDisc",
        "attributes": {
            "InstantaneousMarkingThreshold": "70us",
            "PersistentMarkingTarget": "10us",
            "PersistentMarkingInterval": "70us",
            "MaxSize": "250p",
        },
    }
)


@dataclass(frozen=True)
class Size:
    """Leaves, spines and servers a leaf, for how long flows arrive, and what they are."""

    leaves: int
    spines: int
    servers: int
    seconds: float
    sizes: str = "WebSearch"
    load: float = 0.6

    @property
    def name(self) -> str:
        asked = "" if self.sizes == "WebSearch" else f" {self.sizes}"
        return f"{self.leaves} x {self.spines} x {self.servers}, {self.seconds:g} s{asked}"

    def scenario(self, stop: float | None = None) -> Scenario:
        """The fabric under web search; `stop` ends it sooner."""
        fabric = leaf_spine(self.leaves, self.spines, self.servers, port=_SHARP)
        uplinks = self.leaves * self.spines * _LINK_BPS
        arrivals = {
            "type": "Poisson",
            "load": self.load,
            "capacity": f"{uplinks}bps",
            "until": f"{self.seconds}s",
        }
        workload = {
            "name": "web",
            "stack": "dc",
            "sizes": self.sizes,
            "arrivals": arrivals,
            "apart": _racks(fabric, self.leaves),
            "write": "65536B",
        }
        return fabric.scenario(
            [],
            label=self.name,
            stop_time=f"{stop or 2 * self.seconds:g}s",
            routing="ecmp",
            stacks=[{"name": "dc", "cc": "TcpDctcp", "tcp": _TCP}],
            workloads=[workload],
            recording={"links": "none", "flows": "none"},
        )


def _racks(fabric: Fabric, leaves: int) -> list[list[str]]:
    return [[h for h in fabric.hosts if h.startswith(f"h_{i}_")] for i in range(leaves)]


PAPER = Size(8, 8, 16, 0.5)
#: Hosts by four, to 1,024; then flows by ten, of few bytes each, to a million of them.
GROWTH = (
    Size(4, 4, 8, 0.5),
    PAPER,
    Size(16, 16, 32, 0.1),
    Size(16, 16, 64, 0.1),
    Size(16, 16, 64, 0.015, "Facebook", 0.01),
    Size(16, 16, 64, 0.11, "Facebook", 0.01),
)


def one_flow() -> Scenario:
    """The same kind of traffic without a network: as many packet-hops as fit into a second."""
    flow = DumbbellFlow("TcpDctcp", "80us", tcp=_TCP)
    access = Access(rate="40Gbps", delay="10us")
    return dumbbell(Bottleneck("10Gbps", "250p"), [flow], access, stop_time="1s")


def measured(scenario: Scenario) -> dict[str, Any]:
    """Run in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.json"
        file.write_text(scenario.lowered())
        command = [sys.executable, "-m", "benchmarks.datacentre", "--time", str(file)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _measure_here(file: Path) -> dict[str, Any]:
    from ccperf import _native

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    lowered = file.read_text()
    wall, core = time.perf_counter(), time.process_time()
    simulation = _native.Simulation(lowered)
    ready = time.process_time() - core
    tables = simulation.finish()
    core, wall = time.process_time() - core, time.perf_counter() - wall
    done = tables.get("completions")
    return {
        "wall": wall,
        "core": core,
        "set_up": ready,
        "hops": int(np.sum(np.asarray(tables["links"]["tx_packets"]))),
        "flows": len(tables["flows"]["name"]),
        "unfinished": int(np.sum(np.asarray(done["finished"]) == 0)) if done else 0,
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def _line(name: str, found: dict[str, Any], clock: str, reference: float) -> str:
    speed = found["hops"] / found[clock]
    return (
        f"{name:27}{found['flows']:>9,}{found['unfinished']:>7,}{found['hops']:>14,}"
        f"{found[clock]:>9.2f}{found['set_up']:>8.2f}{speed / 1e6:>10.2f}"
        f"{speed / reference:>10.2f}{found['mib']:>7.0f}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.datacentre", description=__doc__)
    parser.add_argument("--wall", action="store_true", help="the wall's seconds, not the core's")
    parser.add_argument("--growth", action="store_true", help="other sizes, too")
    parser.add_argument("--ns3", action="store_true", help="the ratio to ns-3 on 5 ms of it")
    parser.add_argument("--time", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.time:
        print(json.dumps(_measure_here(options.time)))
        return 0
    clock = "wall" if options.wall else "core"
    alone = measured(one_flow())
    reference = alone["hops"] / alone[clock]
    print(
        f"{'':27}{'flows':>9}{'open':>7}{'packet-hops':>14}{clock + ' s':>9}{'set-up':>8}"
        f"{'M hops/s':>10}{'of alone':>10}{'MiB':>7}"
    )
    print(_line("one flow, dumbbell", alone, clock, reference), flush=True)
    for size in GROWTH if options.growth else (PAPER,):
        print(_line(size.name, measured(size.scenario()), clock, reference), flush=True)
    if options.ns3:
        from ccperf.runs.backends.ns3 import event_loop_seconds

        stretch = Size(8, 8, 16, 0.005).scenario(stop=0.005)
        ours = measured(stretch)
        theirs = event_loop_seconds(stretch.lowered())
        print(
            f"5 ms of it: {ours[clock]:.2f} s, ns-3 {theirs:.1f} s, "
            f"{theirs / ours[clock]:.0f} times as long"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
