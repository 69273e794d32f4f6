"""Figures as papers want them: one panel, wider bins, sums, words, logarithms, sizes, styles."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ccperf
from ccperf.errors import UsageError
from ccperf.present.figures import (
    Axis,
    Figure,
    Panel,
    Series,
    Subject,
    adjusted,
    describe,
    overlay,
    save,
)
from ccperf.present.figures.sizes import inches
from ccperf.present.figures.sweep import sweep
from ccperf.runs.metrics import METRICS


@pytest.fixture(scope="module")
def result() -> ccperf.Result:
    return ccperf.run("competition", cc="bbr", against="cubic", stop_time="3s")


def figure_of(y: list[float], shape: str = "step", step: float = 0.1) -> Figure:
    x = step * np.arange(1, len(y) + 1)
    series = Series(x, np.array(y), shape, "subject")  # type: ignore[arg-type]
    panel = Panel(Axis("Time", "s"), Axis("Throughput", "Mbps"), (series,), name="throughput")
    return Figure("f", "F", "f", (panel,), (Subject("flow_1"),))


def test_a_bin_has_each_interval_s_exact_share() -> None:
    # Values hold over 0.1 s; bins of 0.25 s cut the third in two.
    (panel,) = adjusted(figure_of([1, 2, 3, 4, 5]), bin="250ms").panels
    (series,) = panel.series
    assert series.x.tolist() == pytest.approx([0.25, 0.5])
    assert series.y.tolist() == pytest.approx([(1 + 2 + 3 / 2) / 2.5, (3 / 2 + 4 + 5) / 2.5])


def test_the_first_bin_is_drawn_over_all_of_it(result: ccperf.Result) -> None:
    axes = result.plot("time_series", panel="throughput", bin="1s").onto()
    lines = [line for line in axes.lines if line.get_drawstyle() == "steps-pre"]
    assert len(lines) == 3  # two flows and the optimum
    for line in lines:
        x, y = (np.asarray(values) for values in line.get_data())
        assert x[:2].tolist() == [0, 1]
        assert y[0] == y[1]


def test_a_first_interval_that_begins_at_0_is_on_no_logarithmic_axis(
    result: ccperf.Result, tmp_path: Path
) -> None:
    plot = result.plot("time_series", panel="throughput", bin="1s", log="x")
    plot.save(tmp_path / "log.svg", tmp_path / "log.png")
    assert "nan" not in (tmp_path / "log.svg").read_text().lower().split("<metadata")[0]
    assert all(one.begins is None for one in plot.figure.panels[0].series)


def test_a_bin_without_a_unit_says_which_to_write() -> None:
    wrong: Any = 0.2
    with pytest.raises(UsageError, match=r'bin: `0\.2` has no unit; write "0\.2s" for seconds'):
        adjusted(figure_of([1, 2, 3]), bin=wrong)


def test_bins_keep_the_mean_and_end_with_the_run() -> None:
    rng = np.random.default_rng(1)
    values = rng.uniform(0, 10, 47)
    series = adjusted(figure_of(values.tolist()), bin="0.73s").panels[0].series[0]
    widths = np.diff(series.x, prepend=0.0)
    assert series.x[-1] == pytest.approx(4.7)
    assert float(series.y @ widths) == pytest.approx(values.sum() * 0.1)


def test_what_is_not_known_counts_nothing_in_a_bin() -> None:
    figure = figure_of([np.nan, 2, np.nan, np.nan], "step")
    series = adjusted(figure, bin="200ms").panels[0].series[0]
    assert series.y[0] == pytest.approx(2)
    assert np.isnan(series.y[1])


def test_values_at_points_in_time_have_their_mean_in_the_middle_of_the_bin() -> None:
    series = adjusted(figure_of([1, 3, 5, 8], "line"), bin="200ms").panels[0].series[0]
    assert series.x.tolist() == pytest.approx([0.1, 0.3])
    assert series.y.tolist() == pytest.approx([2, 6.5])


@pytest.mark.parametrize(("step", "width"), [(0.03, 10), (0.1, 7), (0.001, 50)])
def test_a_value_at_the_end_of_a_bin_is_in_it_however_it_is_rounded(
    step: float, width: int
) -> None:
    """The sums of a grid and of its bins differ in the last bit."""
    numbers = [float(place // width) for place in range(60 * width)]
    figure = figure_of(numbers, "line", step)
    series = adjusted(figure, bin=f"{round(step * width * 1e6)}us").panels[0].series[0]
    assert series.y.tolist() == list(range(60))


def test_one_panel_alone(result: ccperf.Result) -> None:
    figure = result.plot("time_series", panel="srtt").figure
    assert [panel.y.label for panel in figure.panels] == ["sRTT"]
    assert figure.name == "time_series_srtt"
    both = overlay({"a": figure, "b": figure})
    assert both.panels[0].name == "srtt"
    with pytest.raises(UsageError, match="did you mean `throughput`"):
        result.plot("time_series", panel="througput")


def test_every_figure_of_flows_has_panels_with_names(result: ccperf.Result) -> None:
    for name in ("time_series", "window", "queue", "distribution", "in_flight"):
        names = [panel.name for panel in result.plot(name).figure.panels]
        assert all(names), name
        assert len(set(names)) == len(names)


def test_flows_of_several_algorithms_are_called_by_them(result: ccperf.Result) -> None:
    assert result.plot().figure.entries == ("flow_1 TcpBbr", "flow_2 TcpCubic")
    alike = ccperf.run("aqm", cc="cubic", k=2, qdisc="codel", stop_time="200ms")
    assert alike.plot().figure.entries == ("flow_1", "flow_2")


def test_flows_together_are_sums_or_means(result: ccperf.Result) -> None:
    apart = {panel.name: panel for panel in result.plot().figure.panels}
    figure = result.plot(sum=True).figure
    assert figure.entries == ("all flows",)
    for panel in figure.panels:
        one, best = panel.series
        own = [series.y for series in apart[panel.name].series if series.role == "subject"]
        optimum = next(s.y for s in apart[panel.name].series if s.role == "optimum")
        if panel.name == "srtt":
            assert one.y == pytest.approx(_mean(own), nan_ok=True)
            assert best.y == pytest.approx(optimum)
        else:
            assert one.y == pytest.approx(np.nansum(own, axis=0), nan_ok=True)
            assert best.y == pytest.approx(2 * optimum, nan_ok=True)


def _mean(values: list[np.ndarray]) -> list[float]:
    known = [[value for value in row if value == value] for row in zip(*values, strict=True)]
    return [sum(row) / len(row) if row else float("nan") for row in known]


def test_words_stand_for_names(result: ccperf.Result) -> None:
    figure = result.plot(labels={"TcpBbr": "BBR", "Time": "t", "optimum, equal shares": "best"})
    assert figure.figure.entries == ("flow_1 BBR", "flow_2 TcpCubic")
    assert figure.figure.panels[0].x.title == "t [s]"
    assert figure.figure.roles == (("optimum", "best"),)
    with pytest.raises(UsageError, match="did you mean `flow_1 TcpBbr`"):
        result.plot(labels={"flow_1 TcpBb": "x"})


def test_a_part_of_a_name_is_not_that_name() -> None:
    figure = replace(figure_of([1, 2]), subjects=(Subject("mycca.py:MyCca2 k=10"),))
    with pytest.raises(UsageError, match="unknown label"):
        adjusted(figure, labels={"mycca.py:MyCca": "Ours"})
    changed = adjusted(figure, labels={"mycca.py:MyCca2": "Ours", "k": "n"})
    assert changed.entries == ("Ours n=10",)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bin": "10ms"}, "bin: `10ms` is shorter than 0.1 s"),
        ({"bin": "0s"}, "bin: `0s` must be above 0"),
        ({"bin": "200"}, "bin"),
        ({"log": "z"}, "log: `z` is not x, y or xy"),
        ({"panel": "srtt"}, "panel: unknown panel of f `srtt`"),
    ],
)
def test_what_cannot_be_is_said(given: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        adjusted(figure_of([1, 2, 3]), **given)  # type: ignore[arg-type]


def test_only_time_has_bins_and_sums(result: ccperf.Result) -> None:
    for option in ({"bin": "1s"}, {"sum": True}):
        with pytest.raises(UsageError, match="`distribution` is not over time"):
            result.plot("distribution", **option)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("ieee", 3.5),
        (2.5, 2.5),
        ("2.5", 2.5),
        ("3in", 3.0),
        ("76.2mm", 3.0),
        ("7.62 cm", 3.0),
        ("216.81pt", 3.0),
    ],
)
def test_lengths_are_written_as_in_papers(text: str | float, length: float) -> None:
    assert inches(text, "width") == pytest.approx(length)


@pytest.mark.parametrize("text", ["ieeee", "3px", "0in", "-3", "100in", "", "1.2.3in"])
def test_what_is_no_length_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"height: .*is no length"):
        inches(text, "height")


def size(path: Path) -> tuple[float, float]:
    found = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', path.read_text())
    assert found
    return float(found[1]) / 72, float(found[2]) / 72


def test_a_figure_is_as_large_as_asked_for(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    save(figure_of([1, 2, 3]), tmp_path / "f.svg", width="86mm", height=1.5)
    assert size(tmp_path / "f.svg") == pytest.approx((86 / 25.4, 1.5), abs=1e-3)


def test_a_style_is_put_over_ours_and_leaves_nothing_behind(tmp_path: Path) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    from ccperf.present.figures import mpl

    style = tmp_path / "paper.mplstyle"
    style.write_text(
        "font.family: serif\nfont.size: 9\naxes.prop_cycle: cycler('color', ['123456'])\n"
    )
    before = matplotlib.rcParams["font.size"]
    with mpl.settings(str(style)):
        axes = mpl.draw(figure_of([1, 2, 3])).axes[0]
        assert axes.xaxis.label.get_fontfamily() == ["serif"]
        assert axes.get_lines()[0].get_color() == "#123456"
        # What the style does not say is ours.
        assert matplotlib.rcParams["legend.frameon"] is False
    assert matplotlib.rcParams["font.size"] == before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("grayscal", "did you mean `grayscale`"),
        ("wrong.mplstyle", "wrong.mplstyle: .*font.sze"),
    ],
)
def test_a_wrong_style_is_refused(
    name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    Path("wrong.mplstyle").write_text("font.sze: 9\n")
    with pytest.raises(UsageError, match=message):
        save(figure_of([1, 2]), tmp_path / "f.svg", style=name)
    assert not (tmp_path / "f.svg").exists()


def test_logarithmic_axes_have_numbers_to_read() -> None:
    pytest.importorskip("matplotlib")
    from ccperf.present.figures import mpl

    figure = adjusted(figure_of([1, 20, 70]), log="y")
    with mpl.settings():
        axes = mpl.draw(figure).axes[0]
        assert axes.get_yscale() == "log"
        low, high = axes.get_ylim()
        shown = [t.get_text() for t in axes.get_yticklabels()]
        at = axes.get_yticks().tolist()
        assert [s for s, y in zip(shown, at, strict=True) if low <= y <= high] == [
            "1", "2", "5", "10", "20", "50"
        ]  # fmt: skip
        assert low < 1 < 70 < high
    assert "data:image/svg+xml" in result_html(figure)
    with pytest.raises(UsageError, match="no value of `Throughput` is above 0"):
        adjusted(figure_of([0, 0]), log="y")


def test_what_is_on_no_logarithmic_axis_is_said_and_no_line_falls_to_it() -> None:
    lines = {
        "TcpVegas": [(0.0001, 0.0, None), (0.001, 4.0, None), (0.01, 34.0, None)],
        "TcpCubic": [(0.0, 3.0, None), (0.001, 8.0, None), (0.01, 26.0, None)],
    }
    figure = sweep(METRICS["total_retransmissions_l4"], Axis("Loss"), lines)
    (panel,) = adjusted(figure, log="y").panels
    assert [np.isnan(one.y).tolist() for one in panel.series] == [[True, False, False], [False] * 3]
    both = adjusted(figure, log="xy")
    said = "Not above 0, so on no logarithmic axis: TcpVegas at 0.0001, TcpCubic at 0."
    assert both.notes == (said,)
    assert both.alt.endswith(said)
    words = Axis("qdisc", labels=("a", "b", "c"), is_category=True)
    places = {
        name: [(float(i), y, None) for i, (_, y, _) in enumerate(of)] for name, of in lines.items()
    }
    (note,) = adjusted(sweep(METRICS["mean_srtt_l4"], words, places), log="y").notes
    assert note.endswith(": TcpVegas at a.")


def result_html(figure: Figure) -> str:
    from ccperf.present.notebook import Plot

    return Plot(figure)._repr_html_()


def test_labels_of_three_panels_side_by_side_do_not_touch() -> None:
    """Review: `0.00.51.01.52.02.5`."""
    pytest.importorskip("matplotlib")
    from ccperf.present.figures import mpl

    made = ccperf.run("testbed", qdisc="codel", load=0.5, flows=80)
    figure = describe("completion_times", made.scenario, made.recording)
    with mpl.settings():
        canvas = mpl.draw(figure)
        for axes in canvas.axes:
            low, high = axes.get_xlim()
            boxes = [
                label.get_window_extent()
                for label, x in zip(axes.get_xticklabels(), axes.get_xticks(), strict=True)
                if low <= x <= high
            ]
            assert len(boxes) >= 2
            for left, right in itertools.pairwise(boxes):
                assert left.x1 + 2 < right.x0


def test_completion_times_of_all_sizes_are_a_panel_that_is_asked_for() -> None:
    made = ccperf.run("testbed", qdisc="codel", load=0.5, flows=80)
    figure = describe("completion_times", made.scenario, made.recording)
    assert "all" not in [panel.name for panel in figure.panels]
    (panel,) = adjusted(figure, panel="all").panels
    assert panel.x.is_log
    completions = made.recording.completions
    assert completions is not None
    ended = completions.rows
    assert panel.series[0].x.size == ended + 1
