"""The engine against real ns-3: the representative part of the matrix, packet by packet."""

from __future__ import annotations

import pytest

import matrix_names
from agreed import assert_identical_to_ns3
from ccperf.runs import backends

pytestmark = [
    pytest.mark.ns3,
    pytest.mark.skipif(
        backends.get("ns3").available() is not None, reason=str(backends.get("ns3").available())
    ),
]


@pytest.mark.parametrize("name", matrix_names.representative())
def test_the_packets_are_ns3_s(name: str) -> None:
    assert_identical_to_ns3(matrix_names.case(name).scenario)
