"""Where flows are many, some are sampled and all are counted; `samples=all` records them all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ccperf
from ccperf.experiments import catalogue
from ccperf.experiments.catalogue import shared
from ccperf.present.figures.optimum import Optimum
from ccperf.runs.metrics import FlowSeries
from ccperf.runs.result import Result

MANY = {"many_flows": {"k": 130}, "incast": {"n": 128}, "short_against_long": {}}


def run(experiment: str, **given: Any) -> Result:
    return ccperf.run(experiment, cc="newreno", stop_time="1s", **MANY[experiment], **given)


@pytest.mark.parametrize("experiment", MANY)
def test_all_samples_are_those_of_the_same_packets(experiment: str) -> None:
    some, every = (run(experiment, samples=which) for which in ("some", "all"))
    flows = every.recording.flows
    assert (flows.array("segments_sent") == some.recording.flows.array("segments_sent")).all()
    assert len(every.flow_metrics) == flows.rows
    assert len(some.flow_metrics) == min(flows.rows, shared.SAMPLED)
    for flow, metrics in some.flow_metrics.items():
        kept = {name: metrics[name] for name in ("mean_throughput_l4", "mean_cwnd_l4")}
        assert kept.items() <= every.flow_metrics[flow].items()
    assert some.class_metrics == every.class_metrics
    completions = some.recording.completions
    assert completions is not None
    assert completions.rows == flows.rows


def test_the_bottleneck_is_always_recorded() -> None:
    for experiment, port in (("many_flows", "btl_forward"), ("incast", "h_0_reverse")):
        some, every = (run(experiment, samples=which) for which in ("some", "all"))
        assert list(some.link_metrics) == [port]
        if experiment == "many_flows":
            # One column is summed in another order than several.
            expected = pytest.approx(every.link_metrics[port], rel=1e-12)
            assert some.link_metrics[port] == expected


def test_fairness_of_many_flows_is_that_of_all_of_them() -> None:
    some = run("many_flows")
    completions = some.recording.completions
    assert completions is not None
    flows = some.recording.flows
    goodput = completions.array("acked_bytes") / (flows.array("stop_ns") - flows.array("start_ns"))
    expected = goodput.sum() ** 2 / (len(goodput) * (goodput**2).sum())
    found = some.network_metrics["net"]["jains_fairness_goodput_l4"]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    # What needs the samples of every flow is absent.
    assert "mean_jains_fairness_throughput_l4" not in some.network_metrics["net"]
    every = run("many_flows", samples="all")
    assert "mean_jains_fairness_throughput_l4" in every.network_metrics["net"]


def test_the_optimum_is_an_equal_share_among_all_flows() -> None:
    result = run("many_flows")
    optimum = Optimum(FlowSeries(result.scenario, result.recording))
    payload = 500 * 1448 / 1502
    np.testing.assert_allclose(optimum.rate, payload / MANY["many_flows"]["k"], rtol=1e-12)


def test_few_flows_are_all_sampled() -> None:
    scenario = catalogue.get("many_flows").scenario("TcpNewReno", k=100)
    assert scenario.recording.flows == "all"
    assert scenario.recording.links == ("btl_forward",)
