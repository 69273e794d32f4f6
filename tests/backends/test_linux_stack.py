"""What the kernel is told of a scenario, and what it cannot be told. No kernel is needed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ccperf import Scenario
from ccperf.algorithms import registry
from ccperf.errors import ScenarioError, UsageError
from ccperf.experiments import catalogue
from ccperf.runs import backends
from ccperf.runs.backends.linux import stack
from ccperf.runs.backends.linux.disciplines import DISCIPLINES


def lowered(experiment: str = "dumbbell", cc: str = "TcpCubic", **given: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(catalogue.get(experiment).scenario(cc, **given).lowered())
    return made


def told(scenario: dict[str, Any]) -> stack.Stack:
    return stack.of(json.dumps(scenario))


def first(made: stack.Stack) -> dict[str, Any]:
    flow: dict[str, Any] = made.settings["flows"][0]
    return flow


@pytest.mark.parametrize("name", catalogue.REGISTRY)
def test_every_experiment_of_congestion_controls_can_be_told(name: str) -> None:
    experiment = catalogue.get(name)
    for point in experiment.grid():
        stack.of(experiment.scenario("TcpCubic", **point).lowered())


def test_a_segment_is_as_large_on_the_wire_as_everywhere_and_buffers_are_the_scenarios() -> None:
    flow = first(told(lowered()))
    assert flow["segment_bytes"] == 1448 + 12, "Linux counts the timestamps"
    assert flow["send_buffer"] == flow["receive_buffer"] == 4_000_000


def test_buffers_are_the_kernels_to_tune_where_the_scenario_says_between_which_sizes() -> None:
    made = lowered()
    for own, sides in (("wmem", (None, 4_000_000)), ("rmem", (4_000_000, None))):
        flow = first(told({**made, "linux": {f"net.ipv4.tcp_{own}": "4096 131072 6291456"}}))
        assert (flow["send_buffer"], flow["receive_buffer"]) == sides


def test_an_ack_for_each_segment_is_a_metric_of_the_receivers_route() -> None:
    """ip-route(8): `quickack`. Who wants Linux's own ACKs says 2."""
    scenario = lowered()
    source, destination = told(scenario).settings["machines"]
    assert source["routes"] == {}
    assert destination["routes"] == {scenario["flows"][0]["source_address"]: {"quickack": 1}}
    scenario["flows"][0]["socket"]["DelAckCount"] = "2"
    assert told(scenario).settings["machines"][1]["routes"] == {}


def test_hosts_that_have_nothing_to_say_to_each_other_share_a_namespace() -> None:
    scenario = lowered(flows=5)
    machines = told(scenario).settings["machines"]
    assert [len(machine["addresses"]) for machine in machines] == [5, 5]
    for flow in scenario["flows"]:
        ends = {flow["source_address"], flow["destination_address"]}
        assert not any(ends <= set(machine["addresses"]) for machine in machines)


def test_many_sockets_share_the_memory_for_what_waits_in_them() -> None:
    assert first(told(lowered()))["waiting_bytes"] == 0, "the whole buffer"
    many = told(lowered(flows=100))
    assert 0 < 100 * first(many)["waiting_bytes"] <= 256 << 20
    # A short transfer fills none.
    short = lowered(flows=100)
    for flow in short["flows"][1:]:
        flow["application"]["bytes"] = 100_000
    assert first(told(short))["waiting_bytes"] == 0
    for flow in short["flows"][10:]:
        flow["application"]["bytes"] = 0
    assert 0 < 91 * first(told(short))["waiting_bytes"] <= 256 << 20


def test_the_guest_has_memory_for_twice_what_waits_in_its_sockets() -> None:
    few = lowered(flows=4)
    for flow in few["flows"]:
        flow["socket"]["SndBufSize"] = 64_000_000
    assert first(told(few))["waiting_bytes"] == 0, "all of it"
    assert told(few).megabytes << 20 > 2 * 4 * 64_000_000


@pytest.mark.parametrize(
    ("field", "value", "variable"),
    [
        ("UseEcn", "On", ("net.ipv4.tcp_ecn", "1")),
        ("Sack", "false", ("net.ipv4.tcp_sack", "0")),
        ("MinRto", "50ms", ("net.ipv4.tcp_rto_min_us", "50000")),
        ("ReTxThreshold", "10", ("net.ipv4.tcp_reordering", "10")),
    ],
)
def test_an_attribute_of_tcp_is_a_sysctl_of_both_hosts_and_said_in_the_provenance(
    field: str, value: str, variable: tuple[str, str]
) -> None:
    scenario = lowered()
    scenario["flows"][0]["socket"][field] = value
    made = told(scenario)
    name, wanted = variable
    assert [machine["variables"][name] for machine in made.settings["machines"]] == [wanted] * 2
    assert made.variables[name] == wanted


@pytest.mark.parametrize(
    ("given", "ecn", "option"),
    [
        ({"UseEcn": "On"}, "3", "1"),
        ({"UseEcn": "AcceptOnly", "AccEcnOption": "false"}, "5", "0"),
        ({}, None, "1"),
    ],
)
def test_accurate_ecn_is_asked_for_by_sysctls(
    given: dict[str, str], ecn: str | None, option: str
) -> None:
    scenario = lowered()
    scenario["flows"][0]["socket"] |= {"EcnFeedback": "Accurate", **given}
    for machine in told(scenario).settings["machines"]:
        variables = machine["variables"]
        assert variables.get("net.ipv4.tcp_ecn") == ecn
        assert variables["net.ipv4.tcp_ecn_option"] == option


def test_a_sysctl_that_linux_boots_with_differs_from_nothing() -> None:
    scenario = lowered()
    scenario["flows"][0]["socket"]["Sack"] = "true"
    assert "net.ipv4.tcp_sack" not in told(scenario).variables


@pytest.mark.parametrize(
    ("cc", "attributes", "words"),
    [
        ("TcpCubic", {"Beta": "0.7"}, ["tcp_cubic.beta=717"]),
        ("TcpCubic", {"C": "0.4"}, ["tcp_cubic.bic_scale=41"]),
        ("TcpCubic", {"HyStartDetect": "DELAY"}, ["tcp_cubic.hystart_detect=2"]),
        ("TcpCubic", {"TcpFriendliness": "false"}, ["tcp_cubic.tcp_friendliness=0"]),
        ("TcpDctcp", {"DctcpShiftG": "0.0625"}, ["tcp_dctcp.dctcp_shift_g=4"]),
        ("TcpHybla", {"RRTT": "25000000ns"}, ["tcp_hybla.rtt0=25"]),
        ("TcpVegas", {"Alpha": "3"}, ["tcp_vegas.alpha=3"]),
    ],
)
def test_attributes_are_parameters_of_the_algorithms_module(
    cc: str, attributes: dict[str, str], words: list[str]
) -> None:
    scenario = lowered(cc=cc)
    scenario["flows"][0]["congestion_control"]["attributes"] = attributes
    assert [word for word in told(scenario).boot if word.startswith("tcp_")] == words


def refused(scenario: dict[str, Any]) -> str:
    with pytest.raises(UsageError) as error:
        told(scenario)
    return str(error.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [("DelAckCount", "3"), ("DelAckTimeout", "1ms"), ("Profile", "x"), ("EnablePacing", "true")],
)
def test_what_linux_cannot_be_told_is_refused_by_field_and_value(field: str, value: str) -> None:
    scenario = lowered()
    scenario["flows"][0]["socket"][field] = value
    assert refused(scenario).startswith(f"flow_1.tcp.{field}: Linux has no setting for {value}")


@pytest.mark.parametrize(
    ("size", "timestamps", "fix"),
    [
        ("75", "true", "give 76 to 32755"),
        ("32768", "false", "give 88 to 32767"),
    ],
)
def test_a_segment_is_of_a_size_that_linux_takes(size: str, timestamps: str, fix: str) -> None:
    scenario = lowered()
    scenario["flows"][0]["socket"] |= {"SegmentSize": size, "Timestamp": timestamps}
    assert refused(scenario) == f"flow_1.tcp.SegmentSize: Linux has no setting for {size}: {fix}"


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("CntClamp", "10"), ("HyStartAckDelta", "1ns"), ("HyStartMinSamples", "4")],
)
def test_so_is_an_attribute_without_a_parameter_that_says_it(attribute: str, value: str) -> None:
    scenario = lowered()
    scenario["flows"][0]["congestion_control"]["attributes"] = {attribute: value}
    assert f"flow_1.cc.{attribute}" in refused(scenario)


def test_so_are_an_algorithm_a_recovery_and_a_routing_that_linux_has_not() -> None:
    assert "Linux has no TcpLedbat; it has TcpBbr" in refused(lowered(cc="TcpLedbat"))
    scenario = lowered()
    scenario["flows"][0]["recovery"] = "TcpClassicRecovery"
    assert "flow_1.recovery: Linux has no TcpClassicRecovery" in refused(scenario)
    scenario = lowered()
    scenario["routing"]["type"] = "ecmp"
    assert "routing: the backend linux does not know `ecmp` yet" in refused(scenario)


def test_connections_of_a_host_cannot_disagree_on_what_it_has_one_of() -> None:
    scenario = lowered(flows=2)
    one, other = scenario["flows"]
    one["socket"]["UseEcn"], other["socket"]["UseEcn"] = "On", "Off"
    told(scenario)
    other["source"], other["source_address"] = one["source"], one["source_address"]
    assert "host src_0 has 1 for another flow" in refused(scenario)


def test_flows_with_the_same_algorithm_cannot_have_other_attributes_of_it() -> None:
    scenario = lowered(flows=2)
    scenario["flows"][1]["congestion_control"]["attributes"] = {"Beta": "0.5"}
    assert "flow_2.cc: flow_1 has cubic with other attributes" in refused(scenario)


def with_sysctls(**sysctls: Any) -> Scenario:
    data = catalogue.get("dumbbell").scenario("TcpCubic", stop_time="1s").canonical()
    return Scenario.model_validate({**data, "linux": sysctls})


def test_sysctls_of_a_scenario_are_those_of_all_hosts_and_count_most() -> None:
    """The socket says ECN is off; the kernel's own default is 2."""
    made = stack.of(with_sysctls(tcp_ecn=1, **{"net.core.rmem_max": 300_000}).lowered())
    for machine in made.settings["machines"]:
        assert machine["variables"]["net.ipv4.tcp_ecn"] == "1"
    assert made.settings["variables"]["net.core.rmem_max"] == "300000"
    assert made.variables["net.ipv4.tcp_ecn"] == "1"


def test_a_sysctl_that_is_what_linux_boots_with_differs_from_nothing() -> None:
    assert "net.ipv4.tcp_sack" not in stack.of(with_sysctls(tcp_sack=1).lowered()).variables
    assert "net.ipv4.tcp_sack" in stack.of(with_sysctls(tcp_sack=0).lowered()).variables


def test_sysctls_are_part_of_what_a_scenario_is_and_nothing_to_the_engine() -> None:
    plain, other = with_sysctls(), with_sysctls(tcp_recovery=0)
    assert "linux" not in plain.canonical()
    assert plain.hash != other.hash
    native = backends.get("native")
    one, two = (native.simulate(each).tables["flow_samples"] for each in (plain, other))
    for name, values in one.items():
        np.testing.assert_array_equal(values, dict(two.items())[name])


def test_sysctls_are_written_as_for_sysctl() -> None:
    made = with_sysctls(**{"net/ipv4/tcp_sack": 0, "tcp_rmem": [4096, 131072, 6291456]})
    assert made.linux == {"net.ipv4.tcp_sack": "0", "net.ipv4.tcp_rmem": "4096 131072 6291456"}


@pytest.mark.parametrize(
    ("sysctls", "said"),
    [
        ({"kernel.panic": 1}, "`kernel.panic` is no sysctl of the network"),
        ({"tcp_sack": 1.5}, "a sysctl is a number, several, or a text"),
        ({"tcp_rmem": []}, "a sysctl is a number, several, or a text"),
        ({"tcp_rmem": [4096, True]}, "a sysctl is a number, several, or a text"),
        ({"tcp_sack": 1, "net.ipv4.tcp_sack": 0}, "is there twice"),
    ],
)
def test_what_is_no_sysctl_is_refused(sysctls: dict[str, Any], said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        with_sysctls(**sysctls)


def test_only_what_linux_has_is_said_to_be_like_linux_s() -> None:
    """By what the backend asks the kernel for; the rest is `sch_fq_pie.c`, `sch_mq.c`, the action
    `police`, and PRR in TCP itself."""
    has = {
        "cc": set(stack.IN_KERNEL),
        "qdisc": {*DISCIPLINES, "fq_pie", "mq", "police"},
        "recovery": {"prr"},
        "routing": set(),
        "rate_control": set(),
    }
    for kind, words in has.items():
        said = (registry.likeness(spec) for spec in registry.algorithms(kind).values())
        called = {text.split("`")[1] for text in said if text.startswith("Like Linux")}
        assert called <= words, kind
        for name, spec in registry.algorithms(kind).items():
            assert spec["is_in_linux"] == (spec["linux"][:1] in [[word] for word in words]), name
    assert "Like Linux's `cubic`" in registry.likeness(registry.algorithms("cc")["TcpCubic"])
    assert not registry.likeness(registry.algorithms("qdisc")["ECNSharpQueueDisc"])
