"""The engine against real ns-3, or against what ns-3 has recorded before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccperf.runs import backends
from ccperf.verify import agreed

if TYPE_CHECKING:
    from ccperf.scenario import Scenario


def assert_identical_to_ns3(scenario: Scenario) -> None:
    """Compare with real ns-3, or with what it has recorded before."""
    comparison = agreed.compare(scenario, backends.get("native"), backends.get("ns3"))
    assert comparison.identical, comparison.report()
