"""How often `compare` is wrong on real runs: `.venv/bin/python -m benchmarks.evidence [DATABASE]`.

Of six experiments every point is run with 60 seeds, whose mean stands for the truth: some minutes
on two cores, kept in the database if one is named. Then a few of the seeds are drawn again and
again, and each point is judged by its experiment's headlines, for itself:

* an algorithm against other seeds of itself: a difference that is shown is none;
* NewReno against CUBIC: whether the interval has the difference of all seeds, and whether what
  is called equal, better or worse is so by these.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import ccperf
from ccperf.evidence import cells
from ccperf.evidence.compare import compare
from ccperf.experiments.catalogue import answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ccperf.evidence.cells import Cell
    from ccperf.evidence.paired import Difference

EXPERIMENTS = (
    "aqm",
    "steady_state_synchronous_fairness",
    "buffer_sizing",
    "loss_resilience",
    "short_against_long",
    "competition",
)
PAIR = ("TcpNewReno", "TcpCubic")
SEEDS = range(1, 61)
DRAWS = 25


def main(database: Path) -> None:
    """Make the runs that are not there, and print how often statements of few seeds are wrong."""
    for name in EXPERIMENTS:
        asked = {"jitter": "100ms", "stop_time": "4s", "db": database, "progress": False}
        ccperf.grid(name, cc=PAIR, seed=SEEDS, **asked)
    # What draws nothing has one run.
    found = [cell for cell in cells.read([database]) if len(cell.runs) == len(SEEDS)]
    points = len({cell.point for cell in found})
    print(f"{points} points of {len(EXPERIMENTS)} experiments, {DRAWS} draws of so many seeds")
    for seeds in (2, 3, 5, 10):
        print(f"\n{seeds} seeds")
        _alike(found, seeds)
        _apart(found, seeds)


def _alike(found: Sequence[Cell], seeds: int) -> None:
    """An algorithm against other seeds of itself."""
    draw = random.Random(1)
    shown: list[bool] = []
    for _ in range(DRAWS):
        for cell in found:
            numbers = draw.sample(SEEDS, 2 * seeds)
            one, other = (_renamed(cell, each) for each in (numbers[:seeds], numbers[seeds:]))
            shown += [each.is_shown for _, each in _differences(one, other)]
    print(f"  itself: shown in {_share(sum(shown), len(shown))}")


def _renamed(cell: Cell, numbers: Sequence[int]) -> Cell:
    """Return a cell's runs with these seeds, which count as the first ones."""
    return replace(
        cell,
        metrics={i: cell.metrics[seed] for i, seed in enumerate(numbers)},
        runs={i: cell.runs[seed] for i, seed in enumerate(numbers)},
        records={i: cell.records[seed] for i, seed in enumerate(numbers)},
    )


def _apart(found: Sequence[Cell], seeds: int) -> None:
    """One algorithm against another: what the same seeds say of the difference of all seeds."""
    draw = random.Random(2)
    sides = [{cell.point: cell for cell in found if cell.algorithm == name} for name in PAIR]
    common = [point for point in sides[0] if point in sides[1]]
    truths = {
        (point, metric): each
        for point in common
        for metric, each in _differences(*(side[point] for side in sides))
        if each.seeds == len(SEEDS)
    }
    covered: dict[str, list[bool]] = {}
    said: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for _ in range(DRAWS):
        numbers = draw.sample(SEEDS, seeds)
        for point in common:
            for metric, each in _differences(*(side[point].of_seeds(numbers) for side in sides)):
                truth = truths.get((point, metric))
                if truth is None or each.seeds < seeds:
                    continue
                if each.interval and each.is_log == truth.is_log:
                    low, high = each.interval
                    covered.setdefault(metric, []).append(low <= truth.mean <= high)
                said[each.direction] += 1
                if each.direction == "equal":
                    wrong["equal"] += abs(truth.mean) > truth.margin
                elif each.direction != "unknown":
                    wrong["turned"] += (each.mean > 0) is not (truth.mean > 0)
    for metric, of in covered.items():
        print(f"  {metric}: the interval has it in {_share(sum(of), len(of))}")
    print(f"  equal, and beyond 1 % by all seeds: {_share(wrong['equal'], said['equal'])}")
    print(f"  more or less, and turned: {_share(wrong['turned'], said['more'] + said['less'])}")


def _differences(base: Cell, other: Cell) -> Iterator[tuple[str, Difference]]:
    metrics = answer(base.point.experiment).metrics
    for row in compare({"base": [base], "other": [other]}, metrics).rows:
        yield row.metric, row.differences[0]


def _share(count: int, of: int) -> str:
    return f"{100 * count / of:.1f} % of {of:,}" if of else "none"


if __name__ == "__main__":
    if sys.argv[1:]:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory(prefix="ccperf-evidence-") as folder:
            main(Path(folder) / "runs.db")
