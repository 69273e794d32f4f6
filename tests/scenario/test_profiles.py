"""Profiles: named ways to speak TCP, and the releases of ns-3."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from ccperf import Scenario, simulate
from ccperf.algorithms import releases
from ccperf.errors import ScenarioError, UsageError
from ccperf.experiments import catalogue
from ccperf.experiments.topologies import star
from ccperf.experiments.topologies.shorthand import dumbbell
from ccperf.runs.backends import ns3
from ccperf.runs.backends.ns3 import Ns3, release
from ccperf.scenario.profiles import WHOLE, named, with_tcp


def of(stack: dict[str, Any]) -> dict[str, Any]:
    flow = {"source": "h_0", "destination": "h_1", "stack": "dc"}
    scenario = star(2).scenario([flow], stop_time="1ms", stacks=[{"name": "dc", **stack}])
    found: dict[str, Any] = scenario.canonical()["flows"][0]
    return found


@pytest.mark.parametrize("name", WHOLE)
def test_a_stack_has_what_its_profile_says(name: str) -> None:
    flow = of({"profile": name})
    assert flow["cc"]["type"].startswith("TcpDctcp")
    assert (flow["tcp"]["MinRto"], flow["tcp"]["ConnTimeout"]) == ("5ms", "5ms")
    assert flow["tcp"]["DelAckCount"] == "1"


def test_what_a_stack_says_itself_goes_before() -> None:
    flow = of({"profile": "ns3-ecn-sharp", "cc": "cubic", "tcp": {"InitialCwnd": 10}})
    assert flow["cc"]["type"] == "TcpCubic"
    assert flow["tcp"]["InitialCwnd"] == "10"
    assert flow["tcp"]["Sack"] == "false"


def test_a_profile_that_is_not_there_is_named() -> None:
    with pytest.raises(ScenarioError, match=r"stacks\[0\].profile: .*datacenter.*datacentre"):
        of({"profile": "datacenter"})


TWO = {
    "nodes": ["a", "b"],
    "links": [{"name": "l", "ends": ["a", "b"], "rate": "10Mbps", "delay": "5ms"}],
    "stop_time": "1s",
    "stacks": [{"name": "s", "cc": "cubic"}],
    "flows": [
        {"source": "a", "destination": "b", "cc": "ledbat"},
        {"source": "a", "destination": "b", "stack": "s"},
        {"source": "a", "destination": "b", "cc": "bbr", "profile": "ns3-dev"},
        {
            "source": "a",
            "destination": "b",
            "transport": "UDP",
            "application": {"type": "CBR", "rate": "1Mbps", "write": "1000B"},
        },
    ],
}


def test_a_scenario_names_the_release_of_all_that_name_none() -> None:
    flows = Scenario.model_validate({**TWO, "profile": "ns3-3.48"}).canonical()["flows"]
    assert [flow["tcp"].get("Profile") for flow in flows] == [
        "ns3-3.48",
        "ns3-3.48",
        "ns3-dev",
        "ns3-3.48",  # over UDP: its routers'
    ]
    old = Scenario.model_validate({**TWO, "profile": "ns3-3.44"}).canonical()["flows"]
    assert "Profile" not in old[3].get("tcp", {})


def test_a_scenario_begins_with_the_sockets_of_the_catalogue() -> None:
    flows = Scenario.model_validate({**TWO, "profile": "catalogue"}).canonical()["flows"]
    assert flows[0]["recovery"] == "PrrRfc6937"
    assert (flows[0]["tcp"]["SegmentSize"], flows[0]["tcp"]["SndBufSize"]) == ("1448", "16000000")


def test_a_release_in_ns3s_own_words_is_understood() -> None:
    scenario = Scenario.model_validate({**TWO, "profile": "3.48"})
    assert named(scenario) == {"ns3-3.48", "ns3-dev"}
    assert named(with_tcp(Scenario.model_validate(TWO), "ns3-3.48")) == {"ns3-3.48", "ns3-dev"}


def test_the_linux_profile_leaves_a_loss_recovery_that_was_asked_for() -> None:
    asked = catalogue.get("aqm").scenario("TcpCubic", profile="linux", recovery="PrrRfc6937")
    assert {flow.recovery for flow in asked.flows} == {"PrrRfc6937"}
    usual = catalogue.get("aqm").scenario("TcpCubic", profile="linux")
    assert {flow.recovery for flow in usual.flows} == {"TcpPrrRecovery"}


def test_a_flow_of_another_tcp_keeps_its_loss_recovery() -> None:
    first, *rest = TWO["flows"]  # type: ignore[misc]
    own = {**first, "tcp": {"Profile": "ns3-3.48"}, "recovery": "TcpClassicRecovery"}
    changed = with_tcp(Scenario.model_validate({**TWO, "flows": [own, *rest]}), "linux")
    assert changed.flows[0].recovery == "TcpClassicRecovery"
    assert changed.flows[1].recovery == "TcpPrrRecovery"


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("profile", {**TWO, "profile": "ns3-3.40"}),
        ("flows[0].profile", {**TWO, "flows": [{**TWO["flows"][0], "profile": "ns3-3.40"}]}),  # type: ignore[index]
    ],
)
def test_a_release_that_is_not_there_is_named(path: str, data: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError) as refused:
        Scenario.model_validate(data)
    (problem,) = refused.value.problems
    assert problem.path == path
    assert "`ns3-3.40`" in problem.message
    assert "ns3-3.4" in problem.message.partition("`ns3-3.40`")[2]


def test_a_release_has_all_changes_of_those_before_it() -> None:
    found = [{change.name for change in one.changes} for one in releases.releases().values()]
    assert found[0] == set()
    assert all(earlier < later for earlier, later in pairwise(found))
    assert found[-1] == set(releases.changes())


@pytest.mark.parametrize(
    ("version", "profile"),
    [("3.44", "3.44"), ("3.46.1", "3.44"), ("3.48", "3.48"), ("3.49", "dev"), ("3-dev", "dev")],
)
def test_an_ns3_is_compared_with_the_newest_release_not_after_it(
    version: str, profile: str
) -> None:
    assert releases.of_version(version) == f"ns3-{profile}"


def test_a_run_of_the_catalogue_says_its_release_and_can_be_made_again() -> None:
    experiment = catalogue.get("aqm")
    setup = experiment.setup("cubic", profile="3.48")
    assert (setup.labels["profile"], setup.recovery) == ("ns3-3.48", "TcpPrrRecovery")
    assert named(experiment.scenario("cubic", profile="3.48")) == {"ns3-3.48"}
    command = experiment.reproduce("cubic", profile="3.48")
    assert "--profile ns3-3.48" in command
    assert "--recovery" not in command
    assert "--recovery PrrRfc6937" in experiment.reproduce(
        "cubic", profile="3.48", recovery="PrrRfc6937"
    )


def test_an_older_ns3_does_not_pass_for_a_later_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(release.VARIABLE, "")
    if Ns3().available():
        pytest.skip("no ns-3 here")
    scenario = dumbbell(rate="10Mbps", rtts="10ms", cc="cubic", stop_time="100ms", qlen="10p")
    with pytest.raises(UsageError, match=r"profile.*`ns3-3.48` is not in ns-3 3\.44"):
        simulate(with_tcp(scenario, "ns3-3.48"), backend="ns3")
    assert simulate(with_tcp(scenario, "ns3-3.44"), backend="ns3").provenance.backend == "ns3"


def test_the_path_that_stands_in_timeouts_under_3_44_is_filled_by_the_development_tree() -> None:
    """What people set first who come from Linux: `MinRto`; 12 s of what stood for ever."""
    scenario = dumbbell(
        rate="100Mbps",
        rtts="20ms",
        cc="cubic",
        qlen="250000B",
        stop_time="12s",
        access_rate="10Gbps",
        delayed_ack_count=2,
        buffer=16_000_000,
        tcp={"MinRto": "200ms"},
    )
    found = {name: simulate(with_tcp(scenario, name)) for name in releases.releases()}
    rtos = {name: result.flow_metrics["flow_1"]["total_rtos_l4"] for name, result in found.items()}
    rates = {
        name: result.flow_metrics["flow_1"]["mean_throughput_l4"] for name, result in found.items()
    }
    assert rtos["ns3-3.44"] > 40 < rtos["ns3-3.48"]
    assert rtos["ns3-dev"] <= 1
    assert rates["ns3-dev"] > 90 > 5 > rates["ns3-3.44"]


def test_the_profile_linux_is_a_tcp_of_its_own_with_what_a_kernel_boots_with() -> None:
    flow = Scenario.model_validate({**TWO, "profile": "linux"}).canonical()["flows"][0]
    assert flow["tcp"]["Profile"] == "linux"
    assert (flow["tcp"]["MinRto"], flow["tcp"]["ConnTimeout"]) == ("200ms", "1s")


def test_ns3_refuses_a_tcp_that_is_no_release_of_it() -> None:
    lowered = Scenario.model_validate({**TWO, "profile": "linux"}).lowered()
    with pytest.raises(UsageError, match="`linux` is no release of ns-3"):
        ns3._of_this_release(lowered)


def test_an_experiment_runs_with_the_tcp_made_of_linuxs_parts() -> None:
    """Its sizes stay the experiment's; the timeouts are Linux's."""
    plain, linux = (
        catalogue.get("loss_resilience").scenario("TcpCubic", **words).canonical()["flows"][0]
        for words in ({}, {"profile": "linux"})
    )
    own = {"Profile": "linux", "MinRto": "200ms", "ConnTimeout": "1s"}
    assert linux["tcp"] == {**plain["tcp"], **own}
    assert linux["recovery"] == "TcpPrrRecovery"
    with pytest.raises(UsageError, match=r"profile: unknown profile `linus` .did you mean `linux`"):
        catalogue.get("loss_resilience").scenario("TcpCubic", profile="linus")
