"""The experiments on load balancers."""

from __future__ import annotations

from typing import Any

import pytest

from ccperf import backends, catalogue
from ccperf.catalogue.balancing.conditions import CONDITIONS
from ccperf.cli.app import invoke
from ccperf.recording import Recording
from ccperf.scenario import Scenario

SMALL: dict[str, Any] = {
    "leaves": 3,
    "spines": 4,
    "servers": 4,
    "arrivals": "10ms",
    "stop_time": "300ms",
}


def scenario(scheme: str, **given: Any) -> Scenario:
    return catalogue.get("load_balancing").scenario(scheme, **{**SMALL, **given})


def simulated(scheme: str, **given: Any) -> Recording:
    return backends.get("native").simulate(scenario(scheme, **given))


def unfinished(recording: Recording) -> int:
    assert recording.completions is not None
    return int((recording.completions.array("finished") == 0).sum())


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_changes_what_it_says_and_flows_stay_the_same(condition: str) -> None:
    here, usual = (scenario("ecmp", condition=name) for name in (condition, "symmetric"))
    assert here.workloads == usual.workloads
    is_usual = (here.links, here.failures, here.faults) == (
        usual.links,
        usual.failures,
        usual.faults,
    )
    assert is_usual == (condition == "symmetric")


def test_a_fifth_of_the_links_is_slow_and_other_seeds_have_others_slow() -> None:
    def slow(seed: int) -> set[str | None]:
        links = scenario("ecmp", condition="slow_links", seed=seed).links
        return {link.name for link in links if link.rate == "2Gbps"}

    assert len(slow(1)) == round(0.2 * 12)
    assert len({frozenset(slow(seed)) for seed in range(1, 6)}) > 1


def test_parallel_links_have_two_speeds() -> None:
    links = scenario("ecmp", condition="parallel_links").links
    rates = [link.rate for link in links if "spine" in str(link.name)]
    assert sorted(rates) == ["10Gbps"] * 6 + ["2Gbps"] * 6


@pytest.mark.parametrize("scheme", ["ecmp", "conga", "letflow", "hermes", "presto", "clove"])
def test_all_flows_end_when_all_is_well(scheme: str) -> None:
    assert unfinished(simulated(scheme)) == 0


def test_flows_stay_in_a_black_hole_with_ecmp_and_none_does_with_hermes() -> None:
    given: dict[str, Any] = {"condition": "black_hole", "load": 0.7, "stop_time": "1s"}
    assert unfinished(simulated("ecmp", **given)) > 0
    assert unfinished(simulated("hermes", **given)) == 0


def test_bench_compares_balancers(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "--loadbalance", "ECMP,LetFlow", "--experiments", "load_balancing"]
    assert invoke([*words, "--dry-run"]) == 0
    commands = capsys.readouterr().out.split("\n")
    of = [line for line in commands if line.startswith("ccperf run load_balancing --routing")]
    points = len(list(catalogue.get("load_balancing").grid()))
    assert len(of) == 2 * points
    assert invoke([*words, "--datacentre", "--dry-run"]) == 2
    assert invoke(["bench", "ecmp", "--loadbalance", "--experiments", "aqm", "--dry-run"]) == 2
