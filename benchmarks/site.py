"""How long a large site takes, and how large it is: `.venv/bin/python -m benchmarks.site [PAGES]`.

A store is made of a few real runs of 15 s under many names: `PAGES` points of algorithms (default:
250) with ten seeds each, whose metrics are shaken by a percent. Times are processor time of all
processes together, since other work on the machine does not count in it; sizes are of the files.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ccperf import site
from ccperf.algorithms import registry
from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.runs.result import Result
from ccperf.store import Store, metric_text
from ccperf.store.packing import PackedRun, pack

SEEDS = 10
#: Experiments whose points have one flow or a few, as most of the catalogue's have.
FROM = (("aqm", {"k": "1"}), ("aqm", {"k": "5"}), ("competition", {}), ("ecn", {"k": "1"}))


def main(pages: int) -> None:
    """Make the store, build its site, add a run, build again; print what each took."""
    with tempfile.TemporaryDirectory(prefix="ccperf-site-") as folder:
        database, output = Path(folder) / "runs.db", Path(folder) / "site"
        runs = list(_runs(pages))
        *most, last = runs
        with Store(database, "a") as store:
            for run in most:
                store.add(run)
        print(f"{len(most):,} runs on {pages} pages")
        took = _processor(lambda: site.build([database], output))
        sizes = [path.stat().st_size for path in output.rglob("*") if path.is_file()]
        total = sum(sizes) / 1e6
        print(f"first build: {took:.1f} s of processor time, {1e3 * took / len(most):.1f} ms a run")
        print(f"{len(sizes):,} files, {total:.1f} MB, {1e6 * total / len(most):,.0f} B a run")
        nothing = _processor(lambda: site.build([database], output))
        print(f"nothing new: {nothing:.2f} s")
        with Store(database, "a") as store:
            store.add(last)
        one = _processor(lambda: site.build([database], output))
        print(f"one new run: {one:.2f} s")


def _processor(work: Callable[[], object]) -> float:
    def now() -> float:
        times = os.times()
        return times.user + times.system + times.children_user + times.children_system

    start = now()
    work()
    return now() - start


def _runs(pages: int) -> Iterator[PackedRun]:
    engine = backends.get("native")
    made = []
    for name, point in FROM:
        experiment = catalogue.get(name)
        scenario = experiment.scenario("TcpCubic", **point)
        made.append(pack(Result.of(scenario, engine.simulate(scenario), engine)))
    algorithms = list(registry.algorithms("cc"))
    experiments = list(catalogue.REGISTRY.values())[:13]
    shaken = random.Random(1)
    number = 0
    while number < pages:
        algorithm = algorithms[number % len(algorithms)]
        experiment = experiments[number // len(algorithms) % len(experiments)]
        at = number // (len(algorithms) * len(experiments))
        parameters = {"aut": algorithm, "point": str(at)}
        like = made[number % len(made)]
        for seed in range(SEEDS):
            yield replace(
                like,
                id=f"{number:08x}{seed:08x}",
                provenance=replace(like.provenance, seed=seed),
                experiment=experiment.name,
                parameters=parameters,
                metrics={
                    scope: metric_text.encode(_shaken(metric_text.decode(packed), shaken))
                    for scope, packed in like.metrics.items()
                },
            )
        number += 1


def _shaken(
    columns: Mapping[str, Mapping[str, float]], by: random.Random
) -> dict[str, dict[str, float]]:
    return {
        column: {name: value * by.uniform(0.99, 1.01) for name, value in values.items()}
        for column, values in columns.items()
    }


if __name__ == "__main__":
    start = time.perf_counter()
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 250)
    print(f"({time.perf_counter() - start:.0f} s in all)")
