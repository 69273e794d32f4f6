"""The experiments on load balancers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ccperf.cli.app import invoke
from ccperf.evidence import cells
from ccperf.experiments import catalogue
from ccperf.experiments.catalogue.balancing.conditions import CONDITIONS
from ccperf.runs import backends
from ccperf.runs.metrics import METRICS
from ccperf.runs.recording import Recording
from ccperf.scenario import Scenario
from ccperf.site import printed
from ccperf.site.inventory import inventory

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


PRINTED = [
    (experiment, value)
    for experiment in catalogue.EXPERIMENTS.values()
    if experiment.printed
    for value in experiment.printed.values
]


def test_the_figures_of_hermes_have_published_values() -> None:
    with_values = {experiment.name for experiment, _ in PRINTED}
    presets = {name for name in catalogue.EXPERIMENTS if name.startswith("hermes_")}
    assert presets <= with_values
    of_ecn_sharp = ("testbed", "rtt_variation", "leaf_spine", "query_burst", "query_completion")
    assert {*of_ecn_sharp, "ecn_sharp_sensitivity", "dwrr"} == with_values - presets
    symmetric = [value for experiment, value in PRINTED if experiment.name == "hermes_symmetric"]
    assert len(symmetric) == 2 * 3 * 4


@pytest.mark.parametrize(("experiment", "value"), PRINTED)
def test_a_published_value_is_of_a_point_and_a_metric(experiment: Any, value: Any) -> None:
    assert experiment.resolve(value.algorithm) == value.algorithm
    point = experiment.point(value.point)
    assert {name: point[name] for name in value.point} == dict(value.point)
    assert value.metric.rpartition(".")[2] in METRICS
    own = {name: at for name, at in (value.base or {}).items() if name != "algorithm"}
    experiment.point(own)
    assert value.high is None or value.low < value.high


def test_show_has_the_published_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["show", "hermes_black_hole"]) == 0
    said = capsys.readouterr().out
    assert "SIGCOMM 2017, figure 17" in said
    assert re.search(r"^conga +.*0\.7 +unfinished_share_l4 +9\.66 +%$", said, re.MULTILINE)
    assert invoke(["show", "hermes_asymmetric", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)["printed"]["values"]
    assert {value["base"]["algorithm"] for value in values} == {"hermes"}


def test_the_page_of_an_experiment_has_ours_beside_the_published_values(tmp_path: Path) -> None:
    database = str(tmp_path / "small.db")
    small = ["--leaves", "2", "--spines", "2", "--servers", "2", "--arrivals", "5ms"]
    words = ["run", "hermes_flowlet_timeout", "--flowlet", "50us,150us", "--seed", "1..2", *small]
    assert invoke([*words, "--workload", "web_search", "--db", database]) == 0
    (group,) = inventory(cells.read([database]), [database]).groups
    table = printed.beside(group)
    assert table is not None
    lines = {line.point[-1]: line for line in table.lines}
    assert [lines[at].published for at in ("50us", "500us")] == ["1.32", "1.06"]
    # The network is not the paper's, which is said beside the value.
    value, _, others = lines["50us"].ours.partition(", but at ")
    assert others.partition(",")[0] == "leaves = 2 (not 8)"
    assert 0.5 < float(value) < 5
    assert lines["500us"].ours == "–"
    assert lines["50us"].unit == "over flowlet = 150us"
    # Runs of another TCP are not meant where there are some of the paper's.
    ours = lines["50us"].ours
    linux = [*words, "--workload", "web_search", "--profile", "linux"]
    assert invoke([*linux, "--db", database]) == 0
    assert invoke([*linux, "--db", str(tmp_path / "linux.db")]) == 0
    for name, expected in ((database, ours), (str(tmp_path / "linux.db"), ", profile = linux")):
        (group,) = inventory(cells.read([name]), [name]).groups
        table = printed.beside(group)
        assert table is not None
        (line,) = (line for line in table.lines if line.point[-1] == "50us")
        assert line.ours.endswith(expected)


def test_schemes_are_compared_seed_by_seed_though_a_seed_draws_the_slow_links(
    tmp_path: Path,
) -> None:
    database = str(tmp_path / "small.db")
    small = ["--leaves", "2", "--spines", "4", "--servers", "2", "--arrivals", "5ms"]
    words = ["run", "load_balancing", "--routing", "ecmp,letflow", "--seed", "1..3", *small]
    words += ["--workload", "web_search", "--load", "0.5", "--condition", "slow_links"]
    assert invoke([*words, "--db", database]) == 0
    ecmp, letflow = cells.read([database])
    assert ecmp.point == letflow.point
    assert sorted(ecmp.runs) == sorted(letflow.runs) == [1, 2, 3]
