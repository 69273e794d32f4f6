"""Does the simulation tell what Linux does?  ``.venv/bin/python tools/linux_and_ns3.py``

Runs the first point of each experiment of congestion controls on the engine and on Linux's TCP, as
far as the database lacks them, and writes `docs/linux-and-ns3.md` of what differs. `--only-write`
makes no runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from ccperf.campaign.points import Point
from ccperf.campaign.run import run
from ccperf.evidence import cells
from ccperf.evidence.compare import compare, document
from ccperf.experiments.catalogue import REGISTRY, answer
from ccperf.runs import backends
from ccperf.store import Store

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "linux-and-ns3.md"
ALGORITHMS = ("TcpCubic", "TcpBbr", "TcpNewReno", "TcpVegas", "TcpDctcp")
#: A hundred flows of it take Linux a minute and a half.
LEFT_OUT = ("many_flows",)
#: Relative differences that want a cause.
LARGE = 0.1
#: What has been found to be the reason, by metric, or by experiment and metric.
_TIMEOUTS = (
    "ns-3's least RTO is 1 s and its first SYN waits 3 s; Linux's are 200 ms and 1 s. With those, "
    "CUBIC's mean in ns-3 is 324 ms, its 99th percentile 1,191 ms; the rest is not known yet"
)
CAUSES = {"mean_fct_l4": _TIMEOUTS, "p99_fct_l4": _TIMEOUTS}
HEAD = """\
# Linux and ns-3

Does the simulation tell what Linux does? Below is one algorithm of one name on the backend
`native`, which is ns-3's TCP packet by packet, and on the backend [`linux`](linux.md). The network
is the same to the bit; only the senders and receivers differ. Both acknowledge each segment, as the
catalogue's experiments say. `tools/linux_and_ns3.py` writes this page.

"""


def points(names: tuple[str, ...]) -> Iterator[Point]:
    """The first point of each experiment, for each algorithm."""
    for cc in names:
        for name, experiment in REGISTRY.items():
            if name not in LEFT_OUT:
                first = next(iter(experiment.grid()))
                labels = experiment.setup(cc, **first).labels
                yield Point(experiment.scenario(cc, **first), name, labels)


def page(database: Path, names: tuple[str, ...]) -> str:
    """The page, of what the database has."""
    found = cells.read([database])
    version = backends.get("linux").version.partition("-")[0]
    text = (
        HEAD + f"Linux {version}; the first point of each experiment but {', '.join(LEFT_OUT)}.\n"
    )
    large: list[str] = []
    counts = ["| algorithm | values | within 1 % | within 10 % | more |", "|---|---|---|---|---|"]
    for cc in names:
        sides = {
            f"{cc}@{backend}": [c for c in found if (c.algorithm, c.backend) == (cc, backend)]
            for backend in ("native", "linux")
        }
        if not all(sides.values()):
            continue
        rows = compare(sides, lambda name: answer(name).metrics, over="backends", each=True).rows
        steps = [0, 0, 0]
        for row in map(document, rows):
            base, mean = row["base_mean"], row["mean"]
            apart = abs(mean - base) / max(abs(base), abs(mean), 1e-9)
            step = (apart > 0.01) + (apart > LARGE)
            steps[step] += 1
            if apart > LARGE:
                name, metric = row["experiment"], row["metric"]
                cause = CAUSES.get(f"{name}.{metric}", CAUSES.get(metric, "not known yet"))
                large.append(
                    f"| {cc} | `{name}` | `{metric}` | {row['unit']} | {base:.4g} | {mean:.4g} "
                    f"| {cause} |"
                )
        counts.append(f"| {cc} | {sum(steps)} | {steps[0]} | {steps[1]} | {steps[2]} |")
    head = [
        "| algorithm | experiment | metric | unit | ns-3 | Linux | cause |",
        "|---|---|---|---|---|---|---|",
    ]
    text += "\n## How far they agree\n\nHeadline metrics of all these experiments:\n\n"
    text += "\n".join(counts) + "\n\n## Differences of more than 10 %\n\n"
    return text + "\n".join([*head, *large]) + "\n"


def main() -> None:
    """Make the runs, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--db", type=Path, default=Path("linux_and_ns3.db"))
    parser.add_argument("--cc", default=",".join(ALGORITHMS))
    parser.add_argument("--only-write", action="store_true")
    given = parser.parse_args()
    names = tuple(given.cc.split(","))
    if not given.only_write:
        with Store(given.db, "a") as store:
            for backend in ("native", "linux"):
                report = run(points(names), store, backends.get(backend))
                print(f"{backend}: {len(report.made)} made, {len(report.failures)} failed")
    PAGE.write_text(page(given.db, names))


if __name__ == "__main__":
    main()
