"""Speed of the engine, as a ratio against real ns-3 in the same call: ``make perf``.

For each scenario: CPU time from the parsed (lowered) scenario to the complete recording, the
recording being the one that ``ccperf bench`` makes; packet-hops per second (one packet, data or
ACK, through one queue and link); peak memory of the process. One core, least of five. ns-3 runs
the same lowered scenario without any tracing, the heavy scenarios for a shorter stretch of
simulated time; its rate is that of its event loop alone (CPU time, less that of a run that ends
at once). Rates belong to a machine, so ratios come
first: to ns-3; to the machine itself (how many pops and pushes on a binary heap of 100 entries a
packet-hop takes); and, with ``--htsim`` and a checkout of it, to htsim.

``--record`` writes the rows into `figures.json`; ``benchmarks/decisions.md`` says what was tried.
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

import numpy as np

from benchmarks import figures
from benchmarks.peers import heap_ns, htsim
from benchmarks.scenarios import Case, cases
from ccperf import _native
from ccperf.scenario import Scenario

REPEATS = 5


@dataclass(frozen=True)
class Timing:
    """Of the repeat that took least processor time."""

    seconds: float
    hops: int
    peak_mib: float

    @property
    def hops_per_s(self) -> float:
        return self.hops / self.seconds


def time_native(scenario_file: Path) -> Timing:
    """In a process of its own, on one core."""
    command = [sys.executable, "-m", "benchmarks.perf", "--time", str(scenario_file)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return Timing(**json.loads(done.stdout))


def _time_here(scenario_file: Path) -> Timing:
    from ccperf import _native

    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    lowered = scenario_file.read_text()
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        tables = _native.Simulation(lowered).finish()
        seconds.append(time.process_time() - start)
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    hops = int(np.sum(np.asarray(tables["links"]["tx_packets"])))
    return Timing(min(seconds), hops, peak_kib / 1024)


def ns3_hops_per_s(case: Case, folder: Path) -> float:
    """ns-3 without tracing, on the stretch that the case names; the packets are the engine's."""
    file = folder / "stretch.json"
    stretch = cut(case.scenario, case.ns3_stop).lowered()
    file.write_text(stretch)
    at_once = ns3_seconds(cut(case.scenario, "50us").lowered())
    return time_native(file).hops / (ns3_seconds(stretch) - at_once)


def cut(scenario: Scenario, stop_time: str) -> Scenario:
    """The beginning of a scenario."""
    flows = tuple(flow.model_copy(update={"stop": None}) for flow in scenario.flows)
    end = _native.parse_time(stop_time)
    changes = tuple(each for each in scenario.changes if _native.parse_time(each.time) < end)
    return scenario.model_copy(update={"stop_time": stop_time, "flows": flows, "changes": changes})


def ns3_seconds(lowered: str) -> float:
    """CPU time of ns-3's whole process."""
    from ccperf.runs.backends.ns3 import event_loop_seconds

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    event_loop_seconds(lowered)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def start_up_seconds() -> float:
    """CPU time of ``ccperf run`` with its start-up, for the shortest experiment; least of five."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(sys.executable).with_name("ccperf")
        command = [
            str(program),
            "run",
            "ecn",
            "--cc",
            "TcpNewReno",
            "--k",
            "1",
            "--ce-threshold",
            "1ms",
            "--json",
        ]
        took = []
        for repeat in range(REPEATS):
            db = ["--db", str(Path(folder) / f"{repeat}.db")]
            took.append(processor_seconds([*command, *db]))
        return min(took)


def processor_seconds(command: list[str], folder: str | None = None) -> float:
    """CPU time of a command with all that it starts, in a folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@dataclass(frozen=True)
class Peers:
    """What is asked besides the engine."""

    with_ns3: bool
    htsim: Path | None
    heap_ns: float


def report(cc: str, peers: Peers) -> list[dict[str, float | str]]:
    print(f"{cc}: one core, least CPU time of {REPEATS};", end=" ")
    print(f"a pop and a push take {peers.heap_ns:.0f} ns here")
    print(
        f"{'scenario':27}{'x ns-3':>8}{'heap steps':>12}{'x htsim':>9}"
        f"{'M hops/s':>10}{'ns-3 hops/s':>13}{'htsim M/s':>11}{'CPU s':>9}{'hops':>12}{'MiB':>6}"
    )
    with tempfile.TemporaryDirectory() as folder:
        rows = [_measured(case, Path(folder), peers) for case in cases(cc)]
    if peers.with_ns3:
        worst = min(float(row["ratio"]) for row in rows)
        print(
            f"smallest ratio {worst:.0f}; against an optimised build of ns-3, about half of it: the"
            " wheel is built with assertions and logging, and runs at about half the speed"
        )
    return rows


def _measured(case: Case, folder: Path, peers: Peers) -> dict[str, float | str]:
    file = folder / "scenario.json"
    file.write_text(case.scenario.lowered())
    ours = time_native(file)
    row: dict[str, float | str] = {
        "scenario": case.name,
        "seconds": ours.seconds,
        "hops": ours.hops,
        "hops_per_s": ours.hops_per_s,
        "peak_mib": ours.peak_mib,
        "heap_steps": 1e9 / ours.hops_per_s / peers.heap_ns,
    }
    if peers.with_ns3:
        row["ns3_hops_per_s"] = ns3_hops_per_s(case, folder)
        row["ratio"] = ours.hops_per_s / float(row["ns3_hops_per_s"])
    if peers.htsim and case.has_peer:
        row["htsim_hops_per_s"] = htsim.hops_per_s(case.scenario.lowered(), peers.htsim)
        row["htsim_ratio"] = ours.hops_per_s / float(row["htsim_hops_per_s"])

    def cell(name: str, width: int, form: str, scale: float = 1) -> str:
        return f"{float(row[name]) * scale:{width}{form}}" if name in row else f"{'-':>{width}}"

    print(
        f"{case.name:27}"
        + cell("ratio", 8, ".0f")
        + cell("heap_steps", 12, ".2f")
        + cell("htsim_ratio", 9, ".2f")
        + cell("hops_per_s", 10, ".2f", 1e-6)
        + cell("ns3_hops_per_s", 13, ",.0f")
        + cell("htsim_hops_per_s", 11, ".2f", 1e-6)
        + cell("seconds", 9, ".3f")
        + cell("hops", 12, ",.0f")
        + cell("peak_mib", 6, ".0f"),
        flush=True,
    )
    return row


def main() -> int:
    parser = argparse.ArgumentParser(prog="make perf", description=__doc__)
    parser.add_argument("--cc", default="TcpNewReno", help="congestion controls, comma separated")
    parser.add_argument("--no-ns3", action="store_true", help="leave the ratio out")
    parser.add_argument("--htsim", type=Path, help="a checkout of csg-htsim, to be timed as well")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    parser.add_argument("--record", action="store_true", help="also write them into figures.json")
    parser.add_argument("--time", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.time:
        print(json.dumps(vars(_time_here(options.time))))
        return 0
    with_ns3 = not options.no_ns3
    if with_ns3:
        from ccperf.runs import backends
        from ccperf.runs.backends.ns3 import build

        if missing := backends.get("ns3").available():
            print(f"no ratio: {missing}", file=sys.stderr)
            with_ns3 = False
        else:
            build.driver()  # its compiling is not to be timed
    peers = Peers(with_ns3, options.htsim, heap_ns())
    rows = {cc: report(cc, peers) for cc in options.cc.split(",")}
    start = start_up_seconds()
    print(f"ccperf run ecn, start-up included: {start:.2f} s of CPU")
    if options.record:
        by = f"CPU time, one core, least of {REPEATS}"
        values = {cc: {row.pop("scenario"): row for row in of} for cc, of in rows.items()}
        figures.record("perf", f"{by}; a heap's pop and push {peers.heap_ns:.0f} ns", values)
        figures.record("start", f"{by}, of `ccperf run ecn`", round(start, 3))
        return 0
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
