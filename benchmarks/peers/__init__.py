"""What the engine's speed is set beside: this machine's own measure, and htsim.

Both are small C++ programs, compiled into ``target/peers`` when they are first asked for.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_HERE = Path(__file__).parent
_BUILT = _HERE.parents[1] / "target" / "peers"


def compiled(name: str, *arguments: str) -> Path:
    """Compile ``name.cpp`` of this folder, if it is newer than the program; return the program."""
    source, program = _HERE / f"{name}.cpp", _BUILT / name
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        _BUILT.mkdir(parents=True, exist_ok=True)
        compiler = os.environ.get("CXX", "c++")
        command = [compiler, "-std=c++17", "-O3", "-march=native", str(source), *arguments]
        subprocess.run([*command, "-o", str(program)], check=True)
    return program


def heap_ns() -> float:
    """Nanoseconds of a pop and a push on a binary heap of 100 entries, on this machine."""
    done = subprocess.run([compiled("yardstick")], check=True, capture_output=True, text=True)
    return float(done.stdout)
