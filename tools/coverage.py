"""How much of the TCP and queue discipline code the verification matrix reaches.

``make coverage``: runs every scenario of the matrix on an engine built with LLVM's instrumentation
and prints region coverage by file, and the regions of code that no scenario reached. Needs the
rustup component ``llvm-tools``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "crates/engine/src"
FOLDERS = ("tcp", "qdisc", "recovery", "congestion")
TARGET = ROOT / "target/coverage"
#: The bar for each folder of which the matrix must walk every branch.
REQUIRED = {"tcp": 95.0, "qdisc": 95.0}


def llvm_tool(name: str) -> str:
    """Path of one of rustup's LLVM tools, which fit the compiler's version."""
    libdir = subprocess.check_output(["rustc", "--print", "target-libdir"], text=True).strip()
    tool = Path(libdir).parent / "bin" / name
    if not tool.exists():
        sys.exit(f"{name} is missing; install it with: rustup component add llvm-tools")
    return str(tool)


def build() -> Path:
    """The runner of lowered scenarios, instrumented."""
    environment = {
        **os.environ,
        "RUSTFLAGS": "-C instrument-coverage",
        "CARGO_TARGET_DIR": str(TARGET),
    }
    command = ["cargo", "build", "--quiet", "--locked", "--profile", "test", "-p", "ccperf-engine"]
    subprocess.run([*command, "--example", "run_lowered"], cwd=ROOT, env=environment, check=True)
    return TARGET / "debug/examples/run_lowered"


def run_matrix(runner: Path, folder: Path) -> None:
    from ccperf.verify import matrix

    def run(numbered: tuple[int, matrix.Case]) -> None:
        number, case = numbered
        scenario = folder / f"{number}.json"
        scenario.write_text(case.scenario.lowered())
        environment = {**os.environ, "LLVM_PROFILE_FILE": str(folder / "profile-%m.profraw")}
        command = [str(runner), str(scenario)]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)

    cases = [case for case in matrix.cases() if not case.heavy]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, enumerate(cases)))
    print(f"{len(cases)} scenarios")


def export(runner: Path, folder: Path) -> dict[str, object]:
    merged = folder / "merged.profdata"
    raw = [str(path) for path in folder.glob("*.profraw")]
    subprocess.run([llvm_tool("llvm-profdata"), "merge", "-sparse", *raw, "-o", merged], check=True)
    command = [llvm_tool("llvm-cov"), "export", str(runner), f"-instr-profile={merged}"]
    output = subprocess.check_output([*command, *(str(SOURCES / name) for name in FOLDERS)])
    data: dict[str, object] = json.loads(output)["data"][0]
    return data


def report(data: dict[str, object], *, show: bool) -> bool:
    """Print the table; returns whether every folder meets its bar."""
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for file in data["files"]:  # type: ignore[attr-defined]
        path = Path(file["filename"]).relative_to(SOURCES)
        regions = file["summary"]["regions"]
        covered, count = regions["covered"], regions["count"]
        totals[path.parts[0]][0] += covered
        totals[path.parts[0]][1] += count
        print(f"{path!s:40}{covered:6}{count:6}{regions['percent']:8.2f} %")
        if show:
            missed = sorted({s[0] for s in file["segments"] if s[2] == 0 and s[3] and s[4]})
            for line in missed:
                text = Path(file["filename"]).read_text().splitlines()[line - 1]
                print(f"      {line:5}: {text.strip()}")
    met = True
    for folder, (covered, count) in totals.items():
        percent = 100 * covered / count
        required = REQUIRED.get(folder, 0.0)
        met &= percent >= required
        print(f"{folder + '/':40}{covered:6}{count:6}{percent:8.2f} %  (required {required:g} %)")
    return met


def main() -> int:
    parser = argparse.ArgumentParser(prog="make coverage", description=__doc__)
    parser.add_argument("--missed", action="store_true", help="also list what was not reached")
    options = parser.parse_args()
    runner = build()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_matrix(runner, folder)
        return 0 if report(export(runner, folder), show=options.missed) else 1


if __name__ == "__main__":
    sys.exit(main())
