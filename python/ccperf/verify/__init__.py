"""Validation that anybody can repeat: against published tables, real ns-3 and Linux.

`seeds` runs the published experiments; `ns3` compares one scenario packet by packet, `matrix` lists
the scenarios that are compared regularly, `fuzz` makes random ones, `shrinking` makes small what
differs. `linux` compares segments with the kernel's, `linux_packets` all packets of what
`fuzz_linux` makes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.verify.compare import Comparison, MetricDifference, TableDifference, compare

if TYPE_CHECKING:
    from ccperf.scenario import Scenario

__all__ = ["Comparison", "MetricDifference", "TableDifference", "compare", "ns3"]


def ns3(scenario: Scenario) -> Comparison:
    """Compare the engine with real ns-3 on `scenario`."""
    from ccperf.runs import backends

    return compare(scenario, backends.get("native"), backends.get("ns3"))
