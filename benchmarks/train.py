"""What a profile-guided build of the engine is trained on: ``maturin --pgo`` runs this.

All congestion controls through the scenarios of the benchmark, the heavy ones for the shorter
stretch, so that no algorithm's branches are laid out for another's.
"""

from __future__ import annotations

from benchmarks.scenarios import cases
from ccperf import _native
from ccperf.algorithms import registry


def main() -> None:
    """Run everything once."""
    for cc in registry.algorithms("cc"):
        for case in cases(cc):
            stretch = case.scenario.model_copy(update={"stop_time": case.ns3_stop})
            _native.Simulation(stretch.lowered()).finish()


if __name__ == "__main__":
    main()
