"""Figures of what not every run has: completion times, sampled queues, failed paths."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from ccperf.errors import UsageError
from ccperf.experiments import catalogue
from ccperf.present import figures
from ccperf.present.figures import svg, topology
from ccperf.present.figures.failed_paths import failed_paths
from ccperf.present.figures.transfers import (
    OF_RECORDINGS,
    class_throughput,
    completion_times,
    queue_samples,
)
from ccperf.runs import backends
from ccperf.runs.recording import Recording
from ccperf.scenario import Scenario


def made(experiment: str, **given: object) -> tuple[Scenario, Recording]:
    scenario = catalogue.get(experiment).scenario("ECNSharp", **given)
    return scenario, backends.get("native").simulate(scenario)


def test_a_curve_ends_at_the_share_that_has_ended() -> None:
    scenario, recording = made("testbed", flows=60)
    figure = completion_times(scenario, recording)
    assert figure is not None
    assert [panel.series[0].y[-1] for panel in figure.panels] == [1.0] * len(figure.panels)
    cut = scenario.model_copy(update={"stop_time": "60ms"})
    figure = completion_times(cut, backends.get("native").simulate(cut))
    assert figure is not None
    assert min(panel.series[0].y[-1] for panel in figure.panels) < 1


def test_a_queue_keeps_its_peaks() -> None:
    scenario, recording = made("query_burst", asked="10ms")
    figure = queue_samples(scenario, recording)
    assert figure is not None
    samples = recording.queue_samples
    assert samples is not None
    (series,) = figure.panels[0].series
    assert len(series.x) <= 2000
    assert series.y.max() == samples.array("qdisc_packets").max()
    assert np.all(np.diff(series.x) > 0)


def test_classes_share_as_their_scheduler_says() -> None:
    """Quanta of 2:1:1 over 10 Gbps: 2/3 and 1/3 with two classes, 1/2, 1/4 and 1/4 with three."""
    figure = class_throughput(*made("dwrr", short=5))
    assert figure is not None
    assert [subject.name for subject in figure.subjects] == ["DSCP 0", "DSCP 1", "DSCP 2"]
    assert {series.begins for series in figure.panels[0].series} == {0}
    time = figure.panels[0].series[0].x
    rates = np.array([series.y for series in figure.panels[0].series]) / 9630
    two, three = (time > 0.14) & (time <= 0.2), time > 0.24
    assert np.allclose(rates[:, two], np.array([[2 / 3], [1 / 3], [0]]), atol=0.02)
    assert np.allclose(rates[:, three], np.array([[1 / 2], [1 / 4], [1 / 4]]), atol=0.02)
    assert class_throughput(*made("query_burst", asked="10ms")) is None


def test_as_many_paths_have_failed_at_a_time_as_the_table_says() -> None:
    given = {"leaves": 4, "spines": 4, "servers": 4, "workload": "web_search", "load": 0.5}
    scenario = catalogue.get("hermes_black_hole").scenario("hermes", arrivals="100ms", **given)
    recording = backends.get("native").simulate(scenario)
    figure, table = failed_paths(scenario, recording), recording.failed_paths
    assert figure is not None
    assert table is not None
    reasons = [subject.name.replace(" ", "_") for subject in figure.subjects]
    assert set(reasons) == {"black_hole", "random_drops"}, "both, or the test shows little"
    since, until = table.array("time_ns") / 1e6, table.array("until_ns") / 1e6
    counts, *rows = figure.panels
    for reason, count, row in zip(reasons, counts.series, rows, strict=True):
        mine = np.array([why == reason for why in table.strings("reason")])
        # Between the points of a step: those that began before and have not ended.
        for left, right, value in zip(count.x[:-1], count.x[1:], count.y[1:], strict=True):
            now = (left + right) / 2
            if left < right:
                assert value == np.sum(mine & (since <= now) & (now < until))
        first = (
            table.array("path")[mine][0],
            *(
                table.strings(name)[int(np.flatnonzero(mine)[0])]
                for name in ("source", "destination")
            ),
        )
        assert row.y.labels[0] == "{1} > {2} by {0}".format(*first)
        (bars,) = row.series
        assert bars.x[:2].tolist() == [since[mine][0], min(until[mine][0], counts.x.upper)]


def test_a_healthy_network_has_no_figure_of_failed_paths() -> None:
    scenario = catalogue.get("hermes_symmetric").scenario(
        "hermes", arrivals="10ms", leaves=2, spines=2, servers=2
    )
    assert failed_paths(scenario, backends.get("native").simulate(scenario)) is None


def test_a_run_draws_what_it_has() -> None:
    assert figures.drawable(*made("testbed", flows=20)) == ["completion_times"]
    burst = figures.drawable(*made("query_burst", asked="10ms"))
    assert burst == ["completion_times", "queue_samples"]
    assert "time_series" in figures.drawable(*made("dwrr", short=5))


def test_what_a_run_has_not_is_said() -> None:
    with pytest.raises(UsageError, match="samples of queues"):
        figures.describe("queue_samples", *made("testbed", flows=20))


def test_a_network_is_drawn_whose_workload_names_groups_of_hosts() -> None:
    scenario = catalogue.get("load_balancing").scenario("conga", arrivals="1ms")
    drawn = topology.draw(scenario.canonical())
    # One name of each layer: all of them would lie on each other.
    for layer in ("leaf", "spine"):
        assert any(name in drawn for name in scenario.nodes if name.startswith(layer)), layer


def test_figures_below_each_other_are_one_picture_with_colours_of_their_own() -> None:
    scenario = catalogue.get("load_balancing").scenario("conga", arrivals="1ms")
    recording = backends.get("native").simulate(scenario)
    two = [
        figure
        for kind in OF_RECORDINGS.values()
        if (figure := kind.describe(scenario, recording)) is not None
    ]
    assert len(two) > 1
    text, heights = svg.draw_all([(figure, svg.SMALL) for figure in two])
    ElementTree.fromstring(text)
    assert text.count("<title>") == 1
    for index, figure in enumerate(two):
        alone, (height,) = svg.draw_all([(figure, svg.SMALL)])
        assert svg.draw(figure, svg.SMALL) == alone
        assert height == heights[index]
        inside = alone[alone.index("</style>") + len("</style>") : -len("</svg>\n")]
        assert inside in text
        assert f".f{index} .c0{{stroke:" in text


def test_the_axes_of_completion_times_name_the_quantity_and_the_class() -> None:
    figure = completion_times(*made("testbed", flows=60))
    assert figure is not None
    assert {panel.x.title for panel in figure.panels} <= {
        f"Completion time, {size} [ms]" for size in ("< 100 kB", "0.1 to 10 MB", "> 10 MB")
    }
    drawn = ElementTree.fromstring(svg.draw(figure))
    texts = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("Completion time") == len(figure.panels)
    assert "< 100 kB [ms]" in texts


def test_of_figures_that_a_run_lacks_the_first_asked_for_is_named() -> None:
    scenario, recording = made("testbed", flows=20)
    names = ["failed_paths", "class_throughput", "queue_samples"]
    for asked in (names, names[::-1]):
        with pytest.raises(UsageError, match=f"`{asked[0]}` shows"):
            figures.describe_all(scenario, recording, asked)
