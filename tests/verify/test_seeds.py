"""The published tables, value by value."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ccperf.experiments.published import Published, published
from ccperf.runs import backends
from ccperf.verify.seeds import Row, compare, printed

NATIVE = backends.get("native")


def test_what_is_compared() -> None:
    values = [value for page in published() for value in page.values()]
    assert len(values) == 196
    assert {page.experiment: len(list(page.values())) for page in published()} == {
        "ecn": 25,
        "aqm": 123,
        "scalability": 22,
        "ack_compression": 26,
    }


@pytest.mark.parametrize("page", published(), ids=lambda page: page.experiment)
def test_every_published_value_is_reproduced(page: Published) -> None:
    rows = list(compare(NATIVE, pages=[page]))
    assert len(rows) == len(list(page.values()))
    assert [row for row in rows if not row.equal] == []


def test_the_recovery_of_ns3_344_misses_them_as_real_ns3_does() -> None:
    """Real ns-3 3.44 reproduces 43 of the 196 values with the recovery it was released with."""
    rows = list(compare(NATIVE, recovery="TcpPrrRecovery"))
    assert sum(row.equal for row in rows) == 43


def test_verdicts() -> None:
    row = Row("ecn", 24, "flow_1", "mean_srtt_l4", published=16.14, ours=16.1449)
    assert row.equal
    assert row.difference == pytest.approx(0.0049)
    assert not replace(row, ours=16.1451).equal
    assert not replace(row, ours=None).equal
    assert replace(row, published=0.0, ours=-0.001).equal
    count = replace(row, metric="total_rtos_l4", published=1.0, ours=1.0)
    assert count.equal
    assert not replace(count, ours=1.001).equal


def test_printing() -> None:
    assert printed(-0.004) == "0.00"
    assert printed(764657.69) == "764657.69"
