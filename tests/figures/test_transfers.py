"""Figures of completion times and of queues that are sampled closely."""

from __future__ import annotations

import numpy as np
import pytest

from ccperf import backends, catalogue, figures
from ccperf.errors import UsageError
from ccperf.figures.transfers import completion_times, queue_samples
from ccperf.recording import Recording
from ccperf.scenario import Scenario


def made(experiment: str, **given: object) -> tuple[Scenario, Recording]:
    scenario = catalogue.get(experiment).scenario("ECNSharp", **given)
    return scenario, backends.get("native").simulate(scenario)


def test_a_curve_ends_at_the_share_that_has_ended() -> None:
    scenario, recording = made("testbed", flows=60)
    figure = completion_times(recording)
    assert figure is not None
    assert [panel.series[0].y[-1] for panel in figure.panels] == [1.0] * len(figure.panels)
    cut = scenario.model_copy(update={"stop_time": "60ms"})
    figure = completion_times(backends.get("native").simulate(cut))
    assert figure is not None
    assert min(panel.series[0].y[-1] for panel in figure.panels) < 1


def test_a_queue_keeps_its_peaks() -> None:
    _, recording = made("query_burst", stop_time="30ms")
    figure = queue_samples(recording)
    assert figure is not None
    samples = recording.queue_samples
    assert samples is not None
    (series,) = figure.panels[0].series
    assert len(series.x) <= 2000
    assert series.y.max() == samples.array("qdisc_packets").max()
    assert np.all(np.diff(series.x) > 0)


def test_a_run_draws_what_it_has() -> None:
    assert figures.drawable(*made("testbed", flows=20)) == ["completion_times"]
    burst = figures.drawable(*made("query_burst", stop_time="25ms"))
    assert burst[-2:] == ["completion_times", "queue_samples"]
    assert "time_series" in burst


def test_what_a_run_has_not_is_said() -> None:
    with pytest.raises(UsageError, match="samples of queues"):
        figures.describe("queue_samples", *made("testbed", flows=20))
