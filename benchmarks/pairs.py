"""The engine of this checkout beside an earlier one: ``python -m benchmarks.pairs 0c1e96c``.

Rates belong to a machine and an hour, so both engines are built alike (as ``make setup`` does in
their checkout, or with ``--profile-guided`` as a wheel is: crates optimised together, each by a
profile of its own on these scenarios) and run in turns on
one core. Printed are the seconds of processor time of the whole process, which reads the scenario,
simulates it and makes the tables, and how many times as fast the engine of this checkout is, by
the least and by the median of ``--repeats`` pairs. ``--instructions`` counts a short stretch of
each scenario with valgrind instead, per packet-hop. ``--record`` writes the times into
`figures.json`.

A scenario that the earlier engine does not know is left out. Needs ``git`` and ``cargo``;
``--profile-guided`` also ``rustup component add llvm-tools``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks import figures
from benchmarks.scenarios import Case, cases, large

ROOT = Path(__file__).parents[1]
#: What is built goes here, and is built anew only where it has changed.
FOLDER = ROOT / "target" / "pairs"
EXAMPLE = "run_scenario"
#: Shorter runs are repeated as often as makes up for it: what else happens is large beside them.
_SHORT_S = 0.1


@dataclass(frozen=True)
class Run:
    """One process."""

    seconds: float
    hops: int


class Unread(Exception):
    """The engine does not read this scenario."""


def exported(revision: str) -> Path:
    """The sources of a revision, in a folder of their own."""
    name = _output("git", "rev-parse", "--short", "--verify", f"{revision}^{{commit}}")
    folder = FOLDER / name
    if not folder.exists():
        folder.mkdir(parents=True)
        archive = subprocess.run(
            ["git", "archive", name], cwd=ROOT, check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    return folder


def built(sources: Path, name: str, flags: str = "") -> Path:
    """The program of the engine in these sources, with these flags for its compiler."""
    target = FOLDER / f"{name}-build"
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--package", "ccperf-engine"]
    command += ["--example", EXAMPLE, "--target-dir", str(target)]
    settings = {"RUSTFLAGS": flags}
    if flags:  # as in the wheel
        settings["CARGO_PROFILE_RELEASE_LTO"] = "fat"
    subprocess.run(command, cwd=sources, check=True, env=os.environ | settings)
    return target / "release" / "examples" / EXAMPLE


def guided(sources: Path, name: str, scenarios: list[Path]) -> Path:
    """The same, guided by a profile of how it runs these scenarios."""
    profile = FOLDER / f"{name}-profile"
    shutil.rmtree(profile, ignore_errors=True)
    learning = built(sources, f"{name}-learning", f"-Cprofile-generate={profile}")
    for scenario in scenarios:
        try:
            run(learning, scenario)
        except Unread:
            continue
    merged = profile / "merged.profdata"
    subprocess.run([_profdata(), "merge", "-o", str(merged), str(profile)], check=True)
    return built(sources, f"{name}-guided", f"-Cprofile-use={merged}")


def _profdata() -> str:
    """The program that merges profiles, which comes with the compiler."""
    found = list(Path(_output("rustc", "--print", "sysroot")).glob("**/bin/llvm-profdata"))
    if not found:
        raise SystemExit("llvm-profdata is missing: rustup component add llvm-tools")
    return str(found[0])


def run_copied(program: Path, scenario: Path) -> Run:
    """A run of the program in a file of its own.

    What a linker has written and what was copied lie in larger or smaller pieces in the page cache,
    and so take more or fewer page faults: 2 % of a run of 4 ms. A copy, too, can lie badly for as
    long as it is there: one engine was found to take 1.3 times its time in all runs of one copy.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copyfile(program, Path(folder) / program.name)
        copy.chmod(0o755)
        return run(copy, scenario)


def run(program: Path, scenario: Path) -> Run:
    """One process, on the core that this one is on."""
    with subprocess.Popen(
        [str(program), str(scenario)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Unread(scenario.name)
    return Run(used.ru_utime + used.ru_stime, _hops(said))


def in_turns(old: Path, new: Path, scenario: Path, repeats: int) -> tuple[list[Run], list[Run]]:
    """So many runs of each program, first one and then the other in front; more of short ones."""
    runs: dict[Path, list[Run]] = {each: [run_copied(each, scenario)] for each in (old, new)}
    for i in range(repeats * max(1, round(_SHORT_S / runs[new][0].seconds)) - 1):
        for program in (old, new) if i % 2 else (new, old):
            runs[program].append(run_copied(program, scenario))
    return runs[old], runs[new]


def instructions(program: Path, scenario: Path) -> float:
    """Of a packet-hop, by valgrind, reading and tables included."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run([*command, str(program), str(scenario)], capture_output=True, text=True)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or collected is None:
        raise Unread(scenario.name)
    return int(collected[1]) / _hops(done.stdout)


def _hops(said: str) -> int:
    found = re.search(r"(\d+) packet-hops", said)
    assert found is not None, said
    return int(found[1])


def _output(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _written(case: Case, folder: Path, short: bool) -> Path:
    scenario = case.scenario
    if short:
        flows = tuple(flow.model_copy(update={"stop": None}) for flow in scenario.flows)
        scenario = scenario.model_copy(update={"stop_time": case.ns3_stop, "flows": flows})
    file = folder / f"{case.name}.json"
    file.write_text(json.dumps(scenario.canonical()))
    return file


def _compared(old: Path, new: Path, scenario: Path, repeats: int) -> dict[str, float]:
    before, after = in_turns(old, new, scenario, repeats)
    hops = {one.hops for one in before + after}
    assert len(hops) == 1, f"the engines differ: {hops} packet-hops"
    least, median = (
        [of([one.seconds for one in runs]) for runs in (before, after)]
        for of in (min, statistics.median)
    )
    return {
        "before_s": round(least[0], 4),
        "s": round(least[1], 4),
        "least": round(least[0] / least[1], 2),
        "median": round(median[0] / median[1], 2),
    }


def _counted(old: Path, new: Path, scenario: Path) -> dict[str, float]:
    before, after = instructions(old, scenario), instructions(new, scenario)
    return {"before": round(before), "here": round(after), "times": round(before / after, 2)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("revision", help="of the earlier engine")
    parser.add_argument("--cc", default="TcpNewReno")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--profile-guided", action="store_true")
    parser.add_argument("--instructions", action="store_true", help="count them, by valgrind")
    parser.add_argument("--record", action="store_true", help="write figures.json")
    args = parser.parse_args()
    if args.record and args.instructions:
        parser.error("--record writes times, not instructions: leave one of the two out")
    if args.instructions and shutil.which("valgrind") is None:
        parser.error("--instructions needs valgrind")
    earlier = exported(args.revision)
    with tempfile.TemporaryDirectory() as folder:
        chosen = [*cases(args.cc), *large()]
        scenarios = [_written(case, Path(folder), args.instructions) for case in chosen]
        if args.profile_guided:
            old, new = (
                guided(sources, name, scenarios)
                for sources, name in ((earlier, earlier.name), (ROOT, "here"))
            )
        else:
            old, new = built(earlier, earlier.name), built(ROOT, "here")
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        unit = "instructions" if args.instructions else "s of CPU"
        print(f"{args.cc}, {unit}: {earlier.name}, here, times as fast (least, median)")
        values: dict[str, dict[str, float]] = {}
        for scenario in scenarios:
            try:
                row = (
                    _counted(old, new, scenario)
                    if args.instructions
                    else _compared(old, new, scenario, args.repeats)
                )
            except Unread:
                print(f"{scenario.stem:29}  {earlier.name} does not read it", flush=True)
                continue
            values[scenario.stem] = row
            print(f"{scenario.stem:29}" + "".join(f"{x:10g}" for x in row.values()), flush=True)
    if args.record:
        part = "pairs_guided" if args.profile_guided else "pairs"
        by = f"CPU time, {args.repeats} pairs beside {earlier.name}, {args.cc}"
        figures.record(part, by, values)


if __name__ == "__main__":
    main()
