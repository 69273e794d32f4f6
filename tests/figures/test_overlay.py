"""Several runs in one figure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ccperf
from ccperf.errors import UsageError
from ccperf.present.figures import FIGURES, Figure, Series, adjusted, describe, overlay, svg
from ccperf.present.figures.palette import CATEGORIES, looks_of
from sawtooth import Sawtooth


def figure(name: str, flows: int = 2, rate_bps: int = 32_000_000) -> Figure:
    return Sawtooth(flows=flows, rate_bps=rate_bps, points=60).dumbbell().figure(name)


@pytest.mark.parametrize("name", FIGURES)
def test_every_subject_of_every_run_is_drawn_and_named_by_its_run(name: str) -> None:
    parts = {"cubic": figure(name, 2), "bbr": figure(name, 3)}
    both = overlay(parts)
    assert both.entries == ("cubic", "bbr")
    # Flows, or the one bottleneck of each run.
    first, second = (1, 1) if name == "queue" else (2, 3)
    # All flows of a run are one operating point.
    kept = (0, first) if name == "in_flight" else range(first + second)
    assert [subject.run for subject in both.subjects] == ["cubic"] * first + ["bbr"] * second
    assert both.entry_of == (0,) * first + (1,) * second
    for index, panel in enumerate(both.panels):
        drawn = [
            series
            for series in panel.series
            if series.role == "subject" and series.shape != "ticks" and not series.is_dashed
        ]
        assert [series.subject for series in drawn] == list(kept)
        for series in drawn[len(kept) // 2 :]:
            assert any(series.y is one.y for one in parts["bbr"].panels[index].series)


def test_the_optimum_is_drawn_only_where_it_is_the_same_for_all() -> None:
    same = overlay({"a": figure("time_series"), "b": figure("time_series")})
    assert [role for role, _ in same.roles] == ["optimum"]
    other = overlay({"a": figure("time_series"), "b": figure("time_series", rate_bps=64_000_000)})
    rates = [series.role for series in other.panels[2].series]
    assert "optimum" not in rates


def test_axes_hold_the_longest_run() -> None:
    long = Sawtooth(points=200).dumbbell()
    short = figure("time_series", 1, 16_000_000)
    both = overlay({"a": short, "b": long.figure("time_series")})
    assert both.panels[0].x.upper == pytest.approx(199 * 0.03)
    assert both.panels[1].y.lower is None


def test_figures_of_different_kinds_are_refused() -> None:
    with pytest.raises(UsageError, match="one kind"):
        overlay({"a": figure("time_series"), "b": figure("in_flight")})


def test_one_run_stays_as_it_is() -> None:
    alone = figure("time_series")
    assert overlay({"a": alone}) is alone


@pytest.mark.parametrize("name", FIGURES)
def test_algorithms_have_their_looks_in_every_figure_beside_a_user_s_own(name: str) -> None:
    """Also where what is drawn is no flow's, and whatever the runs are called in the end."""
    runs = ("TcpCubic", "mycca.py:MyCca", "TcpNewReno", "TcpBbr")
    both = overlay({run: figure(name) for run in runs})
    assert both.own_looks == looks_of(runs)
    named = adjusted(both, labels={"mycca.py:MyCca": "Ours", "TcpCubic": "CUBIC"})
    assert named.entries == ("CUBIC", "Ours", "TcpNewReno", "TcpBbr")
    assert named.own_looks == looks_of(runs)


def test_a_bottleneck_alone_looks_like_the_algorithm_of_its_flows() -> None:
    run = ccperf.run("aqm", cc="bbr", k=2, qdisc="fifo", stop_time="500ms")
    queue = describe("queue", run.scenario, run.recording)
    assert queue.own_looks == looks_of(["TcpBbr"])


def test_the_operating_points_of_several_flows_stand_beside_the_optimum_of_all() -> None:
    """A flow of five is far from what is optimal for all five, however good its algorithm is."""
    parts = {"TcpCubic": figure("in_flight", 5), "TcpBbr": figure("in_flight", 5)}
    parts["TcpBbr"] = stretched(parts["TcpBbr"])
    both = overlay(parts)
    for index, panel in enumerate(both.panels):
        roles = [series.role for series in panel.series]
        assert roles == ["subject", "subject", "ideal", "optimum"]
        (joint,) = (s for s in parts["TcpCubic"].panels[index].series if s.role == "joint")
        assert panel.series[0].y.tolist() == joint.y.tolist()
        assert both.entry_of[panel.series[1].subject] == 1
        # The ideal curve goes as far as that of the run that fills the network most.
        assert panel.series[2].x[-1] == panel.x.upper
    assert both.notes == ("Each point: all flows of a run together.",)
    assert both.notes[0] in both.alt


def test_the_ideal_of_another_network_is_not_drawn() -> None:
    both = overlay({"a": figure("in_flight"), "b": figure("in_flight", rate_bps=64_000_000)})
    assert {series.role for series in both.panels[0].series} == {"subject"}


def stretched(figure: Figure) -> Figure:
    """The same with a run that fills the network more: what is ideal goes on along its line."""

    def further(series: Series) -> Series:
        if series.role != "ideal":
            return series
        slope = (series.y[-1] - series.y[-2]) / (series.x[-1] - series.x[-2])
        x = np.append(series.x[:-1], 2 * series.x[-1])
        return replace(series, x=x, y=np.append(series.y[:-1], series.y[-1] + slope * x[-1] / 2))

    panels = tuple(
        replace(
            panel,
            x=replace(panel.x, upper=2 * (panel.x.upper or 0)),
            series=tuple(map(further, panel.series)),
        )
        for panel in figure.panels
    )
    return replace(figure, panels=panels)


@pytest.mark.parametrize("count", [11, 16, CATEGORIES])
def test_many_runs_are_told_apart_one_by_one(count: int) -> None:
    """Runs have no order that a scale could show."""
    pytest.importorskip("matplotlib")
    from ccperf.present.figures import mpl

    one = figure("time_series", 1)
    runs = {f"run {i}": one for i in range(count)}
    many = overlay(runs)
    assert not many.is_crowded
    assert len({(look.colour, look.dash) for look in many.looks}) == count
    assert len({(look.colour, look.marker) for look in many.looks}) == count
    with mpl.settings():
        (legend,) = mpl.draw(many).legends
    lines = {
        text.get_text(): (line.get_color(), str(line.get_linestyle()), line._dash_pattern)
        for text, line in zip(legend.get_texts(), legend.get_lines(), strict=True)
        if text.get_text() in runs
    }
    assert lines.keys() == runs.keys()
    assert len({str(look) for look in lines.values()}) == count
    drawn = svg.draw(many)
    assert all(f">{run}</text>" in drawn for run in runs)
    assert drawn.count("stroke-dasharray:51 20.4") == min(10, count - 10)


def test_a_scale_stays_where_flows_or_runs_are_too_many() -> None:
    assert figure("time_series", 11).is_crowded
    one = figure("time_series", 1)
    assert overlay({f"run {i}": one for i in range(CATEGORIES + 1)}).is_crowded
