"""Planning: which runs there are, and that finding out is not what takes the time."""

from __future__ import annotations

import time

import pytest

from ccperf import campaign
from ccperf.algorithms.user_code.content import Contents
from ccperf.campaign.job import Job
from ccperf.campaign.plan import Plan
from ccperf.experiments.catalogue import REGISTRY, get
from ccperf.runs import backends
from ccperf.runs.result import identify


def test_a_plan_hands_its_jitter_to_the_scenarios() -> None:
    plan = Plan("aqm", ["TcpNewReno"], {"k": [2], "qdisc": ["codel"]}, [1, 2], jitter="10ms")
    points = list(plan.points())
    assert [point.parameters["jitter"] for point in points] == ["10ms", "10ms"]
    starts = {tuple(flow.start for flow in point.scenario.flows) for point in points}
    assert len(starts) == 2
    assert ("0s", "0s") not in starts


@pytest.mark.parametrize("name", REGISTRY)
def test_scenarios_of_other_seeds_are_what_the_experiment_makes_of_them(name: str) -> None:
    """That of the first seed is copied where it may be."""
    experiment = get(name)
    point = next(experiment.grid())
    (repeated,) = campaign.repeats(experiment, "TcpBbr", grid=[point], seeds=[7, 8, 9])
    for seed, found in zip((7, 8, 9), repeated.points(), strict=True):
        expected = experiment.scenario("TcpBbr", **point, seed=seed)
        assert found.scenario.canonical() == expected.canonical()


@pytest.mark.parametrize("name", ["aqm", "ecn", "competition", "scalability"])
def test_jitter_leaves_the_rest_of_a_scenario_as_it_is(name: str) -> None:
    """So the starts are put into one text; the ids are those of scenarios that were built."""
    experiment, backend = get(name), backends.get("native")
    point = {**next(experiment.grid()), "jitter": "10ms"}
    (repeated,) = campaign.repeats(experiment, "TcpBbr", grid=[point], seeds=range(7, 20))
    assert repeated.starts or repeated.differs_in_seed_only or experiment.draws_starts
    for seed, found in zip(range(7, 20), repeated.points(), strict=True):
        expected = experiment.scenario("TcpBbr", **point, seed=seed)
        assert found.scenario.canonical() == expected.canonical()
        assert found.scenario.lowered() == expected.lowered()
        assert found.scenario == expected
        identity = found.identity(backend, Contents())
        assert identity == identify(expected, backend)
        assert Job.of(found, identity, backend).scenario_hash == expected.hash


@pytest.mark.parametrize("name", ["many_flows", "incast", "short_against_long", "aqm"])
def test_seeds_that_draw_starts_or_nothing_take_one_scenario(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand flows take 80 ms to build and check."""
    experiment, backend, contents = get(name), backends.get("native"), Contents()
    build, built = experiment.build, []
    monkeypatch.setattr(experiment, "build", lambda setup: built.append(setup) or build(setup))
    (repeated,) = campaign.repeats(
        experiment, "TcpBbr", grid=[next(experiment.grid())], seeds=range(1, 6)
    )
    assert len({point.identity(backend, contents).id for point in repeated.points()}) == 5
    assert len(built) == 1
    assert len({point.scenario.hash for point in repeated.kept_short().points()}) == 5
    assert len(built) == 2


@pytest.mark.parametrize("name", ["bursty_loss", "aqm", "competition"])
def test_a_point_whose_scenario_is_not_kept_builds_the_same(name: str) -> None:
    experiment = get(name)
    point = next(experiment.grid())
    (kept,) = campaign.repeats(experiment, "TcpBbr", grid=[point], seeds=[7, 8, 9])
    short = kept.kept_short()
    assert short.first is short.second is None
    texts = [[each.scenario.canonical_text() for each in one.points()] for one in (kept, short)]
    assert texts[0] == texts[1]
    assert short.scenario.hash == kept.scenario.hash


def test_a_job_has_the_scenario_that_its_point_has() -> None:
    """It travels in the canonical form, which is not checked again on the other side."""
    scenario = get("bursty_loss").scenario("TcpCubic")
    again = type(scenario).from_canonical(scenario.canonical_text())
    assert again.canonical() == scenario.canonical()
    assert again.lowered() == scenario.lowered()
    assert again.hash == scenario.hash


def test_planning_takes_processor_time_in_proportion_to_the_flows() -> None:
    """A flow of a grid costs a fraction of a millisecond; each point is built once."""
    started = time.process_time()
    points = list(campaign.expand(get("aqm"), "TcpNewReno", grid=[{"k": k} for k in range(1, 61)]))
    flows = sum(len(point.scenario.flows) for point in points)
    assert flows == 60 * 61 // 2
    assert time.process_time() - started < flows * 1e-3
