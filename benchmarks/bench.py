"""What `ccperf bench` of one algorithm costs: `.venv/bin/python -m benchmarks.bench [ALGORITHM]`.

First the four experiments of the first release, then the whole catalogue: the simulations alone,
the command without its site, and with it. Beside them stands what the site of before cost, in the
same call: its figures of a few runs, drawn as PDF and SVG by matplotlib as they were then,
extrapolated to all runs. Wall time depends on what else the machine does; processor time much less.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from ccperf.campaign.plan import Plan
from ccperf.campaign.points import Point
from ccperf.experiments import catalogue
from ccperf.present import figures
from ccperf.runs import backends
from ccperf.runs.recording import Recording
from ccperf.scenario import Scenario

FIRST = ("ecn", "aqm", "scalability", "ack_compression")
#: What the pages of before had of each run, as SVG and as PDF.
OF_BEFORE = ("time_series", "operating_point", "distribution", "in_flight")
#: So many runs are drawn in the old way.
DRAWN = 5


def main(algorithm: str) -> None:
    """Measure and print both parts."""
    for title, names in (("the first four", FIRST), ("whole catalogue", tuple(catalogue.REGISTRY))):
        points = [point for name in names for point in Plan(name, [algorithm]).points()]
        simulated, recordings = _simulations(points)
        with tempfile.TemporaryDirectory(prefix="ccperf-bench-") as folder:
            experiments = ["--experiments", ",".join(names)]
            without = _bench([algorithm, *experiments, "--no-site", "--db", "a.db"], folder)
            whole = _bench([algorithm, *experiments, "--db", "b.db"], folder)
            before = _old_figures(recordings, Path(folder)) * len(points)
        print(f"{title}: {len(points)} points")
        print(f"  simulations alone     {simulated:6.1f} s of processor time")
        print(f"  bench without a site  {without[1]:6.1f} s, {without[0]:6.1f} s on the clock")
        print(f"  bench with its site   {whole[1]:6.1f} s, {whole[0]:6.1f} s on the clock")
        print(f"  the figures of before {before:6.1f} s: with them {without[1] + before:.1f} s,")
        print(f"                        {(without[1] + before) / whole[1]:.1f} times as much")
        allowed = 2 * simulated + 5
        print(f"  twice the simulations and 5 s are {allowed:.1f} s")


def _simulations(points: Sequence[Point]) -> tuple[float, list[tuple[Scenario, Recording]]]:
    """Return the processor time of all runs, and a few of them with their scenarios."""
    engine = backends.get("native")
    kept: list[tuple[Scenario, Recording]] = []
    step = max(1, len(points) // DRAWN)
    took = 0.0
    for index, point in enumerate(points):
        point.scenario.lowered()
        start = time.process_time()
        recording = engine.simulate(point.scenario)
        took += time.process_time() - start
        if index % step == 0 and len(kept) < DRAWN:
            kept.append((point.scenario, recording))
    return took, kept


def _bench(arguments: Sequence[str], folder: str) -> tuple[float, float]:
    """Return wall and processor time of the command, its children included."""
    before, start = os.times(), time.perf_counter()
    command = [str(Path(sys.executable).with_name("ccperf")), "bench", *arguments]
    subprocess.run(command, check=True, cwd=folder, capture_output=True)
    wall, after = time.perf_counter() - start, os.times()
    return wall, (
        after.children_user + after.children_system - before.children_user - before.children_system
    )


def _old_figures(runs: Sequence[tuple[Scenario, Recording]], folder: Path) -> float:
    """Return the processor time of the figures of a run, as pages had them before."""
    start = time.process_time()
    for scenario, recording in runs:
        for name in OF_BEFORE:
            figure = figures.describe(name, scenario, recording)
            figures.save(figure, folder / f"{name}.svg", folder / f"{name}.pdf")
    return (time.process_time() - start) / len(runs)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "TcpNewReno")
