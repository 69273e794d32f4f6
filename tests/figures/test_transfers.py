"""Figures of completion times and of queues that are sampled closely."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from ccperf.errors import UsageError
from ccperf.experiments import catalogue
from ccperf.present import figures
from ccperf.present.figures import svg, topology
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
    time = figure.panels[0].series[0].x
    rates = np.array([series.y for series in figure.panels[0].series]) / 9630
    two, three = (time > 0.14) & (time <= 0.2), time > 0.24
    assert np.allclose(rates[:, two], np.array([[2 / 3], [1 / 3], [0]]), atol=0.02)
    assert np.allclose(rates[:, three], np.array([[1 / 2], [1 / 4], [1 / 4]]), atol=0.02)
    assert class_throughput(*made("query_burst", asked="10ms")) is None


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
