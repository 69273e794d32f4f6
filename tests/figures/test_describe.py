"""What figures say of a run, from recordings whose values are known."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import ccperf
from ccperf.errors import UsageError
from ccperf.experiments import catalogue
from ccperf.present.figures import (
    FIGURES,
    Figure,
    Series,
    describe,
    describe_all,
    drawable,
    save,
)
from ccperf.present.figures.distribution import ecdf
from ccperf.runs import backends
from recordings import Dumbbell
from sawtooth import Sawtooth


def of_role(figure: Figure, panel: int, role: str) -> list[Series]:
    return [series for series in figure.panels[panel].series if series.role == role]


def ramp(points: int, step: int) -> np.ndarray:
    return np.arange(points) * step


@pytest.fixture
def steady() -> Dumbbell:
    """Two flows, 30 and 45 kB an interval (8 and 12 Mbps), 10 and 20 segments, 18 and 24 ms."""
    return Dumbbell(
        flows=2,
        points=5,
        rate_bps=20_000_000,
        base_rtt_ns=15_000_000,
        samples={
            "received_bytes": np.stack([ramp(5, 30_000), ramp(5, 45_000)], axis=1),
            "in_flight_bytes": np.broadcast_to([14_480, 28_960], (5, 2)),
            "srtt_ns": np.broadcast_to([18e6, 24e6], (5, 2)),
        },
    )


def test_the_four_figures_of_a_page_are_registered_in_its_order() -> None:
    assert list(FIGURES) == [
        "time_series",
        "window",
        "queue",
        "operating_point",
        "distribution",
        "in_flight",
    ]
    for name, kind in FIGURES.items():
        assert kind.name == name
        assert kind.title
        assert kind.caption.endswith(".")


def test_time_series_shows_what_was_sampled(steady: Dumbbell) -> None:
    figure = steady.figure("time_series")
    assert [panel.y.title for panel in figure.panels] == [
        "In flight [segments]",
        "sRTT [ms]",
        "Throughput [Mbps]",
    ]
    assert figure.entries == ("flow_1", "flow_2")
    for panel, expected in enumerate([(10, 20), (18, 24), (8, 12)]):
        for series, value in zip(of_role(figure, panel, "subject"), expected, strict=True):
            np.testing.assert_allclose(series.x, [0.03, 0.06, 0.09, 0.12])
            np.testing.assert_allclose(series.y, value)


def test_throughput_is_a_step_because_it_is_an_interval_s_mean(steady: Dumbbell) -> None:
    figure = steady.figure("time_series")
    shapes = [{series.shape for series in of_role(figure, panel, "subject")} for panel in range(3)]
    assert shapes == [{"line"}, {"line"}, {"step"}]


def test_the_optimum_follows_a_change_of_rate() -> None:
    rates = [16_000_000, 16_000_000, 16_000_000, 256_000_000, 256_000_000]
    figure = Dumbbell(points=5, link_samples={"rate_bps": rates}).figure("time_series")
    (rate,) = of_role(figure, 2, "optimum")
    # Payload: what IP, TCP with timestamps and PPP leave of the rate on the wire.
    np.testing.assert_allclose(rate.y, np.array([16, 16, 256, 256]) * 1448 / 1502)
    (segments,) = of_role(figure, 0, "optimum")
    # So many segments with their headers fill the bandwidth-delay product.
    np.testing.assert_allclose(segments.y[[0, -1]] * 1502 * 8, [16e6 * 0.015, 256e6 * 0.015])


def test_flows_with_different_rtts_have_no_common_optimal_rtt() -> None:
    run = Dumbbell(flows=2, points=5, counters={"base_rtt_ns": [15_000_000, 30_000_000]})
    figure = run.figure("time_series")
    assert [len(of_role(figure, panel, "optimum")) for panel in range(3)] == [0, 0, 1]


@pytest.mark.parametrize("name", ["steady_state_single_flow", "competition", "aqm"])
def test_no_flow_carries_more_than_the_optimum_in_the_long_run(name: str) -> None:
    result = ccperf.run(name, cc="cubic", stop_time="10s")
    figure = describe("time_series", result.scenario, result.recording)
    (best,) = of_role(figure, 2, "optimum")
    carried = sum(np.nan_to_num(each.y).mean() for each in of_role(figure, 2, "subject"))
    count = len(of_role(figure, 2, "subject"))
    assert 0.8 * count * np.nanmean(best.y) < carried <= count * np.nanmean(best.y)


def test_operating_points_are_the_published_means() -> None:
    run = Sawtooth(flows=3, rate_bps=48_000_000, queue_packets=60, points=100).dumbbell()
    tables = run.metrics()
    for series, metrics in zip(
        of_role(run.figure("operating_point"), 0, "subject"), tables.flow.values(), strict=True
    ):
        assert series.x.tolist() == [metrics["mean_srtt_l4"]]
        assert series.y.tolist() == [metrics["mean_throughput_l4"]]


def test_the_plane_s_optimum_is_an_equal_share_at_the_propagation_rtt(steady: Dumbbell) -> None:
    (star,) = of_role(steady.figure("operating_point"), 0, "optimum")
    assert (star.x.tolist(), star.y.tolist()) == ([15], pytest.approx([10 * 1448 / 1502]))


def test_a_flow_without_an_rtt_sample_has_no_point(steady: Dumbbell) -> None:
    silent = np.stack([np.full(5, 18e6), np.full(5, np.nan)], axis=1)
    steady.samples = {**steady.samples, "srtt_ns": silent}
    assert [s.subject for s in of_role(steady.figure("operating_point"), 0, "subject")] == [0]
    in_flight = steady.figure("in_flight")
    assert [s.subject for s in of_role(in_flight, 0, "subject")] == [0, 1]
    assert [s.subject for s in of_role(in_flight, 1, "subject")] == [0]


def test_ecdf_rises_by_the_share_of_each_value() -> None:
    values, shares = ecdf(np.array([3.0, 1.0, np.nan, 3.0, 2.0]))
    assert values.tolist() == [1, 1, 2, 3, 3]
    assert shares.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert ecdf(np.array([np.nan]))[0].size == 0


def test_distribution_covers_every_sample() -> None:
    run = Sawtooth(flows=2, rate_bps=32_000_000, points=60).dumbbell()
    for panel in run.figure("distribution").panels:
        for series in panel.series:
            assert series.y[0] == 0
            assert series.y[-1] == 1
            assert (np.diff(series.x) >= 0).all()


def test_in_flight_relates_each_flow_and_all_of_them_to_the_optimum(steady: Dumbbell) -> None:
    figure = steady.figure("in_flight")
    throughput, srtt = figure.panels
    assert throughput.x.title == srtt.x.title == "Mean in flight [segments]"
    assert [s.x.tolist() for s in of_role(figure, 0, "subject")] == [[10], [20]]
    assert [s.y.tolist() for s in of_role(figure, 0, "subject")] == [[8], [12]]
    assert [s.y.tolist() for s in of_role(figure, 1, "subject")] == [[18], [24]]
    (joint_rate,), (joint_rtt,) = of_role(figure, 0, "joint"), of_role(figure, 1, "joint")
    assert (joint_rate.x.tolist(), joint_rate.y.tolist()) == ([30], [20])
    assert (joint_rtt.x.tolist(), joint_rtt.y.tolist()) == ([30], [21])
    bdp = 20e6 * 0.015 / 8 / 1502
    (best_rate,), (best_rtt,) = of_role(figure, 0, "optimum"), of_role(figure, 1, "optimum")
    assert best_rate.x[0] == pytest.approx(bdp)
    assert best_rate.y.tolist() == pytest.approx([20 * 1448 / 1502])
    assert best_rtt.x[0] == pytest.approx(bdp)
    assert best_rtt.y.tolist() == [15]


def test_the_ideal_network_obeys_little_s_law_everywhere(steady: Dumbbell) -> None:
    figure = steady.figure("in_flight")
    (rate,), (rtt,) = of_role(figure, 0, "ideal"), of_role(figure, 1, "ideal")
    np.testing.assert_allclose(rate.y * rtt.y * 1e3, rate.x * 1448 * 8)


def test_one_flow_alone_is_not_drawn_twice() -> None:
    figure = Sawtooth(points=50).dumbbell().figure("in_flight")
    assert not of_role(figure, 0, "joint")
    assert [role for role, _ in figure.roles] == ["optimum", "ideal"]


def test_where_datagrams_are_in_flight_nobody_knows_how_much_is() -> None:
    """Each flow over TCP is within the axis, and there is no sum that stands for all."""
    scenario = ccperf.Scenario.model_validate(
        {
            "stop_time": "2s",
            "nodes": ["a", "b"],
            "links": [{"name": "l", "ends": ["a", "b"], "rate": "10Mbps", "delay": "10ms"}],
            "flows": [
                {"source": "a", "destination": "b", "cc": "cubic"},
                {
                    "source": "a",
                    "destination": "b",
                    "transport": "UDP",
                    "application": {"type": "CBR", "rate": "2Mbps", "write": "1000B"},
                },
            ],
        }
    )
    result = ccperf.simulate(scenario)
    figure = describe("in_flight", result.scenario, result.recording)
    for panel, _ in enumerate(figure.panels):
        (point,) = of_role(figure, panel, "subject")
        assert (point.subject, of_role(figure, panel, "joint")) == (0, [])
        assert 0 < point.x[0] < figure.panels[panel].x.upper  # type: ignore[operator]
    assert "joint" not in dict(figure.roles)
    assert "together" not in figure.alt


def test_two_bottlenecks_add_up() -> None:
    """Flows 1 and 2 share one direction, flow 3 has the other to itself."""
    run = Dumbbell(
        flows=3,
        points=5,
        link_samples={"rate_bps": np.broadcast_to([10_000_000, 40_000_000], (5, 2))},
        counters={"bottleneck": ["btl_forward", "btl_forward", "btl_reverse"]},
    )
    (star,) = of_role(run.figure("in_flight"), 0, "optimum")
    assert star.y.tolist() == pytest.approx([50 * 1448 / 1502])
    (stars,) = of_role(run.figure("operating_point"), 0, "optimum")
    assert stars.y.tolist() == pytest.approx([rate * 1448 / 1502 for rate in (5, 5, 40)])


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_tells_what_is_to_be_seen(name: str) -> None:
    figure = Sawtooth(flows=2, points=50).dumbbell().figure(name)
    assert figure.name == name
    assert figure.title == FIGURES[name].title
    assert len(figure.alt) > 60
    roles = {series.role for panel in figure.panels for series in panel.series}
    roles |= {line.role for panel in figure.panels for line in panel.lines}
    assert roles - {"subject"} == {role for role, _ in figure.roles}
    assert all(
        series.x.shape == series.y.shape for panel in figure.panels for series in panel.series
    )
    assert not any(math.isnan(line.value) for panel in figure.panels for line in panel.lines)


def test_where_no_bottleneck_is_sampled_there_is_no_figure_of_it(tmp_path: Path) -> None:
    """One that is asked for by its name has its axes, and nothing in them."""
    scenario = ccperf.Scenario.model_validate(
        {
            "stop_time": "200ms",
            "nodes": ["a", "b"],
            "links": [{"name": "l", "ends": ["a", "b"], "rate": "10Mbps", "delay": "10ms"}],
            "flows": [{"source": "a", "destination": "b", "cc": "cubic"}],
            "recording": {"links": []},
        }
    )
    result = ccperf.simulate(scenario)
    of_run = (result.scenario, result.recording)
    assert drawable(*of_run) == [name for name in FIGURES if name != "queue"]
    assert len(describe_all(*of_run)) == len(FIGURES) - 1
    save(describe("queue", *of_run), tmp_path / "queue.svg")
    assert "Utilisation" in (tmp_path / "queue.svg").read_text(encoding="utf-8")


def test_an_unknown_figure_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(
        UsageError, match=r"unknown figure `time_serie`.*did you mean `time_series`"
    ):
        Dumbbell(points=5).figure("time_serie")
    for panel, figure in (("cwnd", "window"), ("throughput", "time_series")):
        with pytest.raises(UsageError, match=f"`{panel}` is the panel .* of the figure `{figure}`"):
            Dumbbell(points=5).figure(panel)


def test_a_run_without_flows_has_no_figures() -> None:
    with pytest.raises(UsageError, match="this run has none"):
        Dumbbell(flows=0, points=5).figure("time_series")


def test_a_run_that_ends_before_its_first_sample_has_no_figures() -> None:
    with pytest.raises(UsageError, match="ends before the first interval"):
        Dumbbell(points=1).figure("time_series")


@pytest.mark.parametrize("name", FIGURES)
def test_where_the_bottleneck_is_not_sampled_there_is_no_optimum(name: str) -> None:
    from ccperf.experiments import catalogue
    from ccperf.present.figures import svg
    from ccperf.runs import backends

    scenario = catalogue.get("aqm").scenario("TcpCubic", stop_time="1s", k="3")
    chosen = scenario.recording.model_copy(update={"flows": ("flow_2",), "links": ()})
    scenario = scenario.model_copy(update={"recording": chosen})
    figure = describe(name, scenario, backends.get("native").simulate(scenario))
    # A figure of the bottleneck has none to show.
    assert figure.entries == (() if name == "queue" else ("flow_2",))
    roles = {role for role, _ in figure.roles}
    drawn = {series.role for panel in figure.panels for series in panel.series}
    drawn |= {line.role for panel in figure.panels for line in panel.lines}
    assert roles == drawn - {"subject"}
    assert "<svg" in svg.draw(figure)


def test_many_flows_are_shown_with_their_mean() -> None:
    run = Sawtooth(flows=12, rate_bps=192_000_000, points=20, stagger_ns=20_000_000).dumbbell()
    figure = run.figure("time_series")
    for panel in range(3):
        flows = np.stack([series.y for series in of_role(figure, panel, "subject")])
        (mean,) = of_role(figure, panel, "mean")
        np.testing.assert_allclose(mean.y, np.nanmean(flows, axis=0))
    few = Sawtooth(flows=10, rate_bps=160_000_000, points=20).dumbbell().figure("time_series")
    assert not of_role(few, 0, "mean")


def test_congestion_states_stand_beneath_the_window_where_changes_are_recorded() -> None:
    engine = backends.get("native")
    scenario = catalogue.get("aqm").scenario("TcpCubic", k="1", qdisc="FifoQueueDisc")
    (window,) = describe("window", scenario, engine.simulate(scenario)).panels
    assert window.y.label == "cwnd"
    recording = scenario.recording.model_copy(update={"changes": True})
    asked = scenario.model_copy(update={"recording": recording})
    recorded = engine.simulate(asked)
    _, panel = describe("window", asked, recorded).panels
    assert panel.y.labels == ("Open", "Disorder", "CWR", "Recovery", "Loss")
    (series,) = panel.series
    assert series.shape == "step"
    assert recorded.changes is not None
    rows = [name == "cong_state" for name in recorded.changes.strings("name")]
    # What a change ends is the state before it; the first one is Open.
    assert series.x[:-1].tolist() == (recorded.changes.array("time_ns")[rows] / 1e9).tolist()
    assert series.y.tolist() == [0, *recorded.changes.array("value")[rows].tolist()]
    assert series.begins == 0  # when the flow starts, it is Open


def test_a_line_ends_with_its_flow_and_the_mean_is_of_those_that_are_there() -> None:
    """One of eleven flows ends at 0.1 s; its last RTT stays in the recording. One begins late."""
    rtts = np.full((7, 11), 20e6)
    rtts[:, 0] = 130e6
    ends = np.full(11, np.nan)
    ends[0] = 100_000_000
    run = Dumbbell(
        flows=11,
        points=7,
        samples={"srtt_ns": rtts, "cwnd_bytes": 14_480, "in_flight_bytes": 0},
        counters={"completion_ns": ends.tolist(), "start_ns": [0] * 10 + [70_000_000]},
    )
    figure = run.figure("time_series")
    for panel in range(3):
        lines = of_role(figure, panel, "subject")
        assert np.isfinite(lines[0].y).tolist() == [True] * 4 + [False] * 2
        assert np.isfinite(lines[1].y).all()
        assert np.isfinite(lines[-1].y).tolist() == [False] * 2 + [True] * 4
    (average,) = of_role(figure, 1, "mean")
    np.testing.assert_allclose(average.y, [31] * 2 + [30] * 2 + [20] * 2)
    assert of_role(figure, 2, "optimum") == []  # no whole interval has all
    (rtt,) = of_role(figure, 1, "optimum")
    assert np.isfinite(rtt.y).all()
    # Of what metrics are, figures of means keep all.
    (point, *_) = of_role(run.figure("operating_point"), 0, "subject")
    assert point.x.tolist() == [130]


@pytest.mark.parametrize(("transport", "cc"), [("ROCE", "dcqcn"), ("TRIMMING", "Ndp")])
def test_a_line_ends_with_its_flow_also_where_that_is_not_over_tcp(transport: str, cc: str) -> None:
    """1 MB is there after some 10 ms of 50; the other flow stops at 20 ms."""
    ends = {"source": "a", "destination": "b", "transport": transport, "cc": cc}
    greedy = {"type": "Greedy", "write": "1000B"}
    run = ccperf.simulate(
        ccperf.Scenario(
            stop_time="50ms",
            nodes=["a", "b"],
            links=[{"name": "wire", "ends": ["a", "b"], "rate": "1Gbps", "delay": "5us"}],
            flows=[
                {**ends, "application": {**greedy, "bytes": "1MB"}},
                {**ends, "application": greedy, "stop": "20ms"},
            ],
            recording={"interval": "1ms"},
        )
    )
    completed = run.recording.flows.array("completion_ns")[0] / 1e6
    assert completed < 20
    figure = describe("time_series", run.scenario, run.recording)
    lengths = [int(np.isfinite(line.y).sum()) for line in of_role(figure, 2, "subject")]
    assert lengths == [math.ceil(completed), 20]


def test_flows_that_never_all_send_at_once_have_no_equal_share() -> None:
    counters = {"completion_ns": [60e6, np.nan], "start_ns": [0, 60_000_000]}
    run = Dumbbell(flows=2, points=5, counters=counters)
    for name, panel in (("time_series", 0), ("time_series", 2), ("operating_point", 0)):
        assert of_role(run.figure(name), panel, "optimum") == []
    assert len(of_role(run.figure("time_series"), 1, "optimum")) == 1
    assert run.figure("distribution").panels[0].lines == ()


def test_an_equal_share_is_drawn_while_all_that_share_may_send() -> None:
    counters = {"completion_ns": [125e6, np.nan], "start_ns": [0, 40_000_000]}
    run = Dumbbell(flows=2, points=7, counters=counters)
    (share,) = of_role(run.figure("time_series"), 2, "optimum")
    assert np.isfinite(share.y).tolist() == [False, False, True, True, False, False]
