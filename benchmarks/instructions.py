"""What simulating costs in instructions, on any machine: ``python -m benchmarks.instructions``.

Small scenarios run in the engine for browsers (``make wasm``), on a virtual machine that counts
each instruction of WebAssembly that it executes. Such a count is the same on every machine, however
busy, for the same code and the same compiler; it is not that of a processor, but goes with it.
Counted is the simulation alone, neither reading the scenario nor making the tables.

A change may cost a processor more and that machine nothing, so the first of them are counted by
valgrind, too, in the engine for Python, while it simulates. Such a count also depends a little on
the C library.

The table beside this file is what was counted last; ``--record`` writes it anew. A test compares:
see `problems`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import wasmtime

from benchmarks.scenarios import counted
from ccperf import _native
from ccperf.scenario import Scenario

RECORD = Path(__file__).with_suffix(".json")
#: Where cargo leaves the engine for browsers as it is shipped.
SHIPPED = RECORD.parents[1] / "target/wasm32-unknown-unknown/wasm/ccperf_wasm.wasm"

#: How much more than recorded is too much, and how much less is to be recorded, so that it is kept.
MORE, LESS = 0.01, 0.03
#: The same for the code that another compiler makes of the same source.
OTHER_COMPILER = 0.1

#: So many scenarios are counted by valgrind: a second each.
NATIVE = 8

#: Loads the engine without Python's package, whose modules take longer than the simulation.
_PROGRAM = """
import importlib.util, os, sys
engine, scenario = sys.argv[1:]
spec = importlib.util.spec_from_file_location("ccperf._native", engine)
native = importlib.util.module_from_spec(spec)
spec.loader.exec_module(native)
with open(scenario) as text:
    simulation = native.Simulation(text.read())
simulation.run_until(1 << 62)
os._exit(0)
"""
#: Counting begins and ends with it.
_COUNTED = "ccperf_engine::run::simulate::Simulation::run_until*"

_ENOUGH = 1 << 62
_ALL_EVENTS = (1 << 31) - 1
_MORE_TO_COME, _DONE = 1, 0


def is_shipped() -> bool:
    """Whether the package's engine for browsers is built from this checkout, as it is shipped."""
    engine = Path(str(files("ccperf") / "data" / "engine.wasm"))
    return SHIPPED.is_file() and engine.is_file() and engine.read_bytes() == SHIPPED.read_bytes()


def why_not_native() -> str | None:
    """Why valgrind cannot count the engine for Python here, if it cannot."""
    if shutil.which("valgrind") is None:
        return "needs valgrind"
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return "counts are those of x86-64 on Linux"
    if os.environ.get("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS") == "true":
        return "the engine is built with checks that the shipped one leaves out"
    built = RECORD.parents[1] / "target/release/lib_native.so"
    engine = Path(_native.__file__)
    if not built.is_file() or built.read_bytes() != engine.read_bytes():
        return "needs the engine as it is shipped: make setup"
    return None


def compiler() -> str:
    """The compiler's version, on which counts depend."""
    said = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True)
    return said.stdout.strip()


class Counter:
    """The engine for browsers on a machine that counts."""

    @cached_property
    def _module(self) -> tuple[Any, Any]:
        config = wasmtime.Config()
        config.consume_fuel = True
        # It is compiled for longer than it runs.
        config.cranelift_opt_level = "none"
        engine = wasmtime.Engine(config)
        return engine, wasmtime.Module(engine, SHIPPED.read_bytes())

    def count(self, scenario: Scenario) -> int:
        """Instructions of simulating a scenario from its beginning to its end."""
        engine, module = self._module
        store = wasmtime.Store(engine, "a")
        store.set_fuel(_ENOUGH)
        exports = wasmtime.Instance(store, module, []).exports(store)
        text = json.dumps(scenario.canonical()).encode()
        exports["memory"].write(store, text, exports["input"](store, len(text)))
        if exports["open"](store, len(text)) != _MORE_TO_COME:
            raise RuntimeError(self._answer(store, exports))
        before = store.get_fuel()
        if exports["advance"](store, _ALL_EVENTS) != _DONE:
            raise RuntimeError(self._answer(store, exports))
        return int(before - store.get_fuel())

    @staticmethod
    def _answer(store: Any, exports: Any) -> str:
        start = exports["output"](store)
        said = exports["memory"].read(store, start, start + exports["output_length"](store))
        return bytes(said).decode(errors="replace")


@dataclass(frozen=True)
class Cost:
    """Of one scenario."""

    packet_hops: int
    instructions: int

    @property
    def a_hop(self) -> float:
        """Instructions a packet-hop."""
        return self.instructions / self.packet_hops


def measured() -> dict[str, Cost]:
    """The cost of every scenario, now."""
    counter = Counter()
    return {
        name: Cost(_packet_hops(scenario), counter.count(scenario))
        for name, scenario in counted().items()
    }


def measured_natively() -> dict[str, Cost]:
    """The same for the first of them, by valgrind."""
    return {
        name: Cost(_packet_hops(scenario), _native_count(scenario))
        for name, scenario in list(counted().items())[:NATIVE]
    }


def _native_count(scenario: Scenario) -> int:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.json"
        file.write_text(scenario.lowered())
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        command += [f"--toggle-collect={_COUNTED}", sys.executable, "-I", "-S", "-c", _PROGRAM]
        done = subprocess.run(
            [*command, _native.__file__, str(file)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": "0"},
        )
        found = re.search(r"Collected : (\d+)", done.stderr)
        assert found is not None, done.stderr
        return int(found[1])


def _packet_hops(scenario: Scenario) -> int:
    links = _native.Simulation(scenario.lowered()).finish()["links"]
    return int(links["tx_packets"].sum())


def recorded(machine: str = "scenarios") -> tuple[str, dict[str, Cost]]:
    """The compiler and the costs of the table beside this file; ``machine``: or "native"."""
    data = json.loads(RECORD.read_text())
    return data["compiler"], {name: Cost(**cost) for name, cost in data.get(machine, {}).items()}


def problems(
    found: dict[str, Cost], expected: dict[str, Cost], *, is_same_compiler: bool
) -> list[str]:
    """What of the costs that were found is not as recorded, a sentence each."""
    if list(found) != list(expected):
        return [f"the scenarios are {', '.join(found)}; recorded are {', '.join(expected)}"]
    more, less = (MORE, LESS) if is_same_compiler else (OTHER_COMPILER, OTHER_COMPILER)
    said = []
    for name, cost in found.items():
        was = expected[name]
        change = cost.instructions / was.instructions - 1
        if cost.packet_hops != was.packet_hops:
            said.append(f"{name}: {cost.packet_hops} packet-hops, recorded are {was.packet_hops}")
        elif change > more or change < -less:
            said.append(
                f"{name}: {cost.a_hop:.0f} instructions a packet-hop, recorded are {was.a_hop:.0f}"
                f" ({change:+.1%})"
            )
    return said


def record(costs: dict[str, Cost], native: dict[str, Cost]) -> None:
    """Write the table beside this file anew."""
    data = {
        "compiler": compiler(),
        "scenarios": {name: vars(cost) for name, cost in costs.items()},
        "native": {name: vars(cost) for name, cost in native.items()},
    }
    RECORD.write_text(json.dumps(data, indent=2) + "\n")


def _print(title: str, found: dict[str, Cost], before: dict[str, Cost]) -> None:
    print(f"{title:31} {'packet-hops':>11} {'instructions':>12} {'a hop':>5} {'change':>6}")
    for name, cost in found.items():
        was = before.get(name)
        change = f"{cost.instructions / was.instructions - 1:+.1%}" if was else "new"
        counts = f"{cost.packet_hops:11} {cost.instructions:12} {cost.a_hop:5.0f}"
        print(f"{name:31} {counts} {change:>6}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions")
    parser.add_argument("--record", action="store_true", help="write what is counted as the record")
    wants_record = parser.parse_args().record
    if not is_shipped():
        parser.error("the engine for browsers is not built as it is shipped: make wasm")
    why_not = why_not_native()
    if wants_record and why_not:
        parser.error(f"the engine for Python is to be counted, too: {why_not}")
    found = measured()
    _print("in WebAssembly", found, recorded()[1] if RECORD.is_file() else {})
    native = {} if why_not else measured_natively()
    _print("natively", native, recorded("native")[1] if RECORD.is_file() else {})
    if wants_record:
        record(found, native)


if __name__ == "__main__":
    main()
