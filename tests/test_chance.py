"""Which runs depend on their seed: those that draw, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from ccperf.algorithms import registry
from ccperf.experiments.catalogue import NAMED
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs import backends
from ccperf.scenario import Scenario
from ccperf.scenario.chance import DRAWING, draws, surely_draws

NATIVE = backends.get("native")
TAIL = [name for name in registry.algorithms("qdisc") if name != "MqQueueDisc"]


def outcome(scenario: Scenario) -> dict[str, Any]:
    recording = NATIVE.simulate(scenario)
    samples = recording.flow_samples
    return {name: samples.array(name).tolist() for name in ("cwnd_bytes", "received_bytes")}


def seeds_differ(**settings: Any) -> tuple[bool, bool]:
    """Whether two seeds give different runs, and whether we say that they may."""
    given = {"rate": "16Mbps", "qlen": "30p", "rtts": ["15ms", "40ms"], "stop_time": "6s"}
    one, other = (dumbbell(seed=seed, **{**given, **settings}) for seed in (1, 2))
    return outcome(one) != outcome(other), draws(one.canonical())


@pytest.mark.parametrize("cc", registry.algorithms("cc"))
def test_a_congestion_control_that_draws_is_known(cc: str) -> None:
    differ, said = seeds_differ(cc=cc)
    assert said == (cc in DRAWING)
    assert said or not differ


@pytest.mark.parametrize("qdisc", TAIL)
def test_a_queue_discipline_that_draws_is_known(qdisc: str) -> None:
    qlen = "30p" if "MaxSize" in registry.parameters("qdisc", qdisc) else None
    differ, said = seeds_differ(cc=["TcpNewReno"] * 2, qdisc=qdisc, qlen=qlen)
    assert said == (qdisc in DRAWING)
    assert said or not differ


_POISSON = {"type": "Poisson", "rate": "5Mbps"}


@pytest.mark.parametrize(
    "settings",
    [
        {"loss": 0.01},
        {"forward": {"gilbert_elliott": {"to_bad": 0.01, "to_good": 0.3}}},
        {"forward": {"jitter": {"delay": "Uniform(max=2ms)"}}},
        {"forward": {"reordering": {"probability": 0.01, "delay": "9ms"}}},
        {"applications": _POISSON},
        {"applications": {"type": "OnOff", "rate": "9Mbps", "on_time": "Exponential(mean=1s)"}},
        {"changes": [{"time": "1s", "loss": 0.02}]},
        {"schedules": [{"times_ns": [10**9], "losses": [0.02]}]},
        {"forward": {"qdisc": {"type": "TbfQueueDisc", "children": ["RedQueueDisc"]}}},
    ],
    ids=str,
)
def test_what_draws_is_seen(settings: dict[str, Any]) -> None:
    _, said = seeds_differ(cc="TcpNewReno", **settings)
    assert said


@pytest.mark.parametrize(("loss", "is_random"), [(0.02, True), (1, False)])
def test_a_node_that_loses_some_packets_draws(loss: float, is_random: bool) -> None:
    given = dumbbell(rate="16Mbps", qlen="30p", rtts="15ms", cc="TcpNewReno", stop_time="6s")
    faults = [{"node": given.links[0].ends[0], "loss": loss, "start": "1s"}]
    one, other = (
        Scenario.model_validate({**given.canonical(), "faults": faults, "seed": seed})
        for seed in (1, 2)
    )
    assert (outcome(one) != outcome(other)) == draws(one.canonical()) == is_random


def test_what_draws_nothing_is_seen() -> None:
    application = {"type": "OnOff", "rate": "9Mbps"}
    changes = [{"time": "1s", "rate": "8Mbps"}]
    assert seeds_differ(cc="TcpCubic", applications=application, changes=changes) == (False, False)


def test_of_user_code_nobody_knows() -> None:
    scenario = dumbbell(rate="1Mbps", qlen="9p", rtts="15ms", cc="TcpNewReno").canonical()
    scenario["flows"][0]["cc"]["type"] = "mine.py:Mine"
    assert draws(scenario)
    assert not surely_draws(scenario)
    scenario["links"][0]["forward"]["loss"] = 0.01
    assert surely_draws(scenario)


@pytest.mark.parametrize("name", NAMED)
def test_an_experiment_that_draws_its_scenario_says_so(name: str) -> None:
    experiment = NAMED[name]
    one, other = (experiment.scenario(experiment.usual[0], seed=seed) for seed in (1, 2))
    differ = one.model_copy(update={"seed": other.seed}).hash != other.hash
    assert differ <= (experiment.draws({}) or draws(one.canonical()))
    assert experiment.draws({}) <= differ
