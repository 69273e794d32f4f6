"""Gates: which changes fail a build."""

from __future__ import annotations

import pytest

from ccperf.errors import UsageError
from ccperf.evidence import gate
from evidence.test_compare import METRIC, cell, compared


@pytest.mark.parametrize(
    ("text", "base", "other", "fails"),
    [
        (f"{METRIC}>5%", [100.0, 100.0], [106.0, 106.0], True),
        (f"{METRIC}>5%", [100.0, 100.0], [104.0, 104.0], False),
        (f"{METRIC}>5%", [100.0], [106.0], True),
        (f"{METRIC}<-5%", [100.0, 100.0], [106.0, 106.0], False),
        (f"{METRIC} < -5 %", [100.0, 100.0], [94.0, 94.0], True),
        (f"{METRIC}>5", [100.0, 100.0], [106.0, 106.0], True),
        (f"{METRIC}>7.5", [100.0, 100.0], [106.0, 106.0], False),
        (f"{METRIC}>5%", [100.0, 50.0, 150.0], [250.0, 20.0, 160.0], False),
        (f"{METRIC}>5%", [0.0, 0.0], [1.0, 1.0], True),
        (f"{METRIC}<-5%", [0.0, 0.0], [1.0, 1.0], False),
    ],
)
def test_a_gate_fails_on_changes_that_are_more_than_chance(
    text: str, base: list[float], other: list[float], fails: bool
) -> None:
    (row,) = compared([cell("a", base)], [cell("b", other)]).rows
    assert gate.parse(text).fails(row) is fails


def test_a_gate_that_no_point_has_both_values_for_fails() -> None:
    base, other = cell("a", [100.0]), cell("b", [100.0])
    gates = [gate.parse(f"{METRIC}>5%")]
    judged = gate.judge(gates, compared([base], [other]), {METRIC})
    assert not judged.failed
    assert judged.text == "passed: 0 of 1 comparison beyond a limit"
    base.metrics[1].pop(METRIC)
    judged = gate.judge(gates, compared([base], [other]), {METRIC})
    assert judged.failed
    assert judged.text == (
        f"failed: 0 of 0 comparisons beyond a limit; no point has {METRIC} on both sides"
    )
    with pytest.raises(UsageError, match=f"no run has {METRIC}; they have makespan_l4"):
        gate.judge(gates, compared([base], [other]), {"makespan_l4"})


def test_a_gate_that_passes_says_what_only_more_seeds_would_tell() -> None:
    """Nothing was beyond a limit, said the line, of a mean that was four times the base's."""
    base, other = cell("a", [100.0, 50.0, 150.0]), cell("b", [450.0, 90.0, 700.0])
    gates = [gate.parse(f"{METRIC}>5%"), gate.parse(f"{METRIC}<-5%")]
    judged = gate.judge(gates, compared([base], [other]), {METRIC})
    assert judged.text == (
        "passed: 0 of 2 comparisons beyond a limit; 1 measured beyond, perhaps by chance: more"
        " seeds would tell"
    )


@pytest.mark.parametrize("text", ["mean_srtt_l4", "mean_srtt_l4=5%", "mean_srt_l4<5%", "<5%"])
def test_a_gate_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--fail-on"):
        gate.parse(text)


def test_a_gate_judges_the_change_that_was_tested() -> None:
    """Of most seeds it falls to about a tenth, of one it is three times as much and weighs most."""
    base = [1.0, 1.2, 0.8, 1.1, 0.9, 1.0, 1.3, 0.7, 10.0]
    other = [*(0.1 * value * (1 + 0.01 * i) for i, value in enumerate(base[:-1])), 30.0]
    (row,) = compared([cell("a", base)], [cell("b", other)], each=True).rows
    assert row.differences[0].is_shown
    assert row.size.mean is not None
    assert row.size.mean < 0.2
    assert row.means[1] > row.means[0]
    assert gate.parse(f"{METRIC}<-50%").fails(row)
    assert not gate.parse(f"{METRIC}>50%").fails(row)
