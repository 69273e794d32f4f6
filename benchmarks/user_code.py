"""What it costs to bring an algorithm: ``python -m benchmarks.user_code``.

NewReno and FIFO, built in and from ``examples/``, on one scenario: experiment `aqm`, eight flows,
15 s. The packets are the same in every row (``tests/user_code/test_identity.py``), so the ratios
are the cost of the boundary. CPU time of the run inside its process, the least of several, with
the ways taken in turn; and what a process of its own costs, by runs of 10 ms.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ccperf import _native
from ccperf.experiments import catalogue
from ccperf.include import get_include
from ccperf.runs.backends import get
from ccperf.scenario import Scenario

ROOT = Path(__file__).parent.parent
REPEATS = 9


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
        table("Congestion control", {way: with_cc(base, *cc) for way, cc in ccs.items()})
        limit = base.canonical()
        qdisc = next(link["forward"]["qdisc"] for link in limit["links"] if link["name"] == "btl")
        qdiscs = {
            "built in": qdisc["type"],
            "Rust": rust,
            "C": c_queue,
            "Python": f"{python}/myqdisc.py:MyQueue",
        }
        size = qdisc["attributes"]
        table("Queue discipline", {way: with_qdisc(base, q, size) for way, q in qdiscs.items()})
        short = with_cc(base, *ccs["C"]).model_copy(update={"stop_time": "10ms"})
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for _ in range(REPEATS):
            get("native").simulate(short)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"\nA process of its own: {cpu / REPEATS * 1e3:.0f} ms of CPU time a run")


def table(title: str, scenarios: dict[str, Scenario]) -> None:
    best = dict.fromkeys(scenarios, float("inf"))
    tables = {}
    for _ in range(REPEATS):
        for way, scenario in scenarios.items():
            simulation = _native.Simulation(scenario.lowered())
            start = time.process_time()
            tables[way] = simulation.finish()
            best[way] = min(best[way], time.process_time() - start)
    acks = int(sum(tables["built in"]["flows"]["segments_sent"]))
    print(f"\n| {title} | CPU time | ratio | per segment |\n|---|---:|---:|---:|")
    for way, seconds in best.items():
        assert list(tables[way]["flows"]["segments_sent"]) == list(
            tables["built in"]["flows"]["segments_sent"]
        ), f"{way}: not the same run"
        ratio = seconds / best["built in"]
        more = (seconds - best["built in"]) / acks * 1e9
        print(f"| {way} | {seconds * 1e3:.1f} ms | {ratio:.2f} | {more:+.0f} ns |")


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
