"""How speed, set-up and memory grow with the number of flows: ``python -m benchmarks.growth``.

Two tables. Flows at once: 1 to 100,000 endless ones through one bottleneck of 10 Gbps with 1 ms,
between two hosts or between hosts of their own. They start evenly over 0.1 s, have four segments
in flight each, and no queue drops: so all of them live, which is asserted (each has bytes
acknowledged). Two simulated seconds of it; ten flows are bound by their round trip, and from
1,000 on the bottleneck is full. Flows one after another: transfers of 20 kB at half of the
bottleneck's rate, up to a million with ``--million``.

Each run has a process of its own on one core. Seconds are of that core's time, and the best of
``--repeats``: of setting up until time 0 is over, of the run, whose speed it is, and of making the
tables and giving back what was held. Memory is the growth of the process from before the simulation
is made, without the text of the lowered scenario, after setting up and at the most until the end,
without the tables. ``--record`` writes the first table into `figures.json`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import figures
from ccperf.scenario import Scenario

_SEGMENT = 1448
#: What a flow may have in flight: the receiver's window.
_WINDOW = 4 * _SEGMENT
#: Sockets of transfers, which nothing limits.
_LARGE = {"SegmentSize": _SEGMENT, "SndBufSize": 16_000_000, "RcvBufSize": 16_000_000}
_SMALL = {"SegmentSize": _SEGMENT, "SndBufSize": 4 * _WINDOW, "RcvBufSize": _WINDOW}
_TRANSFER = 20_000
#: Flows at once start evenly within it.
_START_NS = 100_000_000


@dataclass(frozen=True)
class Case:
    """So many flows, and how they meet."""

    flows: int
    kind: str

    def scenario(self) -> Scenario:
        """Flows at once, "shared" or "own" hosts, or one "after" another."""
        own = self.flows if self.kind == "own" else 1
        sources = [f"s{i}" for i in range(own)]
        sinks = [f"d{i}" for i in range(own)]
        ends = [(s, "left") for s in sources] + [("right", d) for d in sinks]
        if self.kind == "after":
            # A fifth more than they take, for the last ones.
            stop = 0.01 + 1.2 * self.flows * _TRANSFER * 8 / 5e9
            limit = "833p"
            workload: dict[str, Any] = {
                "write": "65536B",
                "sources": sources,
                "destinations": sinks,
                "sizes": {"type": "Constant", "bytes": f"{_TRANSFER}B"},
                "arrivals": {
                    "type": "Poisson",
                    "load": 0.5,
                    "capacity": "10Gbps",
                    "count": self.flows,
                },
            }
        else:
            stop = 2.0
            # All that may be in flight, data and ACKs, and SYNs.
            limit = f"{8 * self.flows + 1000}p"
            starts = [f"{i * _START_NS // self.flows}ns" for i in range(self.flows)]
            workload = {
                "write": f"{_WINDOW}B",
                "sizes": {"type": "Constant", "bytes": "4000000000B"},
                "arrivals": {"type": "Times", "times": starts},
                "pairs": {
                    "type": "Listed",
                    "pairs": [list(p) for p in zip(sources, sinks, strict=True)],
                },
            }
        queue = {"qdisc": {"type": "fifo", "attributes": {"MaxSize": limit}}}
        queues = {"forward": queue, "reverse": queue}
        access = {} if self.kind == "after" else queues
        links: list[dict[str, Any]] = [
            {"name": "btl", "ends": ["left", "right"], "rate": "10Gbps", "delay": "250us", **queues}
        ]
        links += [
            {"name": f"{a}_{b}", "ends": [a, b], "rate": "40Gbps", "delay": "125us", **access}
            for a, b in ends
        ]
        tcp = _LARGE if self.kind == "after" else _SMALL
        return Scenario.model_validate(
            {
                "nodes": ["left", "right", *sources, *sinks],
                "links": links,
                "flows": [],
                "stacks": [{"name": "reno", "cc": "newreno", "tcp": tcp}],
                "workloads": [{"name": "flows", "stack": "reno", **workload}],
                "stop_time": f"{stop:g}s",
                "recording": {"flows": "none", "links": "none"},
            }
        )


AT_ONCE = (
    *(Case(n, "shared") for n in (1, 10, 100, 1_000, 10_000, 100_000)),
    *(Case(n, "own") for n in (1, 10, 100, 1_000, 10_000)),
)
AFTER = tuple(Case(n, "after") for n in (1_000, 10_000, 100_000))


def measured(case: Case, repeats: int) -> dict[str, float]:
    """The best of several runs, each in a process of its own.

    Raises AssertionError if a flow delivers nothing: it would cost nothing, too.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.json"
        file.write_text(case.scenario().lowered())
        command = [sys.executable, "-m", "benchmarks.growth", "--time", str(file)]
        found = [
            json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
            for _ in range(repeats)
        ]
    best = {name: min(run[name] for run in found) for name in found[0]}
    assert best["living"] == case.flows, f"{case}: {best['living']:,.0f} flows deliver bytes"
    return best


def living(tables: Any) -> int:
    """How many flows of a run have bytes acknowledged."""
    return int(np.count_nonzero(np.asarray(tables["completions"]["acked_bytes"]) > 0))


def _memory(name: str) -> int:
    """Bytes that this process holds (``VmRSS``), or has held at most (``VmHWM``)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024


def _measure_here(file: Path) -> dict[str, float]:
    from ccperf import _native

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    lowered = file.read_text()
    gc.collect()
    before = _memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    begin = time.process_time()
    simulation = _native.Simulation(lowered)
    simulation.run_until(0)
    ready = time.process_time() - begin
    held = _memory("VmRSS") - before
    while simulation.run_until(2**62):
        pass
    ended = time.process_time() - begin
    running = _memory("VmHWM") - before
    tables = simulation.finish()
    core = time.process_time() - begin
    return {
        "core": core,
        "set_up": ready,
        "run": ended - ready,
        "finish": core - ended,
        "held": held,
        "running": running,
        "hops": int(np.sum(np.asarray(tables["links"]["tx_packets"]))),
        "living": living(tables),
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.growth", description=__doc__)
    parser.add_argument("--repeats", type=int, default=3, help="runs of each; the best counts")
    parser.add_argument("--million", action="store_true", help="10^6 transfers, too")
    parser.add_argument("--record", action="store_true", help="write figures.json")
    parser.add_argument("--time", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.time:
        print(json.dumps(_measure_here(options.time)))
        return 0
    print(
        f"{'at once':>14}{'flows':>10}{'packet-hops':>13}{'set-up':>9}{'run':>9}{'finish':>9}"
        f"{'M hops/s':>10}{'of 10':>7}{'kB/flow':>10}{'at most':>10}"
    )
    rows: dict[str, dict[str, float]] = {}
    ten: dict[str, float] = {}
    for case in sorted(AT_ONCE, key=lambda case: case.flows != 10):  # ten is what others are of
        found = measured(case, options.repeats)
        speed = found["hops"] / found["run"] / 1e6
        of_ten = speed / ten.setdefault(case.kind, speed)
        rows[f"{case.flows} {case.kind}"] = {
            "hops": found["hops"],
            "million_hops_per_s": round(speed, 2),
            "of_ten": round(of_ten, 3),
            "kb_per_flow": round(found["running"] / case.flows / 1e3, 2),
        }
        print(
            f"{case.kind:>14}{case.flows:>10,}{found['hops']:>13,.0f}{found['set_up']:>9.3f}"
            f"{found['run']:>9.3f}{found['finish']:>9.3f}{speed:>10.2f}{of_ten:>7.2f}"
            f"{found['held'] / case.flows / 1e3:>10.1f}"
            f"{found['running'] / case.flows / 1e3:>10.1f}",
            flush=True,
        )
    if options.record:
        figures.record("growth", f"CPU time, least of {options.repeats}", rows)
    print(f"\n{'one by one':>14}{'flows':>10}{'packet-hops':>13}{'us/flow':>9}{'set-up':>9}"
          f"{'bytes/flow':>12}")  # fmt: skip
    for case in (*AFTER, *([Case(1_000_000, "after")] if options.million else [])):
        found = measured(case, options.repeats)
        print(
            f"{'':>14}{case.flows:>10,}{found['hops']:>13,.0f}"
            f"{found['core'] / case.flows * 1e6:>9.1f}{found['set_up']:>9.3f}"
            f"{found['running'] / case.flows:>12.0f}",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
