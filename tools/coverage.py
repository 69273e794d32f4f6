"""How much of the TCP and queue discipline code the verification matrix reaches.

``make coverage``: runs every scenario of the matrix on an engine built with LLVM's instrumentation
and prints region coverage by file, then what no scenario reached, by the reasons that
``tools/unreached.toml`` gives.  Exit status 1 if a folder is below its bar.  Needs the rustup
component ``llvm-tools``.  ``--record FILE`` writes the numbers that the page on fidelity shows.

Everything that is compiled counts, reached or not, except ``const fn``: the compiler evaluates it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccperf.base.process import cores

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
SOURCES = ROOT / "crates/engine/src"
FOLDERS = ("host/tcp", "net/qdisc", "host/recovery", "host/congestion")
TARGET = ROOT / "target/coverage"
#: The bar for each folder, in percent of what ns-3 has, too.
REQUIRED = dict.fromkeys(FOLDERS, 95.0)
REASONS = Path(__file__).with_name("unreached.toml")
#: LLVM's kind of region that stands for code.
_CODE = 0


@dataclass(frozen=True, order=True)
class Region:
    """A piece of source code without a branch inside; lines and columns from 1, ends included."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def text(self) -> str:
        """Its first line of source code."""
        return _source(self.file)[self.line - 1].strip()


_LINES: dict[str, list[str]] = {}


def _source(file: str) -> list[str]:
    if file not in _LINES:
        _LINES[file] = (SOURCES / file).read_text(encoding="utf-8").splitlines()
    return _LINES[file]


def llvm_tool(name: str) -> str:
    """Path of one of rustup's LLVM tools, which fit the compiler's version."""
    libdir = subprocess.check_output(["rustc", "--print", "target-libdir"], text=True).strip()
    tool = Path(libdir).parent / "bin" / name
    if not tool.exists():
        sys.exit(f"{name} is missing; install it with: rustup component add llvm-tools")
    return str(tool)


def build() -> Path:
    """The runner of scenarios, instrumented."""
    environment = {
        **os.environ,
        "RUSTFLAGS": "-C instrument-coverage",
        "CARGO_TARGET_DIR": str(TARGET),
    }
    command = ["cargo", "build", "--quiet", "--locked", "--profile", "test", "-p", "ccperf-engine"]
    subprocess.run([*command, "--example", "run_scenario"], cwd=ROOT, env=environment, check=True)
    return TARGET / "debug/examples/run_scenario"


def run(runner: Path, scenarios: Iterable[Scenario], folder: Path) -> int:
    """Run the scenarios, each with a packet trace as the verification does; returns how many."""
    environment = {**os.environ, "LLVM_PROFILE_FILE": str(folder / "profile-%4m.profraw")}

    def one(numbered: tuple[int, Scenario]) -> None:
        number, scenario = numbered
        file = folder / f"{number}.json"
        file.write_text(scenario.model_dump_json(), encoding="utf-8")
        command = [str(runner), str(file), os.devnull]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)

    with ThreadPoolExecutor(cores()) as pool:
        return len(list(pool.map(one, enumerate(scenarios))))


def regions(runner: Path, folder: Path) -> dict[Region, bool]:
    """Every region of the folders' code, and whether any run reached it."""
    merged = folder / "merged.profdata"
    raw = [str(path) for path in folder.glob("*.profraw")]
    subprocess.run([llvm_tool("llvm-profdata"), "merge", "-sparse", *raw, "-o", merged], check=True)
    command = [llvm_tool("llvm-cov"), "export", str(runner), f"-instr-profile={merged}"]
    output = subprocess.check_output([*command, *(str(SOURCES / name) for name in FOLDERS)])
    data: dict[str, Any] = json.loads(output)["data"][0]
    wanted = {file["filename"] for file in data["files"]}
    found: dict[Region, bool] = {}
    for function in data["functions"]:
        file = function["filenames"][0]
        if file not in wanted:
            continue
        name = str(Path(file).relative_to(SOURCES))
        code = [entry for entry in function["regions"] if entry[7] == _CODE]
        # A function's first region begins with its signature.
        if "const fn " in _source(name)[code[0][0] - 1]:
            continue
        for line, column, end_line, end_column, count, *_ in code:
            # Generic code is compiled several times: reached in one form is reached.
            region = Region(name, line, column, end_line, end_column)
            found[region] = found.get(region, False) or count > 0
    return found


def reason(region: Region, table: list[tuple[str, list[str]]]) -> str:
    """Why nothing reaches a region, or "" if no reason is given."""
    lines = _source(region.file)
    before = range(region.line - 1, -1, -1)
    function = next((lines[i] for i in before if " fn " in f" {lines[i]}"), "")
    for text, places in table:
        for place in places:
            file, _, code = place.partition(": ")
            if region.file.startswith(file) and (code in region.text or code in function):
                return text
    return ""


def reasons() -> list[dict[str, Any]]:
    """The entries of ``tools/unreached.toml``."""
    entries: list[dict[str, Any]] = tomllib.loads(REASONS.read_text(encoding="utf-8"))["unreached"]
    return entries


def by_reason(found: dict[Region, bool]) -> dict[str, list[Region]]:
    """What nothing reached, under the reasons of ``tools/unreached.toml`` in their order."""
    table = [(entry["reason"], entry["where"]) for entry in reasons()]
    members: dict[str, list[Region]] = {text: [] for text, _ in table}
    for region in sorted(region for region, reached in found.items() if not reached):
        members.setdefault(reason(region, table) or "(no reason given)", []).append(region)
    return members


def by_folder(found: dict[Region, bool]) -> dict[str, list[bool]]:
    """For each folder, whether each of its regions was reached."""
    return {
        folder: [found[region] for region in found if region.file.startswith(f"{folder}/")]
        for folder in FOLDERS
    }


def comparable(found: dict[Region, bool]) -> dict[Region, bool]:
    """Without what nothing reached because ns-3 does not have it."""
    members = by_reason(found)
    ours = {
        region
        for entry in reasons()
        if not entry.get("in_ns3", True)
        for region in members[entry["reason"]]
    }
    return {region: reached for region, reached in found.items() if region not in ours}


def report(found: dict[Region, bool]) -> bool:
    """Print the tables; returns whether every folder meets its bar."""
    for name in dict.fromkeys(region.file for region in sorted(found)):
        print(_line(name, [found[region] for region in found if region.file == name]))
    print()
    print("what ns-3 has, too")
    met = True
    for folder, reached in by_folder(comparable(found)).items():
        met &= 100 * sum(reached) >= REQUIRED[folder] * len(reached)
        print(f"{_line(folder + '/', reached)}  (required {REQUIRED[folder]:g} %)")
    unreached = by_reason(found)
    print(f"\nNot reached, {sum(map(len, unreached.values()))} regions:")
    for text, members in unreached.items():
        print(f"\n{len(members)}: {text}")
        for region in members:
            print(f"    {region.file}:{region.line}: {region.text}")
    return met


def record(found: dict[Region, bool], scenarios: int) -> dict[str, Any]:
    """The numbers alone."""
    in_ns3 = by_folder(comparable(found))
    return {
        "scenarios": scenarios,
        "reached": {
            folder: {
                "regions": len(reached),
                "in_ns3": len(in_ns3[folder]),
                "reached": sum(reached),
            }
            for folder, reached in by_folder(found).items()
        },
        "unreached": {text: len(members) for text, members in by_reason(found).items() if members},
    }


def _line(name: str, reached: list[bool]) -> str:
    percent = 100 * sum(reached) / len(reached)
    return f"{name:40}{sum(reached):6}{len(reached):6}{percent:8.2f} %"


def main() -> int:
    """Run the matrix and report; returns the exit status."""
    from ccperf.verify import matrix

    parser = argparse.ArgumentParser(prog="make coverage", description=__doc__)
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the numbers, as JSON")
    file: Path | None = parser.parse_args().record
    runner = build()
    with tempfile.TemporaryDirectory() as name:
        cases = [case for case in matrix.cases() if not case.heavy]
        count = run(runner, (case.scenario for case in cases), Path(name))
        print(f"{count} scenarios (all but the heavy ones): regions reached, regions")
        found = regions(runner, Path(name))
    if file:
        file.write_text(json.dumps(record(found, count), indent=1) + "\n", encoding="utf-8")
    return 0 if report(found) else 1


if __name__ == "__main__":
    sys.exit(main())
