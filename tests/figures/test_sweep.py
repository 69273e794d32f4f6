"""A metric against a parameter: lines, bands, and what cannot be drawn."""

from __future__ import annotations

import itertools
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


def test_over_words_an_algorithm_may_have_one_point() -> None:
    """Where the words say who sends, each has its own."""
    words = Axis("transport", labels=("line_rate", "dcqcn"), is_category=True)
    lines = {"LineRate": [(0.0, 2.0, 0.1)], "Dcqcn": [(1.0, 3.0, 0.1)]}
    (panel,) = sweep(METRICS["mean_srtt_l4"], words, lines).panels
    assert [one.y.tolist() for one in panel.series] == [[2.0], [3.0]]
    lines["Dcqcn"] = [(0.0, 3.0, 0.1)]
    with pytest.raises(UsageError, match="fewer than two"):
        sweep(METRICS["mean_srtt_l4"], words, lines)
    with pytest.raises(UsageError, match="fewer than two"):
        sweep(METRICS["mean_srtt_l4"], Axis("k"), {"a": [(1.0, 2.0, 0.1)], "b": [(2.0, 2.0, 0.1)]})


def test_a_negative_metric_is_not_cut_at_zero() -> None:
    lines = {"TcpCubic": [(1.0, -2.0, 0.1), (2.0, -3.0, 0.1)]}
    (panel,) = sweep(METRICS["mean_utility_mpdf_l4"], Axis("k"), lines).panels
    assert panel.y.lower is None
    assert np.isfinite(panel.series[0].y).all()


def test_over_words_points_stand_beside_each_other_and_nothing_joins_them() -> None:
    lines = {
        "TcpCubic": [(0.0, 16.0, 1.0), (1.0, 31.0, 2.0)],
        "TcpBbr": [(0.0, 18.0, 0.0), (1.0, 70.0, None)],
    }
    words = Axis("qdisc", labels=("CoDelQueueDisc", "FqCoDelQueueDisc"), is_category=True)
    figure = sweep(METRICS["mean_srtt_l4"], words, lines)
    (panel,) = figure.panels
    assert {one.shape for one in panel.series} == {"points"}
    assert (panel.x.lower, panel.x.upper) == (-0.5, 1.5)
    cubic, bbr = (one.x for one in panel.series)
    assert (bbr - cubic > 0.05).all()
    assert ((cubic + bbr) / 2).tolist() == [0, 1]
    # Intervals are bars of their height.
    bars = re.findall(r'<path class="n c0" d="((?:M\d+ \d+V\d+)+)"/>', svg.draw(figure))
    heights = [int(a) - int(b) for a, b in re.findall(r"M\d+ (\d+)V(\d+)", bars[0])]
    assert heights[1] == pytest.approx(2 * heights[0], abs=2)


@pytest.mark.parametrize(
    ("names", "margin"),
    [
        (
            ["FqCoDelQueueDisc", "FifoQueueDisc", "CoDelQueueDisc", "RedQueueDisc", "PieQueueDisc"],
            2,
        ),
        # As long as these the first one reaches to the edge.
        (
            [
                f"PieQueueDisc(MaxSize=100p,QueueDelayReference={time}ms,Tupdate=10ms)"
                for time in (5, 10, 15, 20, 30)
            ],
            0,
        ),
    ],
)
def test_names_of_an_axis_stay_within_the_figure(names: list[str], margin: int) -> None:
    pytest.importorskip("matplotlib")
    from ccperf.present.figures import mpl

    for count in (2, 3, 5):
        words = Axis("qdisc", labels=tuple(names[:count]), is_category=True)
        lines = {"TcpCubic": [(float(i), 1.0 + i, None) for i in range(count)]}
        with mpl.settings():
            canvas = mpl.draw(sweep(METRICS["mean_srtt_l4"], words, lines))
            boxes = [text.get_window_extent() for text in canvas.axes[0].get_xticklabels()]
        assert all(b.x0 >= margin and b.x1 <= canvas.bbox.x1 - 2 for b in boxes), count
        flat = [
            box
            for box, text in zip(boxes, canvas.axes[0].get_xticklabels(), strict=True)
            if not text.get_rotation()
        ]
        assert all(a.x1 < b.x0 for a, b in itertools.pairwise(flat)), count
        # And leave most of it to what is shown.
        assert canvas.axes[0].get_position().width > 0.6, count
        assert canvas.axes[0].get_position().height > 0.25, count


GAP = {"TcpCubic": [(1.0, 16.0, 1.0), (2.0, 17.0, 1.0), (3.0, np.nan, None), (4.0, 62.0, 2.0)]}


def test_a_line_breaks_where_runs_have_no_value_and_the_figure_says_so() -> None:
    said = "Never within the run: TcpCubic at 3."
    figure = sweep(METRICS["mean_srtt_l4"], Axis("k"), GAP, notes=[said])
    (panel,) = figure.panels
    assert data_limits(panel, "y") == (15.0, 64.0)
    # A mean that no line reaches has a marker, also of one algorithm alone.
    assert marked(panel.series[0], panel, figure) == [3]
    drawn = svg.draw(figure)
    ((line,), (band, bar)) = (
        re.findall(r'<path class="l c0" d="([^"]*)"', drawn),
        re.findall(r'<path class="[bn] c0(?: f)?" d="([^"]*)"', drawn),
    )
    assert line.count("M") == 2
    assert band.count("M") == 2
    # A band of one point would have no width.
    assert re.fullmatch(r"M\d+ \d+V\d+", bar)
    assert figure.notes == (said,)
    assert figure.alt.endswith(said)


def test_papers_break_the_line_and_say_it_beneath() -> None:
    pytest.importorskip("matplotlib")
    from ccperf.present.figures import mpl

    said = "Never within the run: " + "; ".join(f"Tcp{i} at [40ms,{i}ms]" for i in range(8)) + "."
    with mpl.settings():
        canvas = mpl.draw(sweep(METRICS["mean_srtt_l4"], Axis("k"), GAP, notes=[said]))
        (axes,) = canvas.axes
        (text,) = [each for each in canvas.texts if "Never" in each.get_text()]
        box = text.get_window_extent()
        assert " ".join(text.get_text().split()) == said
        assert box.x0 >= 0
        assert box.x1 <= canvas.bbox.x1
        assert box.y0 >= 0
        assert box.y1 <= axes.xaxis.label.get_window_extent().y0
    line, marker = axes.lines
    assert np.isnan(line.get_ydata()).tolist() == [False, False, True, False]
    assert marker.get_ydata().tolist() == [62.0]


def test_one_point_with_a_value_is_no_sweep() -> None:
    lines = {"TcpCubic": [(1.0, 2.0, 0.1), (2.0, np.nan, None)]}
    with pytest.raises(UsageError, match="fewer than two"):
        sweep(METRICS["mean_srtt_l4"], Axis("k"), lines)


def test_over_words_what_has_no_value_has_no_point() -> None:
    lines = {"TcpCubic": [(0.0, 16.0, 1.0), (1.0, np.nan, None), (2.0, 3.0, 1.0)]}
    words = Axis("qdisc", labels=("a", "b", "c"), is_category=True)
    (panel,) = sweep(METRICS["mean_srtt_l4"], words, lines).panels
    assert panel.series[0].x.tolist() == [0, 2]
