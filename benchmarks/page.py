"""How fast a page simulates: the engine for browsers under Node against the native one.

    .venv/bin/python -m benchmarks.page [--record]

Both in turns, on the same lowered scenarios: CPU time of the simulation with its tables, once the
code has run before, the least of several. Needs `node` and the engine as it is shipped
(`make setup`), whose size is written down, too, as a file and as a site's script.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import figures
from benchmarks.instructions import SHIPPED, is_shipped
from benchmarks.perf import time_native
from benchmarks.scenarios import cases
from ccperf.experiments import catalogue
from ccperf.scenario import Scenario
from ccperf.site.engine import files_of_site

REPEATS = 5
_PROGRAM = """
import { readFileSync } from "node:fs";
const [file, scenario, repeats] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(file));
const { exports: engine } = new WebAssembly.Instance(module, {});
const bytes = readFileSync(scenario);
const times = [];
for (let i = 0; i <= Number(repeats); i++) {
  const place = engine.input(bytes.length);
  new Uint8Array(engine.memory.buffer).set(bytes, place);
  if (engine.open(bytes.length) !== 1) throw new Error("refused");
  const { user, system } = process.cpuUsage();
  if (engine.finish() !== 0) throw new Error("not finished");
  const now = process.cpuUsage();
  times.push(now.user + now.system - user - system);
}
console.log(Math.min(...times.slice(1)) / 1e6);
"""


def scenarios() -> dict[str, Scenario]:
    """Full pipes of one flow, 16 and 100, and five flows through FQ-CoDel."""
    pipes = [case for case in cases("TcpNewReno") if case.has_peer][:3]
    aqm = catalogue.get("aqm").scenario("TcpNewReno")
    return {case.name: case.scenario for case in pipes} | {"aqm, five flows": aqm}


def seconds_in_page(scenario: Scenario, folder: Path) -> float:
    """CPU time in Node, a first run apart."""
    program, file = folder / "page.mjs", folder / "canonical.json"
    program.write_text(_PROGRAM)
    file.write_text(scenario.canonical_text())
    command = ["node", str(program), str(SHIPPED), str(file), str(REPEATS)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.page", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write figures.json")
    options = parser.parse_args()
    if not is_shipped():
        print("needs the engine for browsers as it is shipped: make setup", file=sys.stderr)
        return 1
    rows = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, scenario in scenarios().items():
            lowered = folder / "lowered.json"
            lowered.write_text(scenario.lowered())
            native, page = time_native(lowered).seconds, seconds_in_page(scenario, folder)
            rows[title] = round(page / native, 2)
            print(
                f"{title:27}{page:8.3f} s, native {native:.3f} s: {page / native:.2f}", flush=True
            )
    if options.record:
        sizes = {"bytes": SHIPPED.stat().st_size, "script": sum(len(t) for _, t in files_of_site())}
        values: dict[str, float] = {**rows, **sizes}
        figures.record("page", f"CPU time under Node over native, least of {REPEATS}", values)
    return 0


if __name__ == "__main__":
    sys.exit(main())
