"""The programs of the simulator of Hermes (H. Zhang et al., ACM SIGCOMM 2017): one file each.

They describe the same networks, traffic and thresholds as the originals and leave the same files.
A run mode is one of our schemes, which follow the papers where the originals do not
(``docs/load-balancing.md`` has the list).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.experiments.programs.load_balance.conga_simulation_large import (
    PROGRAM as CONGA_SIMULATION_LARGE,
)
from ccperf.experiments.programs.load_balance.fattree_simulation import (
    PROGRAM as FATTREE_SIMULATION,
)

if TYPE_CHECKING:
    from ccperf.experiments.programs.program import Program

PROGRAMS: dict[str, Program] = {
    program.name: program for program in (CONGA_SIMULATION_LARGE, FATTREE_SIMULATION)
}

__all__ = ["PROGRAMS"]
