"""The engine against real ns-3: the representative part of the matrix, packet by packet."""

from __future__ import annotations

import pytest

from ccperf.runs import backends
from ccperf.verify import matrix, ns3

pytestmark = [
    pytest.mark.ns3,
    pytest.mark.skipif(
        backends.get("ns3").available() is not None, reason=str(backends.get("ns3").available())
    ),
]


@pytest.mark.parametrize("case", matrix.representative(), ids=lambda case: case.name)
def test_the_packets_are_ns3_s(case: matrix.Case) -> None:
    comparison = ns3(case.scenario)
    assert comparison.identical, comparison.report()
