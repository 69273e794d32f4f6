"""What ns-3's own example programs send: writes tests/exec/ns3_examples.json.

    .venv/bin/python tools/ns3_examples.py NS3_SOURCE [--only PATTERN] [LINE ...]

compiles the unchanged examples of an ns-3 3.44 source tree, but for a trace of their packets that
is started right before the simulator runs (`ns3_example_trace.h`), against the wheel of ns-3, runs
the lines that the file has already, if they contain the pattern, and those given, and keeps of each
the number of packet events and their SHA-256. With --compare it writes nothing, and says which
lines of the file would change.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from ccperf.runs.backends.ns3.build import toolchain
from ccperf.runs.backends.ns3.release import MODULES

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "tests" / "exec" / "ns3_examples.json"
FOLDERS = ("examples/tcp", "examples/traffic-control", "src/traffic-control/examples")


def main() -> None:
    """Compile, run and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path)
    parser.add_argument("lines", nargs="*")
    parser.add_argument("--only")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--scratch", type=Path, help="compiled programs are kept here")
    given = parser.parse_intermixed_args()
    known = {golden["line"]: golden for golden in json.loads(TARGET.read_text())}
    again = [line for line in known if given.only is None or given.only in line]
    lines = [*([] if given.lines and given.only is None else again), *given.lines]
    with tempfile.TemporaryDirectory() as temporary:
        scratch = given.scratch or Path(temporary)
        scratch.mkdir(exist_ok=True)
        for name in sorted({line.partition(" ")[0] for line in lines}):
            if not (scratch / name).exists():
                compile_example(find(given.source, name), scratch)
        for line in lines:
            found = run(line, scratch)
            print("same" if known.get(line) == found else "new ", found["rows"], line, flush=True)
            if not given.compare:
                known[line] = found
                ordered = sorted(known.values(), key=lambda one: str(one["line"]).partition(" ")[0])
                TARGET.write_text(json.dumps(ordered, indent=1) + "\n")


def find(source: Path, name: str) -> Path:
    """The source of an example."""
    for folder in FOLDERS:
        if (path := source / folder / f"{name}.cc").exists():
            return path
    raise SystemExit(f"{source} has no {name}.cc in {', '.join(FOLDERS)}")


def compile_example(source: Path, scratch: Path) -> None:
    """Compile one program with its trace."""
    tools = toolchain()
    text = source.read_text()
    text = text.replace(
        "using namespace ns3;", '#include "ns3_example_trace.h"\nusing namespace ns3;', 1
    )
    text = text.replace(
        "    Simulator::Run();", "    const PacketLines lines;\n    Simulator::Run();"
    )
    unit = scratch / source.name
    unit.write_text(text)
    libraries = tools.ns3.libraries
    modules = ("flow-monitor", "point-to-point-layout", "config-store", *MODULES)
    subprocess.run(
        [
            *(tools.compiler, "-std=c++20", "-O1", str(unit), "-o", str(scratch / source.stem)),
            *(f"-I{ROOT / 'tools'}", "-isystem", str(tools.ns3.include)),
            *("-DNS3_ASSERT_ENABLE", "-DNS3_LOG_ENABLE"),
            *(f"-L{libraries}", f"-Wl,-rpath,{libraries}"),
            # The wheel's config-store has a window of GTK, which nobody opens.
            "-Wl,--allow-shlib-undefined",
            *(f"-l{tools.ns3.library(module)}" for module in modules),
        ],
        check=True,
    )


def run(line: str, scratch: Path) -> dict[str, str | int]:
    """Run one line; what its packets do, in short."""
    program, *arguments = shlex.split(line)
    packets = scratch / "packets"
    packets.unlink(missing_ok=True)
    done = subprocess.run(
        [str(scratch / program), *arguments],
        check=False,
        cwd=scratch,
        env={**os.environ, "PACKETS": str(packets)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    # A program may say in the end that a run was not what it expects: its packets are there.
    if done.returncode not in (0, 1) or not packets.exists():
        raise SystemExit(f"`{line}` ended with {done.returncode}")
    content = packets.read_bytes()
    return {
        "line": line,
        "rows": content.count(b"\n"),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


if __name__ == "__main__":
    main()
