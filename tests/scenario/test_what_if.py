"""Settings changed on any scenario, and what they leave as it is."""

from __future__ import annotations

import json
import warnings

import pytest

from ccperf import _native
from ccperf.errors import ScenarioError, UsageError
from ccperf.experiments import catalogue, what_if
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.scenario import Scenario, ScenarioWarning


def unlabelled(scenario: Scenario) -> dict[str, object]:
    return {**scenario.canonical(), "label": ""}


def settings_of(scenario: Scenario) -> dict[str, object]:
    """What pages show: the settings that it has one value of."""
    found: dict[str, object] = json.loads(_native.settings(scenario.model_dump_json()))
    return found


def aqm(k: str) -> Scenario:
    return catalogue.get("aqm").scenario("TcpNewReno", k=k, qdisc="CoDelQueueDisc")


@pytest.mark.parametrize(("before", "after"), [("1", "5"), ("5", "2"), ("2", "10")])
def test_another_point_of_an_experiment_is_reached_by_settings(before: str, after: str) -> None:
    # 16 Mbps and a buffer of 20 packets for each flow.
    settings = {
        "flows": int(after),
        "rate": f"{16 * int(after)}Mbps",
        "buffer": f"{20 * int(after)}p",
    }
    changed = what_if.what_if(aqm(before), settings)
    assert unlabelled(changed) == unlabelled(aqm(after))


@pytest.mark.parametrize("name", catalogue.REGISTRY)
def test_every_experiment_keeps_what_it_is_with_its_own_settings(name: str) -> None:
    scenario = catalogue.get(name).scenario("TcpCubic")
    assert unlabelled(what_if.what_if(scenario, settings_of(scenario))) == unlabelled(scenario)


@pytest.mark.parametrize("name", catalogue.REGISTRY)
def test_every_experiment_takes_other_settings(name: str) -> None:
    scenario = catalogue.get(name).scenario("TcpCubic")
    has = settings_of(scenario)
    rate = {"rate": "33Mbps"} if "rate" in has else {}
    changed = what_if.what_if(scenario, {"cc": ["TcpBbr"], "seed": 7, **rate})
    assert settings_of(changed) == {**has, "cc": ["TcpBbr"], "seed": 7, **rate}


def test_a_round_trip_is_the_least_one_and_differences_stay() -> None:
    scenario = dumbbell(rate="10Mbps", qlen="20p", rtts=["20ms", "50ms"], cc="cubic")
    assert settings_of(scenario)["rtt"] == "20ms"
    changed = what_if.what_if(scenario, {"rtt": "100ms"})
    wanted = dumbbell(rate="10Mbps", qlen="20p", rtts=["100ms", "130ms"], cc="cubic")
    assert unlabelled(changed) == unlabelled(wanted)


def test_settings_are_read_as_they_are_written() -> None:
    written = "cc=cubic+bbr,flows=4,rtt=100ms,stop_time=5s"
    settings = what_if.parse(written)
    assert settings == {"cc": ["cubic", "bbr"], "flows": 4, "rtt": "100ms", "stop_time": "5s"}
    assert what_if.text(settings) == written


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("rtt", "`rtt` is no setting; write rtt=100ms,cc=cubic"),
        ("rrt=1ms", "did you mean `rtt`?"),
        ("rtt=1ms,rtt=2ms", "`rtt` is set twice"),
        ("flows=two", "flows: `two` is not a whole number"),
        ("rtt=1ms,", "empty entry"),
    ],
)
def test_settings_that_cannot_be_read_say_why(written: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        what_if.parse(written)
    assert says in str(caught.value)


def test_every_setting_that_cannot_be_is_told() -> None:
    with pytest.raises(ScenarioError) as caught:
        what_if.what_if(aqm("1"), {"rtt": "1ms", "qdisc": "codle", "rate": "fast"})
    paths = [problem.path for problem in caught.value.problems]
    assert paths == ["--what-if rate", "--what-if rtt", "--what-if qdisc"]
    with pytest.raises(ScenarioError, match=r"^--what-if stop_time: 0s leaves nothing .* above 0$"):
        what_if.what_if(aqm("1"), {"stop_time": "0s"})


def test_an_algorithm_that_gets_no_flow_is_warned_of() -> None:
    message = "cc: 1 flow leaves none for bbr; flows=2 has one for each"
    with pytest.warns(ScenarioWarning, match=message):
        what_if.what_if(aqm("1"), {"cc": ["cubic", "bbr"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        what_if.what_if(aqm("1"), {"cc": ["cubic", "bbr"], "flows": 2})


def test_a_label_says_what_was_changed() -> None:
    assert what_if.what_if(aqm("1"), {"rtt": "30ms"}).label == "aqm, what if rtt=30ms"


def test_a_scenario_is_read_from_json_too(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("json")
    scenario = aqm("2")
    plain, run = folder / "scenario.json", folder / "result.json"
    plain.write_text(json.dumps(scenario.canonical()))
    run.write_text(json.dumps({"id": "x", "scenario": scenario.canonical()}))
    assert Scenario.from_toml(plain).canonical() == scenario.canonical()
    assert Scenario.from_toml(run).canonical() == scenario.canonical()
    plain.write_text("[1]")
    with pytest.raises(ScenarioError, match="not an object"):
        Scenario.from_toml(plain)
    plain.write_text("{")
    with pytest.raises(ScenarioError, match=r"scenario\.json"):
        Scenario.from_toml(plain)
