"""A metric against a parameter: lines, bands, and what cannot be drawn."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from ccperf.errors import UsageError
from ccperf.present.figures import Axis, Figure, save, svg, sweep
from ccperf.present.figures.geometry import data_limits, marked
from ccperf.runs.metrics import METRICS


@pytest.fixture
def figure() -> Figure:
    return sweep(
        METRICS["mean_srtt_l4"],
        Axis("rtt", "ms"),
        {
            "TcpCubic": [(30.0, 31.0, 2.0), (15.0, 16.0, 1.0), (60.0, 62.0, None)],
            "TcpBbr": [(15.0, 18.0, 0.0), (60.0, 70.0, 0.0)],
        },
    )


def test_points_are_in_the_parameter_s_order(figure: Figure) -> None:
    (panel,) = figure.panels
    assert figure.entries == ("TcpCubic", "TcpBbr")
    assert panel.x.title == "rtt [ms]"
    assert panel.y.title == "mean_srtt_l4 [ms]"
    assert panel.series[0].x.tolist() == [15, 30, 60]
    assert panel.series[0].y.tolist() == [16, 31, 62]


def test_axes_hold_the_bands(figure: Figure) -> None:
    (panel,) = figure.panels
    assert data_limits(panel, "y") == (15.0, 70.0)


def test_every_point_is_marked(figure: Figure) -> None:
    (panel,) = figure.panels
    assert marked(panel.series[0], panel, figure) == [0, 1, 2]


def test_a_band_is_as_high_as_the_interval(figure: Figure) -> None:
    bands = re.findall(r'<path class="b c(\d) f" d="M([^"]*)z"/>', svg.draw(figure))
    assert [entry for entry, _ in bands] == ["0", "1"]
    corners = [tuple(map(int, pair.split())) for pair in bands[0][1].split("L")]
    (x0, top), (x1, _), (x2, end) = corners[:3]
    assert corners[3] == (x2, end)  # an interval that is not known has no height
    (_, low), (_, bottom) = corners[4], corners[5]
    # ± 2 beside ± 1, and in units of the y axis.
    assert (low - corners[1][1]) == pytest.approx(2 * (bottom - top), abs=2)
    assert x0 < x1 < x2


def test_factors_are_known_as_far_down_as_up_by_ratio() -> None:
    lines = {"TcpBbr": [(1.0, 2.0, 2.0), (2.0, 0.5, 9.5), (3.0, 1.0, None)]}
    (panel,) = sweep(METRICS["mean_srtt_l4"], Axis("k"), lines, is_factor=True).panels
    interval = panel.series[0].interval(panel.y)
    assert interval
    low, high = interval
    assert high.tolist() == [4, 10, 1]
    assert low.tolist() == [1, 0.025, 1]
    # One long interval does not press all else together, and none begins below 0.
    assert data_limits(panel, "y") == pytest.approx((0.5 / 1.5, 2 * 1.5))


def test_papers_have_it_too(figure: Figure, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    save(figure, tmp_path / "sweep.pdf", tmp_path / "sweep.svg")
    assert (tmp_path / "sweep.pdf").read_bytes().startswith(b"%PDF")


def test_one_value_is_no_sweep() -> None:
    with pytest.raises(UsageError, match="fewer than two"):
        sweep(METRICS["mean_srtt_l4"], Axis("k"), {"TcpCubic": [(1.0, 2.0, 0.1)]})


def test_a_negative_metric_is_not_cut_at_zero() -> None:
    lines = {"TcpCubic": [(1.0, -2.0, 0.1), (2.0, -3.0, 0.1)]}
    (panel,) = sweep(METRICS["mean_utility_mpdf_l4"], Axis("k"), lines).panels
    assert panel.y.lower is None
    assert np.isfinite(panel.series[0].y).all()
