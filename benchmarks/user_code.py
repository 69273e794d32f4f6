"""What it costs to bring an algorithm: ``python -m benchmarks.user_code``.

NewReno and FIFO, built in and from ``examples/``, on one scenario: experiment `aqm`, eight flows,
15 s. The packets are the same in every row (``tests/user_code/test_identity.py``), so the ratios
are the cost of the boundary. CPU time of the run inside its process, the least of several, with
the ways taken in turn; and what a process of its own costs, by runs of 10 ms. ``--record`` writes
it into `figures.json`.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import figures
from ccperf import _native
from ccperf.algorithms.user_code.loading import Held
from ccperf.experiments import catalogue
from ccperf.include import get_include
from ccperf.runs import backends
from ccperf.scenario import Scenario

ROOT = Path(__file__).parent.parent
REPEATS = 5
#: Of which what a process costs is the mean.
RUNS = 40


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        c, rust = c_library(Path(folder), "mycca"), rust_library()
        c_queue = c_library(Path(folder), "myqdisc")
        python = ROOT / "examples" / "python"
        base = catalogue.get("aqm").scenario("newreno", k=8, qdisc="fifo")
        half = {"beta": "0.5"}
        ccs = {
            "built in": ("TcpNewReno", {}),
            "Rust": (rust, half),
            "C": (c, half),
            "Python": (f"{python}/mycca.py:MyCca", half),
        }
        found = table("Congestion control", {way: with_cc(base, *cc) for way, cc in ccs.items()})
        limit = base.canonical()
        qdisc = next(link["forward"]["qdisc"] for link in limit["links"] if link["name"] == "btl")
        qdiscs = {
            "built in": qdisc["type"],
            "Rust": rust,
            "C": c_queue,
            "Python": f"{python}/myqdisc.py:MyQueue",
        }
        size = qdisc["attributes"]
        found |= table(
            "Queue discipline", {way: with_qdisc(base, q, size) for way, q in qdiscs.items()}
        )
        brief = {"stop_time": "10ms"}
        short = with_cc(base, *ccs["C"]).model_copy(update=brief)
        built_in_short = base.model_copy(update=brief)
        extra = 1e3 * (seconds_a_run(short) - seconds_a_run(built_in_short))
        print(f"\nBeside the run, a run costs {extra:.1f} ms of CPU time more than one built in")
        if "--record" in sys.argv:
            values = {**found, "process_ms": round(extra, 1)}
            by = f"CPU time, least of {REPEATS}, beside the run the mean of {RUNS}"
            figures.record("user_code", by, values)


def seconds_a_run(scenario: Scenario) -> float:
    """Processor time of a run with all that it starts, the mean of many; one goes before.

    What has not ended is counted by the system in ticks of 10 ms.
    """
    native = backends.get("native")
    native.simulate(scenario)
    before = _processor_seconds()
    for _ in range(RUNS):
        native.simulate(scenario)
    return (_processor_seconds() - before) / RUNS


def _processor_seconds() -> float:
    """Of this process and of those below it, also of those that have not ended."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    ended = sum(use.ru_utime + use.ru_stime for use in uses)
    return ended + sum(map(_below, _children(os.getpid())))


def _below(process: int) -> float:
    """Of a process that has not ended, and those below it that have."""
    try:
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    ticks = sum(map(int, words[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK") + sum(map(_below, _children(process)))


def _children(process: int) -> list[int]:
    try:
        return [
            int(n) for n in Path(f"/proc/{process}/task/{process}/children").read_text().split()
        ]
    except OSError:
        return []


def table(title: str, scenarios: dict[str, Scenario]) -> dict[str, dict[str, float]]:
    """Print a table, and return its rows."""
    best = dict.fromkeys(scenarios, float("inf"))
    tables = {}
    native = backends.get("native")
    for _ in range(REPEATS):
        for way, scenario in scenarios.items():
            held = Held(backends.user_code(scenario.user_code, native))
            simulation = _native.Simulation(scenario.lowered())
            held.loaded()
            start = time.process_time()
            tables[way] = simulation.finish()
            best[way] = min(best[way], time.process_time() - start)
    segments = int(sum(tables["built in"]["flows"]["segments_sent"]))
    print(f"\n| {title} | CPU time | ratio | per segment |\n|---|---:|---:|---:|")
    rows = {}
    for way, seconds in best.items():
        assert list(tables[way]["flows"]["segments_sent"]) == list(
            tables["built in"]["flows"]["segments_sent"]
        ), f"{way}: not the same run"
        ratio = seconds / best["built in"]
        more = (seconds - best["built in"]) / segments * 1e9
        print(f"| {way} | {seconds * 1e3:.1f} ms | {ratio:.2f} | {more:+.0f} ns |")
        rows[f"{title}, {way}"] = {"ratio": round(ratio, 2), "ns_a_segment": round(more)}
    return rows


def with_cc(scenario: Scenario, name: str, attributes: dict[str, str]) -> Scenario:
    data = json.loads(scenario.model_dump_json())
    for flow in data["flows"]:
        flow["cc"] = {"type": name, "attributes": attributes}
    return Scenario.model_validate(data)


def with_qdisc(scenario: Scenario, name: str, attributes: dict[str, str]) -> Scenario:
    data = json.loads(scenario.model_dump_json())
    for link in data["links"]:
        if link["name"] == "btl":
            link["forward"]["qdisc"] = {"type": name, "attributes": attributes}
    return Scenario.model_validate(data)


def c_library(folder: Path, name: str) -> str:
    library = folder / f"lib{name}.so"
    source = ROOT / "examples" / "c" / f"{name}.c"
    flags = ["-shared", "-fPIC", "-O2", f"-I{get_include()}"]
    subprocess.run(["cc", *flags, "-o", str(library), str(source)], check=True)
    return str(library)


def rust_library() -> str:
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--package", "mycca"]
    subprocess.run(command, cwd=ROOT, check=True)
    return str(ROOT / "target" / "release" / "libmycca.so")


if __name__ == "__main__":
    sys.exit(main())
