"""What do releases of ns-3 change?  ``.venv/bin/python tools/releases.py FOLDER``

Reads ns3-3.44.db, ns3-3.48.db and ns3-dev.db in FOLDER, which `make releases` fills, runs the
matrix' cases `cc/*-deep` under each release, and writes `python/ccperf/data/releases.json`, of
which `tools/docs.py` makes `docs/releases.md`, and the figure of that page.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from ccperf.algorithms import releases
from ccperf.evidence import cells
from ccperf.evidence.compare import compare
from ccperf.experiments.catalogue import answer
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs import backends, metrics
from ccperf.verify import matrix
from ccperf.verify.between_releases import FILE, Conclusion, Effect, Measured
from ccperf.verify.case import Case, with_release

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ccperf.evidence.cells import Cell
    from ccperf.evidence.rows import Row

ROOT = Path(__file__).parent.parent
DATA = ROOT / "python" / "ccperf" / "data" / FILE
FIGURE = ROOT / "docs" / "images" / "releases.svg"
#: Those whose comparisons the page looks at, and the release that is compared with 3.44 there.
COMPARED = ("TcpCubic", "TcpBbr", "TcpDctcp")
NEWEST = "ns3-dev"
#: Relative differences of means: a conclusion has more than the first, none less than the second.
LARGE, SMALL = 0.05, 0.01
#: These are not ranked among the loss-based.
NOT_LOSS_BASED = ("TcpBbr", "TcpVegas", "TcpLedbat", "TcpLp")

Sides = dict[str, list["Cell"]]


def measured(folder: Path) -> Measured:
    """All of it."""
    names = list(releases.releases())
    found = cells.read([folder / f"{name}.db" for name in names])
    sides = cells.by_profile(found, names)
    # What was not run under each release tells nothing.
    common = set.intersection(*({cell.algorithm for cell in side} for side in sides.values()))
    sides = {name: [c for c in side if c.algorithm in common] for name, side in sides.items()}
    ran = {name: len(_pairs(side)) for name, side in sides.items()}
    return Measured(
        engine=backends.get("native").version,
        seeds=_seeds(found),
        algorithms=tuple(dict.fromkeys(c.algorithm for c in found if c.algorithm in common)),
        ran=ran,
        effects={name: tuple(_effects(sides[names[0]], sides[name], name)) for name in names[1:]},
        conclusions=tuple(_conclusions(sides[names[0]], sides[NEWEST])),
        deep=_deep(names),
        trap=_trap(names),
        capacity={name: _capacity(side) for name, side in sides.items()},
    )


def _seeds(found: Sequence[Cell]) -> tuple[int, ...]:
    """Those that all algorithms have, then those of some."""
    of_algorithm: dict[str, set[int]] = {}
    for cell in found:
        of_algorithm.setdefault(cell.algorithm, set()).update(cell.metrics)
    common = set.intersection(*of_algorithm.values())
    return (*sorted(common), *sorted(set.union(*of_algorithm.values()) - common))


def _pairs(side: Sequence[Cell]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((cell.point.experiment, cell.algorithm) for cell in side))


def _effects(base: Sequence[Cell], side: Sequence[Cell], name: str) -> list[Effect]:
    effects = []
    for algorithm in dict.fromkeys(cell.algorithm for cell in side):
        both = dict(zip(("base", name), _alike(base, side, algorithm), strict=True))
        rows = compare(both, lambda name: answer(name).metrics, over="databases").rows
        effects += [effect for row in rows if (effect := _effect(row, algorithm)).changed]
    order = {name: place for place, name in enumerate(dict.fromkeys(e.experiment for e in effects))}
    return sorted(effects, key=lambda effect: order[effect.experiment])


def _alike(base: Sequence[Cell], side: Sequence[Cell], algorithm: str) -> list[list[Cell]]:
    """The cells of an algorithm on both sides, with the seeds that both have.

    An experiment may draw start times itself: then a seed changes what its scenario is, of which a
    single run does not tell.
    """
    own = [{c.point: c for c in cells if c.algorithm == algorithm} for cells in (base, side)]
    kept: list[list[Cell]] = [[], []]
    for point in own[0].keys() & own[1].keys():
        pair = [cells[point] for cells in own]
        seeds = set.intersection(*(set(cell.records) for cell in pair))
        for place, cell in zip(kept, pair, strict=True):
            records = {seed: record for seed, record in cell.records.items() if seed in seeds}
            place.append(replace(cell, records=records))
    order = {cell.point: place for place, cell in enumerate(base)}
    return [sorted(cells, key=lambda cell: order[cell.point]) for cells in kept]


def _effect(row: Row, algorithm: str) -> Effect:
    size = row.size
    changed = sum(_apart(each.base.mean, each.other.mean) > SMALL for each in row.differences)
    return Effect(
        row.experiment,
        algorithm,
        row.metric,
        size.effect,
        row.points,
        changed,
        *(_finite(value) for value in (size.mean, size.least.value, size.largest.value)),
    )


def _conclusions(base: Sequence[Cell], side: Sequence[Cell]) -> list[Conclusion]:
    found = []
    for one, other in combinations(COMPARED, 2):
        before, after = (_rows(cells, one, other) for cells in (base, side))
        for (experiment, metric), row in before.items():
            rows = row, after[experiment, metric]
            pairs = tuple((_rounded(row.means[0]), _rounded(row.means[1])) for row in rows)
            if word := _word(*(_signed(row.means) for row in rows)):
                exact = all(each.basis == "exact" for row in rows for each in row.differences)
                found.append(Conclusion(experiment, metric, one, other, *pairs, word, exact))
    return found


def _rows(side: Sequence[Cell], one: str, other: str) -> Mapping[tuple[str, str], Row]:
    both = {name: [cell for cell in side if cell.algorithm == name] for name in (one, other)}
    rows = compare(both, lambda name: answer(name).metrics).rows
    return {(row.experiment, row.metric): row for row in rows}


def _apart(a: float, b: float) -> float:
    return abs(a - b) / max(abs(a), abs(b), 1e-12)


def _signed(pair: tuple[float, float]) -> float:
    return math.copysign(_apart(*pair), pair[1] - pair[0])


def _word(before: float, after: float) -> str:
    """What becomes of a conclusion; empty if there is none under either release."""
    if abs(before) > LARGE and abs(after) > LARGE:
        return "stands" if before * after > 0 else "turns"
    if abs(before) > LARGE and abs(after) < SMALL:
        return "vanishes"
    if abs(before) < SMALL and abs(after) > LARGE:
        return "appears"
    return "weakens" if abs(before) > LARGE else "grows" if abs(after) > LARGE else ""


def _deep(names: Sequence[str]) -> dict[str, dict[str, tuple[float, int]]]:
    """Mbps and timeouts of each algorithm, alone at 40 Mbps and 50 ms with a queue of 330."""
    native = backends.get("native")
    found: dict[str, dict[str, tuple[float, int]]] = {name: {} for name in names}
    for case in matrix.cases("cc/*-deep"):
        (flow,) = case.scenario.flows
        assert flow.cc
        if flow.cc.type in NOT_LOSS_BASED:
            continue
        for name in names:
            scenario = with_release(case, name).scenario
            recording = native.simulate(scenario)
            (values,) = metrics.compute(scenario, recording).of("flow").values()
            found[name][flow.cc.type] = (
                round(values["mean_throughput_l4"], 2),
                int(values["total_rtos_l4"]),
            )
    return found


def _trap(names: Sequence[str]) -> dict[str, tuple[float, int]]:
    """CUBIC alone at 100 Mbps and 20 ms for 60 s, with Linux's least timeout."""
    scenario = dumbbell(
        rate="100Mbps",
        rtts="20ms",
        cc="cubic",
        qlen="250000B",
        stop_time="60s",
        access_rate="10Gbps",
        delayed_ack_count=2,
        buffer=16_000_000,
        tcp={"MinRto": "200ms"},
    )
    found = {}
    for name in names:
        recording = backends.get("native").simulate(with_release(Case(scenario), name).scenario)
        (values,) = metrics.compute(scenario, recording).of("flow").values()
        found[name] = round(values["mean_throughput_l4"], 2), int(values["total_rtos_l4"])
    return found


def _capacity(side: Sequence[Cell]) -> dict[str, float]:
    """`used_capacity_l1` over the points of `scalability`, the geometric mean."""
    logs: dict[str, list[float]] = {}
    for cell in side:
        if cell.point.experiment == "scalability" and cell.algorithm not in NOT_LOSS_BASED:
            values = [values["used_capacity_l1"] for values in cell.metrics.values()]
            logs.setdefault(cell.algorithm, []).append(math.log(sum(values) / len(values)))
    return {name: round(math.exp(sum(all_) / len(all_)), 2) for name, all_ in logs.items()}


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else _rounded(value)


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def draw(found: Measured) -> None:
    """The figure: the loss-based algorithms under ns-3 3.44 and under the newest release."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "ccperf", "svg.fonttype": "path", "font.size": 9})
    base = releases.default()
    rates = {
        name: {algorithm: rate for algorithm, (rate, _) in values.items()}
        for name, values in found.deep.items()
    }
    panels = [
        ("40 Mbps, 50 ms, queue of 330 packets", "throughput [Mbps]", rates),
        ("scalability, 10 points", "used capacity [%]", found.capacity),
    ]
    figure, axes = plt.subplots(1, 2, figsize=(7.6, 3.9), layout="constrained")
    for axis, (title, unit, values) in zip(axes, panels, strict=True):
        ends = [values[base], values[NEWEST]]
        names = sorted(ends[0].keys() & ends[1].keys(), key=lambda name: (ends[0][name], name))
        for place, name in enumerate(names):
            axis.plot([end[name] for end in ends], [place] * 2, color="#b0b0b0", lw=1.5, zorder=1)
        looks = zip((base, NEWEST), ends, ("#c44e00", "#0062a3"), "oD", strict=True)
        for release, end, colour, marker in looks:
            at = [end[name] for name in names]
            axis.scatter(at, range(len(names)), color=colour, marker=marker, s=24, label=release)
        axis.set_yticks(range(len(names)), [name.removeprefix("Tcp") for name in names])
        axis.set_xlabel(unit)
        axis.set_title(title, fontsize=9)
        axis.grid(axis="x", color="#e5e5e5")
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False, loc="center left")
    figure.savefig(FIGURE, metadata={"Date": None, "Creator": "ccperf"})


def main() -> int:
    """Measure, write, draw."""
    found = measured(Path(sys.argv[1]))
    DATA.write_text(found.json(), encoding="utf-8")
    draw(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
