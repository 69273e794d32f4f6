"""What load balancers cost: ``python -m benchmarks.balancing``.

Packet-hops a second of each scheme over those of ECMP, on the same flows (experiment
`load_balancing`, symmetric, 4 x 4 x 8). CPU time of the simulation alone, in this process; each
scheme runs right after ECMP, several times in turn, and what counts is the median of the ratios, so
that a machine that others use at the same time slows both. Without a recording of what they do to
order, and once with it.
"""

from __future__ import annotations

import argparse
import statistics
import time

from ccperf import _native
from ccperf.algorithms import registry
from ccperf.experiments import catalogue
from ccperf.scenario import Scenario

REPEATS = 5
BASE = "ecmp"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=REPEATS, help="pairs of each scheme")
    parser.add_argument("--arrivals", default="20ms", help="flows begin before this")
    given = parser.parse_args()
    base = scenario(BASE, given.arrivals, recorded=False)
    print("| scheme | packet-hops | million a second | over ECMP | recorded, over not |")
    print("|---|---:|---:|---:|---:|")
    for scheme in registry.algorithms("routing"):
        own = scenario(scheme, given.arrivals, recorded=False)
        recorded = scenario(scheme, given.arrivals, recorded=True)
        rates, ratios, costs = [], [], []
        for _ in range(given.repeats):
            usual, mine, with_order = (speed(each) for each in (base, own, recorded))
            rates.append(mine[0])
            ratios.append(mine[0] / usual[0])
            costs.append(with_order[0] / mine[0])
        median = statistics.median
        print(
            f"| {scheme} | {mine[1]} | {median(rates) / 1e6:.2f} | {median(ratios):.2f} "
            f"| {median(costs):.2f} |",
            flush=True,
        )


def scenario(scheme: str, arrivals: str, *, recorded: bool) -> Scenario:
    made = catalogue.get("load_balancing").scenario(
        scheme, condition="symmetric", load=0.7, arrivals=arrivals, stop_time="200ms"
    )
    options = made.recording.model_copy(update={"balancing": recorded})
    return made.model_copy(update={"recording": options})


def speed(scenario: Scenario) -> tuple[float, int]:
    """Packet-hops a second of CPU time, and packet-hops."""
    simulation = _native.Simulation(scenario.lowered())
    start = time.process_time()
    tables = simulation.finish()
    seconds = time.process_time() - start
    hops = int(sum(tables["links"]["tx_packets"]))
    return hops / seconds, hops


if __name__ == "__main__":
    main()
